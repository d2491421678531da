/** Samples of two engines, and how they differ. */
export type Sample = {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
  readonly timeMs?: number
}

export function samplesOf(text: string): Sample[] {
  const lines = text.matchAll(/^(runai_\w+)(?:\{(.*)\})? (\S+)(?: (\d+))?$/gm)
  return Array.from(lines, ([, name, block = '', value, time]) => ({
    name: name!,
    labels: Object.fromEntries(
      Array.from(block.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g), ([, key, text]) => [key!, text!]),
    ),
    value: Number(value),
    ...(time !== undefined && { timeMs: Number(time) }),
  }))
}

export function lineOf({ name, labels }: Sample): string {
  const pairs = Object.entries(labels)
    .filter(([, value]) => value !== '')
    .sort(([a], [b]) => (a < b ? -1 : 1))
  return `${name}{${pairs.map(([label, value]) => `${label}="${value}"`).join(',')}}`
}

/** Lines that begin with `missing`, `surplus` or `different`; none if they agree. */
export function differences(ours: readonly Sample[], theirs: readonly Sample[], tolerance: number): string[] {
  const found = new Map(ours.map(sample => [lineOf(sample), sample.value]))
  const lines = theirs.flatMap(sample => {
    const line = lineOf(sample)
    const value = found.get(line)
    found.delete(line)
    if (value === undefined) return [`missing ${line} ${sample.value}`]
    const isNear = Math.abs(value - sample.value) <= tolerance * Math.max(Math.abs(value), Math.abs(sample.value))
    return isNear ? [] : [`different ${line} ${value}, expected ${sample.value}`]
  })
  for (const [line, value] of found) lines.push(`surplus ${line} ${value}`)
  return lines.sort()
}
