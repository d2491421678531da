/** Shows a batch as Prometheus text: sorted, true values, absent samples left out. The empty string is a batch without samples. */
import { forEachSample, type Batch } from '../../pipeline/model/batch.ts'
import { labelPairs } from '../../pipeline/model/labels.ts'
import { labelsAt, metricAt } from '../../pipeline/model/layout.ts'

/** A batch that is not `ok` is one line that says so. `types` adds TYPE lines. */
export function textFromBatch(batch: Batch, options: { types?: boolean } = {}): string {
  if (batch.outcome !== 'ok') return `# ${batch.outcome}\n`
  const lines: string[] = []
  const types = new Set<string>()
  forEachSample(batch, (column, value) => {
    const metric = metricAt(batch.layout, column)
    const labels = labelPairs(labelsAt(batch.layout, column)).map(
      ([name, text]) => `${quoteName(name)}="${escape(text)}"`,
    )
    const time = batch.times?.[column] ?? NaN
    let head = metric.name
    if (quoteName(head) !== head) labels.unshift(quoteName(head))
    if (quoteName(head) !== head) head = ''
    const block = labels.length === 0 ? '' : `{${labels.join(',')}}`
    lines.push(`${head}${block} ${valueText(value)}${Number.isNaN(time) ? '' : ` ${time}`}`)
    types.add(`# TYPE ${metric.family} ${metric.type}`)
  })
  lines.sort()
  if (options.types) lines.unshift(...[...types].sort())
  return lines.map(line => `${line}\n`).join('')
}

function valueText(value: number): string {
  if (value === Infinity) return '+Inf'
  if (value === -Infinity) return '-Inf'
  return Object.is(value, -0) ? '-0' : String(value)
}

function quoteName(name: string): string {
  return /^[a-zA-Z_:][a-zA-Z0-9_:]*$/.test(name) ? name : `"${escape(name)}"`
}

function escape(text: string): string {
  return text.replace(/[\\"\n]/g, found => (found === '\n' ? '\\n' : `\\${found}`))
}
