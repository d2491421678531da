/**
 * The latest batch of a source, copied, so that nobody keeps the one that came: held until the next one comes it would be old by then, and
 * its numbers would take memory for a minute more, until V8 looks for garbage in the whole heap.
 *
 * Copies are written over, but never one that somebody reads: a reader has what was the latest when it began. So there are two copies
 * while readers are there all the time, and more only while one is slower than the next batch but one.
 */
import type { Batch } from '../../pipeline/model/batch.ts'

/** Who reads at the moment, numbered in the order in which they began. */
export class Readers {
  /** How many there ever were. */
  begun = 0
  readonly #live = new Set<number>()

  /** Returns what ends it, once. */
  begin(): () => void {
    const reader = this.begun++
    this.#live.add(reader)
    return () => {
      this.#live.delete(reader)
    }
  }

  /** Whether any that began as one of these still reads. */
  areSome(from: number, until: number): boolean {
    for (const reader of this.#live) if (reader >= from && reader < until) return true
    return false
  }
}

type Writable = { -readonly [Part in keyof Batch]: Batch[Part] }

export class OwnCopy {
  #batch: Writable
  /** The first reader that may have it. */
  #from: number
  /** The numbers of the one before, and which readers may have those. */
  #before: Float64Array | undefined
  #beforeFrom = 0
  #beforeUntil = 0

  constructor(batch: Batch, readers: Readers) {
    this.#batch = withValues(batch, batch.values.slice())
    this.#from = readers.begun
  }

  get batch(): Batch {
    return this.#batch
  }

  put(batch: Batch, readers: Readers): void {
    if (readers.areSome(this.#from, readers.begun)) {
      const free = readers.areSome(this.#beforeFrom, this.#beforeUntil) ? undefined : this.#before
      this.#before = this.#batch.values
      this.#beforeFrom = this.#from
      this.#beforeUntil = readers.begun
      this.#batch = withValues(batch, written(batch.values, free))
    } else {
      this.#dropBefore(readers)
      const copy = this.#batch
      copy.timeMs = batch.timeMs
      copy.outcome = batch.outcome
      copy.layout = batch.layout
      copy.values = written(batch.values, copy.values)
      copy.absent = batch.absent
      copy.times = batch.times
      copy.starts = batch.starts
    }
    this.#from = readers.begun
  }

  /** Its memory is free at once, and not only when garbage is looked for. */
  #dropBefore(readers: Readers): void {
    if (this.#before === undefined || readers.areSome(this.#beforeFrom, this.#beforeUntil)) return
    ;(this.#before.buffer as ArrayBuffer).transfer(0)
    this.#before = undefined
  }
}

function withValues({ source, timeMs, outcome, layout, absent, times, starts }: Batch, values: Float64Array): Writable {
  return { source, timeMs, outcome, layout, values, absent, times, starts }
}

/** Nobody reads what it is written into; if that has not the length, its memory is free at once, and not only when garbage is looked for. */
function written(values: Float64Array, into: Float64Array | undefined): Float64Array {
  if (into?.length === values.length) {
    into.set(values)
    return into
  }
  ;(into?.buffer as ArrayBuffer | undefined)?.transfer(0)
  return values.slice()
}
