/** What every source said last. */
import { pointCount, type Batch, type Source } from '../../pipeline/model/batch.ts'
import { addPushed, expirePushed, type Pushed } from './pushed.ts'

type Entry = { batch: Batch; arrivedMs: number; pushed: Pushed | undefined }

export class LatestBatches {
  // In the order in which the sources first came, which decides whose description of a metric is believed.
  readonly #latest = new Map<Source, Entry>()
  readonly #expirationMs: number

  constructor(expirationMs: number) {
    this.#expirationMs = expirationMs
  }

  put(batch: Batch, nowMs: number): void {
    const { source } = batch
    if (batch.outcome === 'removed') {
      this.#latest.delete(source)
      return
    }
    const known = this.#latest.get(source)
    const pushed =
      source.origin === undefined || batch.outcome !== 'ok' ? undefined : addPushed(known?.pushed, batch, nowMs)
    const entry: Entry = { batch: pushed?.batch ?? batch, arrivedMs: nowMs, pushed }
    if (known === undefined) this.#latest.set(source, entry)
    else Object.assign(known, entry)
  }

  /** Forgets the sources from which nothing came for too long, and the series of those that are pushed. */
  expire(nowMs: number): void {
    const beforeMs = nowMs - this.#expirationMs
    for (const [source, entry] of this.#latest) {
      if (entry.arrivedMs <= beforeMs) this.#latest.delete(source)
      else if (entry.pushed !== undefined) {
        entry.pushed = expirePushed(entry.pushed, beforeMs)
        entry.batch = entry.pushed.batch
      }
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
