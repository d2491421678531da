/** What families a text has. */
import { byName, samplesIn } from './samples.ts'

/** Families in order, with type and the label names of their first sample. */
export function familiesIn(text: string): Map<string, { type: string; labels: string[] }> {
  const samples = byName(samplesIn(text))
  const families = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(
    ([, name, type]) => [name!, { type: type!, labels: Object.keys(samples.get(name!)?.[0]?.labels ?? {}) }] as const,
  )
  return new Map(families)
}
