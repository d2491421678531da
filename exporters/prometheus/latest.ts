/** What every source said last. */
import { pointCount, type Batch, type Source } from '../../pipeline/model/batch.ts'
import { columnCount } from '../../pipeline/model/layout.ts'
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
    if (known === undefined) {
      if (pushed === undefined && !hasSeries(batch)) return
      this.#latest.set(source, { batch: pushed?.batch ?? batch, arrivedMs: nowMs, pushed })
      return
    }
    known.arrivedMs = nowMs
    known.pushed = pushed
    // Of sources whose series all go elsewhere one batch without any is as good as the next.
    if (hasSeries(batch) || hasSeries(known.batch)) known.batch = pushed?.batch ?? batch
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

  /** Those that have something to show. A resource that pushes has its attributes, if nothing else. */
  batches(): Batch[] {
    const batches: Batch[] = []
    for (const { batch, pushed } of this.#latest.values()) {
      if (pushed !== undefined || hasSeries(batch)) batches.push(batch)
    }
    return batches
  }

  seriesCount(): number {
    let count = 0
    for (const { batch } of this.#latest.values()) count += pointCount(batch)
    return count
  }
}

function hasSeries({ layout }: Batch): boolean {
  return columnCount(layout) > 0
}
