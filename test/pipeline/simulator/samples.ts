/** Reads the text of the simulated exporters as strictly as they have to write it. */
import assert from 'node:assert/strict'

export type Sample = {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: string
  /** Where it says when it was taken. */
  readonly timeMs?: number
}

const LINE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)(?: (\d+))?$/
const LABEL = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)/y

/** All samples, in order. Fails on a line that is none, and on a label that is there twice. */
export function samplesIn(text: string): Sample[] {
  const samples: Sample[] = []
  for (const line of text.split('\n')) {
    if (line === '' || line.startsWith('# ')) continue
    const [, name, labelText = '', value, time] = LINE.exec(line) ?? assert.fail(`no sample: ${line}`)
    const labels: Record<string, string> = {}
    LABEL.lastIndex = 0
    while (LABEL.lastIndex < labelText.length) {
      const [, label, quoted] = LABEL.exec(labelText) ?? assert.fail(`no labels: ${line}`)
      assert.ok(!(label! in labels), `a label twice: ${line}`)
      labels[label!] = quoted!.replace(/\\(.)/g, (_, escaped: string) => (escaped === 'n' ? '\n' : escaped))
    }
    samples.push({ name: name!, labels, value: value!, ...(time !== undefined && { timeMs: Number(time) }) })
  }
  return samples
}

export function byName(samples: readonly Sample[]): Map<string, Sample[]> {
  return Map.groupBy(samples, sample => sample.name)
}
