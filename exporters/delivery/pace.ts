/**
 * Lets batches wait in front of an encoder while enough of its requests are on their way: a request takes twenty times the memory of
 * the numbers in it, and of a whole cluster's they would all be there at once. A destination that does not keep up changes nothing but
 * this: what has waited for a moment is encoded, and it is up to the queue what becomes of it.
 */
import type { Clock } from '../../pipeline/component.ts'
import type { Batch, Source } from '../../pipeline/model/batch.ts'
import { Deque } from './deque.ts'
import type { Encoder } from './payload.ts'

export type Pace = {
  add(batch: Batch): void
  /** Something has left. */
  goOn(): void
  /** Nothing waits any longer: what there is is encoded when this returns. */
  hurry(): void
  /** Columns of the batches that were not begun. */
  readonly waiting: number
}

/** So often it is looked whether something has left: a process that was busy with something else has not waited for so long. */
const TICK_MS = 250
/** After so many without anything, and after so many in all, nothing waits any longer. */
const PATIENT_TICKS = 4
const MAX_TICKS = 16
/** So often, where something has waited for too long, and waits for us. */
const BUSY_MS = 10
/** So many columns are encoded in one go: they are less than a request. */
const SHORT = 1024

export function createPace(
  encoder: Encoder,
  clock: Clock,
  /** Whether enough is on its way. */
  isEnough: () => boolean,
  /** Whether that is so for what has to be done here before anything leaves: that ends, whatever the destination does. */
  isBusy: () => boolean,
  failed: (batch: Batch, error: unknown) => void,
): Pace {
  const batches = new Deque<Batch>()
  /** Of how many batches with series of a source it is the turn later. */
  const waitingOf = new Map<Source, number>()
  /** The only one that is no copy: it waits because just then a request was full. */
  let uncopied: Batch | undefined
  let waiting = 0
  let isBegun = false
  let isRunning = false
  let isHurried = false
  /** It has waited for too long: the next request is encoded although there is enough. */
  let isImpatient = false
  let cancelTick: (() => void) | undefined
  let ticks = 0
  let idleTicks = 0

  function run(): void {
    // What is encoded may make room at once, where it is dropped.
    if (isRunning) return
    isRunning = true
    try {
      while (batches.first !== undefined && (isHurried || !isEnough())) step(batches.first)
      if (isImpatient && batches.first !== undefined && !isBusy()) step(batches.first)
    } finally {
      isRunning = false
    }
    if (batches.length > 0) {
      cancelTick ??= clock.after(tickMs(), tick)
      return
    }
    cancelTick?.()
    cancelTick = undefined
    isHurried = false
    isImpatient = false
    ticks = 0
    idleTicks = 0
  }

  /**
   * What has waited for too long comes in turns, one request in each. On a machine that cannot keep up it is mostly we who have kept the
   * destination waiting, and all requests of a cluster at once are more than a hundred megabytes.
   */
  function tick(): void {
    cancelTick = undefined
    if (++idleTicks >= PATIENT_TICKS || ++ticks >= MAX_TICKS) isImpatient = true
    run()
  }

  function tickMs(): number {
    if (!isImpatient) return TICK_MS
    return isBusy() ? BUSY_MS : 0
  }

  /** It was not the destination: what is left can wait again. */
  function calmDown(): void {
    idleTicks = 0
    if (!isImpatient || ticks >= MAX_TICKS) return
    isImpatient = false
    cancelTick?.()
    cancelTick = undefined
  }

  function step(batch: Batch): void {
    if (!isBegun) waiting -= batch.values.length
    isBegun = true
    let isWhole = true
    try {
      if (encoder.addPart === undefined) encoder.add(batch)
      else isWhole = encoder.addPart(batch)
    } catch (error) {
      failed(batch, error)
    }
    if (!isWhole) return
    batches.shift()
    isBegun = false
    if (batch === uncopied) uncopied = undefined
    else if (batch.values.length > 0) forgetCopy(batch)
  }

  function forgetCopy({ source, values }: Batch): void {
    ;(values.buffer as ArrayBuffer).transfer(0)
    const left = waitingOf.get(source)! - 1
    if (left === 0) waitingOf.delete(source)
    else waitingOf.set(source, left)
  }

  /**
   * Its numbers in memory of their own, which is given back as soon as they are encoded: those of a batch that waits would be old then,
   * and still be there until V8 looks for garbage in the whole heap.
   */
  function copyOf(batch: Batch): Batch {
    const { source, timeMs, outcome, layout, absent, times, starts } = batch
    if (batch.values.length === 0) return batch
    const values = batch.values.slice()
    waitingOf.set(source, (waitingOf.get(source) ?? 0) + 1)
    return { source, timeMs, outcome, layout, values, absent, times, starts }
  }

  /** As of most targets where only roll-ups are sent. */
  function isNothing({ source, values }: Batch): boolean {
    return (
      values.length === 0 && encoder.knows?.(source) === false && !waitingOf.has(source) && uncopied?.source !== source
    )
  }

  function hurry(): void {
    isHurried = true
    run()
  }

  return {
    add(batch) {
      const mayWait = batch.values.length > SHORT || batches.length > 0 || isEnough()
      if (mayWait && isNothing(batch)) return
      if (!mayWait) uncopied = batch
      batches.push(mayWait ? copyOf(batch) : batch)
      waiting += batch.values.length
      run()
    },
    goOn() {
      calmDown()
      run()
    },
    hurry,
    get waiting() {
      return waiting
    },
  }
}
