/** Series as Prometheus text writes them: the key by which they are compared, and what people read in a diff. */
import { numberText } from '../formats/render-number.ts'
import { escapeText, quotedIfNeeded } from '../formats/render-labels.ts'
import { isPlainLabelName, isPlainMetricName } from '../formats/render-names.ts'
import { labelPairs, type Labels } from '../model/labels.ts'

/** `name{label="value"}`, labels sorted; a name that needs quotes stands between the braces. */
export function seriesText(name: string, labels: Labels): string {
  const isPlain = isPlainMetricName(name)
  const pairs = labelPairs(labels).map(([label, value]) => labelText(label, value))
  if (!isPlain) pairs.unshift(quotedIfNeeded(name, isPlainMetricName))
  return (isPlain ? name : '') + (pairs.length === 0 ? '' : `{${pairs.join(',')}}`)
}

export function labelText(label: string, value: string): string {
  return `${quotedIfNeeded(label, isPlainLabelName)}="${escapeText(value)}"`
}

/** A value and, where there is one, its time, as they stand in a line of Prometheus text. */
export function valueText(value: number, timeMs = NaN): string {
  return Number.isNaN(timeMs) ? numberText(value) : `${numberText(value)} ${timeMs}`
}
