/**
 * Leaves out what a target says again: samples that it stamped itself, as the kubelet does, and that are not newer than what was sent of
 * their series. Destinations refuse those, count them twice, or take them for a mistake.
 */
import type { Batch, Source } from '../model/batch.ts'
import { columnCount, type Layout } from '../model/layout.ts'
import { compareLayouts } from './layout-change.ts'

type Sent = {
  layout: Layout
  /** By column, the time of the last sample; -Infinity before the first. */
  times: Float64Array
}

export class RepeatedSamples {
  readonly #sent = new WeakMap<Source, Sent>()

  /** By column of its layout, the time of the last sample; undefined of sources that leave that to us. */
  timesOf(source: Source): Float64Array | undefined {
    return this.#sent.get(source)?.times
  }

  /** Of a source that failed or is removed: what it says later about the time before is late. */
  end({ source, timeMs, outcome }: Batch): void {
    const sent = this.#sent.get(source)
    if (sent === undefined) return
    if (outcome === 'removed') this.#sent.delete(source)
    sent.times = sent.times.map(time => Math.max(time, timeMs))
  }

  /** The batch without them, and how many they are; the batch itself where there are none. */
  leaveOut(batch: Batch): { readonly batch: Batch; readonly repeated: number } {
    const { source, layout, times, timeMs, absent } = batch
    // What is pushed was meant to be sent, whatever its time.
    if (source.origin !== undefined || (times === undefined && !this.#sent.has(source))) return { batch, repeated: 0 }
    const sent = this.#of(source, layout)
    const left: number[] = []
    let repeated = 0
    let nextAbsent = 0
    for (let column = 0; column < columnCount(layout); column++) {
      if (absent !== undefined && absent[nextAbsent] === column) {
        nextAbsent++
        left.push(column)
        continue
      }
      const own = times === undefined ? NaN : times[column]!
      if (own <= sent.times[column]!) {
        repeated++
        left.push(column)
      } else {
        sent.times[column] = Number.isNaN(own) ? timeMs : own
      }
    }
    return repeated === 0 ? { batch, repeated } : { batch: { ...batch, absent: Uint32Array.from(left) }, repeated }
  }

  #of(source: Source, layout: Layout): Sent {
    let sent = this.#sent.get(source)
    if (sent === undefined) {
      sent = { layout, times: new Float64Array(columnCount(layout)).fill(-Infinity) }
      this.#sent.set(source, sent)
    } else if (sent.layout !== layout) {
      const { times } = sent
      sent.times = Float64Array.from(compareLayouts(sent.layout, layout).origin, old =>
        old < 0 ? -Infinity : times[old]!,
      )
      sent.layout = layout
    }
    return sent
  }
}
