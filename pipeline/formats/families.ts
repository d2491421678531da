/** Which family a sample belongs to, and how that family is described. */
import { metricFrom, type Metric, type MetricType } from '../model/series.ts'
import type { MetadataLine } from './metadata-line.ts'

/** What a scrape says about one family. */
type Description = { type?: MetricType; help?: string; unit?: string }

/** The suffixes that the samples of a family of some type may have behind its name. */
const SUFFIXES: readonly (readonly [suffix: string, types: readonly MetricType[]])[] = [
  ['_total', ['counter']],
  ['_created', ['counter', 'histogram', 'summary', 'gaugehistogram']],
  ['_bucket', ['histogram', 'gaugehistogram']],
  ['_sum', ['histogram', 'summary', 'gaugehistogram']],
  ['_count', ['histogram', 'summary', 'gaugehistogram']],
  ['_gsum', ['gaugehistogram']],
  ['_gcount', ['gaugehistogram']],
  ['_info', ['info']],
]

/**
 * The descriptions of one scrape. They count for the whole scrape, wherever they stand in it, and of several for one family the
 * first counts: exporters repeat them, and an order that changes from scrape to scrape must not change what a metric is.
 */
export class Families {
  #descriptions = new Map<string, Description>()
  /** Whether a family is described in two different ways, so that the order of lines matters. */
  conflicting = false

  add(line: MetadataLine): void {
    if (line.kind !== 'help' && line.kind !== 'unit' && line.kind !== 'type') return
    let known = this.#descriptions.get(line.family)
    if (known === undefined) this.#descriptions.set(line.family, (known = {}))
    const same =
      line.kind === 'type' ? (known.type ??= line.type) === line.type : (known[line.kind] ??= line.text) === line.text
    if (!same) this.conflicting = true
  }

  describe(name: string): Metric {
    const own = this.#descriptions.get(name)
    // A description without a type says nothing about suffixes, but it is this name's own.
    if (own?.type !== undefined) return metricFrom({ name, ...own })
    for (const [suffix, types] of SUFFIXES) {
      if (!name.endsWith(suffix)) continue
      const family = name.slice(0, -suffix.length)
      const description = this.#descriptions.get(family)
      if (description?.type !== undefined && types.includes(description.type)) {
        return metricFrom({ name, family, ...description })
      }
    }
    return metricFrom({ name, ...own })
  }
}
