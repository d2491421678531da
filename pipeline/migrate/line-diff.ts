/** What changed, as `diff -u` shows it. Migrating changes lines and neither adds nor removes any. */

const CONTEXT = 3

export function lineDiff(name: string, before: string, after: string): string {
  const [old, changed] = [before.split('\n'), after.split('\n')]
  const differing = old.flatMap((line, i) => (line === changed[i] ? [] : [i]))
  if (differing.length === 0) return ''
  const hunks: { from: number; to: number }[] = []
  for (const i of differing) {
    const [from, to] = [Math.max(0, i - CONTEXT), Math.min(old.length, i + CONTEXT + 1)]
    const last = hunks.at(-1)
    if (last !== undefined && from <= last.to) last.to = to
    else hunks.push({ from, to })
  }
  return `--- ${name}\n+++ ${name}\n${hunks.map(hunk => hunkText(hunk, old, changed)).join('')}`
}

function hunkText(
  { from, to }: { readonly from: number; readonly to: number },
  old: readonly string[],
  changed: readonly string[],
): string {
  // What follows the last line break is no line.
  const end = to === old.length && old.at(-1) === '' ? to - 1 : to
  const lines: string[] = []
  for (let i = from; i < end;) {
    if (old[i] === changed[i]) {
      lines.push(` ${old[i++]}`)
      continue
    }
    const start = i
    while (i < end && old[i] !== changed[i]) i++
    lines.push(...old.slice(start, i).map(line => `-${line}`), ...changed.slice(start, i).map(line => `+${line}`))
  }
  const range = `${from + 1},${end - from}`
  return `@@ -${range} +${range} @@\n${lines.join('\n')}\n`
}
