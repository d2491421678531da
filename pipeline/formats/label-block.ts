/** The labels of a sample line, as strings. */
import { tokenText } from './token-text.ts'

export type DecodedLabels = {
  /** The metric name, if it stands among the labels. */
  readonly name: string
  /** In the order of the line, empty values included. */
  readonly labels: Map<string, string>
}

/**
 * The last value of each label: the GPUs of a node have one host, and all of a cluster a few models, drivers and namespaces. Equal
 * texts are one string, where each would be as long as its bytes.
 */
const lastValues = new Map<string, string>()
const MAX_NAMES = 1000

function shared(name: string, value: string): string {
  const last = lastValues.get(name)
  if (last === value) return last
  if (last === undefined && lastValues.size >= MAX_NAMES) lastValues.clear()
  lastValues.set(name, value)
  return value
}

/** Decodes what `readSampleLine` found. Returns what is wrong if that cannot be. */
export function decodeLabels(bytes: Uint8Array, spans: readonly number[]): DecodedLabels | string {
  let metricName = ''
  const labels = new Map<string, string>()
  for (let i = 0; i < spans.length; i += 6) {
    const name = tokenText(bytes, spans[i]!, spans[i + 1]!, spans[i + 2]!)
    if (name === undefined) return 'a label name is not UTF-8'
    if (spans[i + 4] === -1) {
      metricName = name
      continue
    }
    if (name === '__name__') return 'a label is called __name__'
    if (labels.has(name)) return `the label "${name}" is there twice`
    const value = tokenText(bytes, spans[i + 3]!, spans[i + 4]!, spans[i + 5]!)
    if (value === undefined) return `the value of the label "${name}" is not UTF-8`
    labels.set(name, shared(name, value))
  }
  return { name: metricName, labels }
}
