/** What every source said last. */
import { pointCount, type Batch, type Source } from '../../pipeline/model/batch.ts'
import { completed } from './completed.ts'

export class LatestBatches {
  // In the order in which the sources first came, which decides whose description of a metric is believed.
  readonly #latest = new Map<Source, { batch: Batch; arrivedMs: number }>()
  readonly #expirationMs: number

  constructor(expirationMs: number) {
    this.#expirationMs = expirationMs
  }

  put(batch: Batch, nowMs: number): void {
    if (batch.outcome === 'removed') {
      this.#latest.delete(batch.source)
      return
    }
    const entry = this.#latest.get(batch.source)
    if (entry === undefined) this.#latest.set(batch.source, { batch, arrivedMs: nowMs })
    else if (batch.source.origin === undefined) Object.assign(entry, { batch, arrivedMs: nowMs })
    else Object.assign(entry, { batch: completed(entry.batch, batch), arrivedMs: nowMs })
  }

  /** Forgets the sources from which nothing came for too long. */
  expire(nowMs: number): void {
    for (const [source, { arrivedMs }] of this.#latest) {
      if (nowMs - arrivedMs >= this.#expirationMs) this.#latest.delete(source)
    }
  }

  batches(): Batch[] {
    return Array.from(this.#latest.values(), ({ batch }) => batch)
  }

  seriesCount(): number {
    let count = 0
    for (const { batch } of this.#latest.values()) count += pointCount(batch)
    return count
  }
}
