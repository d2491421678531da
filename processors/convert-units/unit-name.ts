/** Names that end in their unit, in another unit. */
import { wordOf } from '../../pipeline/catalog/unit-words.ts'
import { metricFrom, type Metric } from '../../pipeline/model/series.ts'

const TOTAL = '_total'

/**
 * `fb_used_bytes` becomes `fb_used_mebibytes`, `sent_bytes_total` `sent_mebibytes_total`; a name without the unit it has gets the new
 * one at its end. What a histogram's parts end in stays.
 */
export function withUnitInName(metric: Metric, from: string, to: string): Metric {
  const { name, family } = metric
  const ending = name.startsWith(family) ? name.slice(family.length) : ''
  const base = ending === '' ? name : family
  const renamed = replaceUnit(base, from, to)
  return metricFrom({ ...metric, name: renamed + ending, family: ending === '' && family !== name ? family : renamed })
}

function replaceUnit(name: string, from: string, to: string): string {
  const total = name.endsWith(TOTAL) ? TOTAL : ''
  const body = name.slice(0, name.length - total.length)
  const old = `_${wordOf(from) ?? ''}`
  const stem = old !== '_' && body.endsWith(old) ? body.slice(0, -old.length) : body
  return `${stem}_${wordOf(to) ?? ''}${total}`
}
