/** What every source said last. */
import { pointCount, type Batch, type Source } from '../../pipeline/model/batch.ts'
import { columnCount } from '../../pipeline/model/layout.ts'
import { OwnCopy, Readers } from './own-copy.ts'
import { addPushed, expirePushed, type Pushed } from './pushed.ts'

/** What was pushed is put together of several batches, in memory of its own; of all else there is a copy. */
type Entry = { batch: Batch; copy: OwnCopy | undefined; arrivedMs: number; pushed: Pushed | undefined }

/** What all sources said last. Nothing in it changes until it is released, once. */
export type HeldBatches = { readonly batches: readonly Batch[]; release(): void }

export class LatestBatches {
  // In the order in which the sources first came, which decides whose description of a metric is believed.
  readonly #latest = new Map<Source, Entry>()
  readonly #expirationMs: number
  readonly #readers = new Readers()

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
      const entry: Entry = { batch, copy: undefined, arrivedMs: nowMs, pushed }
      this.#latest.set(source, entry)
      this.#keep(batch, entry)
      return
    }
    known.arrivedMs = nowMs
    known.pushed = pushed
    // Of sources whose series all go elsewhere one batch without any is as good as the next.
    if (hasSeries(batch) || hasSeries(known.batch)) this.#keep(batch, known)
  }

  #keep(batch: Batch, entry: Entry): void {
    if (entry.pushed !== undefined) {
      entry.batch = entry.pushed.batch
      entry.copy = undefined
      return
    }
    if (entry.copy === undefined) entry.copy = new OwnCopy(batch, this.#readers)
    else entry.copy.put(batch, this.#readers)
    entry.batch = entry.copy.batch
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
  hold(): HeldBatches {
    return { batches: this.#batches(), release: this.#readers.begin() }
  }

  #batches(): Batch[] {
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
