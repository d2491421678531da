/** What the metrics of live series are, in requests of their own: what is new at once, everything every minute. */
import snappy from 'snappyjs'
import type { Layout } from '../../pipeline/model/layout.ts'
import type { Metric } from '../../pipeline/model/series.ts'
import { encodeMetadata } from '../../pipeline/formats/remote-write-metadata.ts'
import type { Emit } from '../delivery/payload.ts'
import { NOTES } from './shards.ts'

/** As many as Prometheus sends together. */
const FAMILIES_PER_REQUEST = 500

export class MetadataSender {
  readonly #emit: Emit
  #said = new Map<string, Metric>()

  constructor(emit: Emit) {
    this.#emit = emit
  }

  sayNew(layouts: Iterable<Layout>): void {
    const fresh = familiesOf(layouts, family => !this.#said.has(family))
    for (const [family, metric] of fresh) this.#said.set(family, metric)
    this.#send(fresh)
  }

  sayAll(layouts: Iterable<Layout>): void {
    this.#said = familiesOf(layouts, () => true)
    this.#send(this.#said)
  }

  #send(families: ReadonlyMap<string, Metric>): void {
    const metrics = [...families.values()]
    for (let i = 0; i < metrics.length; i += FAMILIES_PER_REQUEST) {
      const message = encodeMetadata(metrics.slice(i, i + FAMILIES_PER_REQUEST))
      this.#emit({ body: snappy.compress(new Uint8Array(message)), points: 0, note: NOTES[1] })
    }
  }
}

/** Where sources do not agree, the first is believed. What nobody describes is left out. */
function familiesOf(layouts: Iterable<Layout>, isWanted: (family: string) => boolean): Map<string, Metric> {
  const families = new Map<string, Metric>()
  for (const { metrics } of layouts) {
    for (const metric of metrics) {
      const { family, type, help, unit } = metric
      if (families.has(family) || !isWanted(family)) continue
      if (type !== 'unknown' || help !== '' || unit !== '') families.set(family, metric)
    }
  }
  return families
}
