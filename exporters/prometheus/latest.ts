/**
 * What every source said last, in copies that are kept here.
 *
 * A batch that is held until the next one comes is old by then, and its numbers take memory for a minute more, until V8 looks for garbage in
 * the whole heap. One that is copied dies young, and the copy is written over: but never while somebody reads.
 */
import { pointCount, type Batch, type Source } from '../../pipeline/model/batch.ts'
import { columnCount } from '../../pipeline/model/layout.ts'
import { addPushed, expirePushed, type Pushed } from './pushed.ts'

/** `own` is the batch where that is a copy, which may be written over. */
type Entry = { batch: Batch; own: OwnBatch | undefined; arrivedMs: number; pushed: Pushed | undefined }

type OwnBatch = { -readonly [Part in keyof Batch]: Batch[Part] }

/** What all sources said last. Nothing in it changes until it is released, once. */
export type HeldBatches = { readonly batches: readonly Batch[]; release(): void }

export class LatestBatches {
  // In the order in which the sources first came, which decides whose description of a metric is believed.
  readonly #latest = new Map<Source, Entry>()
  readonly #expirationMs: number
  #readers = 0

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
      const own = pushed === undefined ? this.#copy(batch, undefined) : undefined
      this.#latest.set(source, { batch: own ?? pushed!.batch, own, arrivedMs: nowMs, pushed })
      return
    }
    known.arrivedMs = nowMs
    known.pushed = pushed
    // Of sources whose series all go elsewhere one batch without any is as good as the next.
    if (!hasSeries(batch) && !hasSeries(known.batch)) return
    // What was pushed is put together of several batches, in memory of its own.
    known.own = pushed === undefined ? this.#copy(batch, known.own) : undefined
    known.batch = known.own ?? pushed!.batch
  }

  #copy(
    { source, timeMs, outcome, layout, values, absent, times, starts }: Batch,
    own: OwnBatch | undefined,
  ): OwnBatch {
    if (own === undefined || this.#readers > 0) {
      return { source, timeMs, outcome, layout, values: values.slice(), absent, times, starts }
    }
    own.timeMs = timeMs
    own.outcome = outcome
    own.layout = layout
    if (own.values.length === values.length) own.values.set(values)
    else own.values = values.slice()
    own.absent = absent
    own.times = times
    own.starts = starts
    return own
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
    this.#readers++
    const batches = this.#batches()
    return {
      batches,
      release: () => {
        this.#readers--
      },
    }
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
