/**
 * Takes from batches the readings that roll-ups need. Which column is a reading of which thing is worked out once per layout; a batch
 * moves numbers.
 *
 * A scrape that failed does not end readings: a target that is missed once is no drop of anything. They end after `holdMs`, at once
 * when a target is removed, and at once when a target answers without them.
 */
import type { Watch } from '../../pipeline/component.ts'
import type { Batch, Source } from '../../pipeline/model/batch.ts'
import { runComposed, type Composed } from '../../pipeline/model/compose.ts'
import type { Labels } from '../../pipeline/model/labels.ts'
import { columnCount, labelKeys, labelsAt, type Layout } from '../../pipeline/model/layout.ts'
import { combine, type Scale } from '../../pipeline/model/scale.ts'
import { sameItems, sharedList, sharedNumbers } from '../../pipeline/model/shared.ts'
import type { Places, Reading } from './reading.ts'

/** A fact that is wanted, and of which thing a series of it is a reading. */
export type FactUse = {
  readonly fact: string
  readonly reading: Reading
  /** From the base unit of the fact to that of the reading. */
  readonly scale: Scale
  /** The key of the thing that a series speaks of; undefined if it is not wanted. */
  identify(labels: Labels, source: Source): string | undefined
}

/** A use of a fact in a layout. Targets of one kind have the same ones. */
type FactPlaces = Places & { readonly use: FactUse }

/** Facts in a layout that are readings of the same things, in the same order; a target mostly shows all facts of the same things. */
export type Segment = { readonly numbers: Numbers; readonly facts: readonly FactPlaces[] }

/** A plain list: most are of the eight GPUs of a node, of which a typed array takes twice as much. */
type Numbers = readonly number[]

/** Which facts are read of which things. */
export function readingsOf(segments: readonly Segment[]): { readonly use: FactUse; readonly numbers: Numbers }[] {
  return segments.flatMap(({ facts, numbers }) => facts.map(({ use }) => ({ use, numbers })))
}

type Draft = { readonly numbers: number[]; readonly columns: number[] }

/**
 * What a source shows that is wanted. It is what sees its batches itself, and the first segment is part of it: with every batch it has to be
 * fetched from afar, and so has each object that it refers to.
 */
class SourceState implements Watch {
  readonly number: number
  layout: Layout | undefined
  numbers: Numbers = NOTHING
  facts = NO_FACTS
  others: readonly Segment[] = NO_SEGMENTS
  /** Since when it cannot be read, on the monotonic clock. */
  failedMs: number | undefined
  /** Takes what is not as it was before. */
  readonly #otherwise: Watch

  constructor(number: number, otherwise: Watch) {
    this.number = number
    this.#otherwise = otherwise
  }

  get segments(): readonly Segment[] {
    const { numbers, facts, others } = this
    return facts.length === 0 ? NO_SEGMENTS : [{ numbers, facts }, ...others]
  }

  set segments([first, ...others]: readonly Segment[]) {
    this.numbers = first?.numbers ?? NOTHING
    this.facts = first?.facts ?? NO_FACTS
    this.others = others.length === 0 ? NO_SEGMENTS : others
  }

  get knowsLabels(): true {
    return true
  }

  see(batch: Batch, way: Composed): void {
    if (this.layout === way.output && this.failedMs === undefined) this.read(batch, way.gather)
    else this.#otherwise.see(batch, way)
  }

  /** With `gather` the number of column i is at gather[i] of the batch, in which there are all samples. */
  read(batch: Batch, gather?: Uint32Array): void {
    const isAbsent = batch.absent && absentMarks(batch.absent, columnCount(batch.layout))
    this.#readSegment(this, batch, gather, isAbsent)
    for (const segment of this.others) this.#readSegment(segment, batch, gather, isAbsent)
  }

  #readSegment(
    { numbers, facts }: Segment,
    batch: Batch,
    gather: Uint32Array | undefined,
    isAbsent: Uint8Array | undefined,
  ): void {
    for (const places of facts) places.use.reading.write(this.number, numbers, places, batch, gather, isAbsent)
  }
}

const NOTHING: Numbers = []
const NO_FACTS: readonly FactPlaces[] = []
const NO_SEGMENTS: readonly Segment[] = []

export type Intake = {
  /** Whether a metric is a fact that is wanted. */
  wants(name: string): boolean
  take(batch: Batch): void
  /**
   * `take` for batches of a source that have all samples, for as long as they have the layout of the last one; undefined where nothing of
   * them is wanted.
   */
  taker(source: Source, layout: Layout): Watch | undefined
  /** Ends what has been held for long enough. */
  expire(): void
  /** How many sources are away and still count. */
  readonly held: number
  /** How many are away and count with nothing: they never answered, or not for too long. */
  readonly missing: number
}

export type IntakeOptions = {
  readonly uses: readonly FactUse[]
  readonly holdMs: number
  monotonic(): number
  /**
   * Called before readings change hands or end: what they say until then belongs to those who have them until then. `beforeMs` is the
   * time of what comes: a batch that is handed on again with other labels is no older than what it replaces.
   */
  settle(segments: readonly Segment[], beforeMs?: number): void
}

export function createIntake({ uses, holdMs, monotonic, settle }: IntakeOptions): Intake {
  const usesByFact = new Map<string, FactUse[]>()
  for (const use of uses) usesByFact.set(use.fact, [...(usesByFact.get(use.fact) ?? []), use])
  const placesByColumns = new WeakMap<Uint32Array, readonly FactPlaces[]>()
  const states = new Map<Source, SourceState>()
  const missing = new Set<Source>()
  const takeWhole: Watch = { see: (batch, way) => take(runComposed(way, batch)) }
  let lastNumber = 0
  /** Of sources that are gone: lists by number stay small however many come and go. */
  const freeNumbers: number[] = []
  let held = 0

  function stateOf(source: Source): SourceState {
    let state = states.get(source)
    if (state === undefined) {
      state = new SourceState(freeNumbers.pop() ?? ++lastNumber, takeWhole)
      states.set(source, state)
    }
    return state
  }

  function follow(state: SourceState, { source, layout, timeMs }: Batch): void {
    const before = state.segments
    if (before.length > 0) settle(before, timeMs)
    state.segments = segmentsOf(source, layout, timeMs, before, state.layout)
    state.layout = layout
    leave(state, before, state.segments)
  }

  /** The order of uses in a layout is that of its columns, so that things are taken in the order in which the target shows them. */
  function segmentsOf(
    source: Source,
    layout: Layout,
    timeMs: number,
    before: readonly Segment[],
    previous: Layout | undefined,
  ): Segment[] {
    const usesOf = layout.metrics.map(({ name }) => usesByFact.get(name) ?? [])
    if (usesOf.every(one => one.length === 0)) return []
    // A metric may be in a layout twice, with other words or another scale.
    const drafts = usesOf.map(uses => uses.map((): Draft => ({ numbers: [], columns: [] })))
    const known = knownNumbers(before, previous)
    for (let column = 0; column < columnCount(layout); column++) {
      const entry = layout.metricOf[column]!
      usesOf[entry]!.forEach((use, i) => {
        const number = numberOf(use, labelsAt(layout, column), source, timeMs, known)
        if (number < 0) return
        drafts[entry]![i]!.numbers.push(number)
        drafts[entry]![i]!.columns.push(column)
      })
    }
    const segments: { numbers: Numbers; facts: FactPlaces[] }[] = []
    usesOf.forEach((uses, entry) =>
      uses.forEach((use, i) => {
        const { numbers, columns } = drafts[entry]![i]!
        if (numbers.length === 0) return
        const last = segments.at(-1)
        const fact = placesOf(use, columns, combine(layout.scales[entry]!, use.scale))
        if (last !== undefined && sameItems(numbers, last.numbers)) last.facts.push(fact)
        // A list that grew has room for more, which a copy has not.
        else segments.push({ numbers: numbers.slice(), facts: [fact] })
      }),
    )
    return segments.map(({ numbers, facts }) => ({ numbers, facts: sharedList(facts) }))
  }

  function placesOf(use: FactUse, columns: readonly number[], { multiply, divide }: Scale): FactPlaces {
    const shared = sharedNumbers(Uint32Array.from(columns))
    const known = placesByColumns.get(shared) ?? []
    let places = known.find(one => one.use === use && one.multiply === multiply && one.divide === divide)
    if (places === undefined) {
      places = { use, columns: shared, multiply, divide }
      placesByColumns.set(shared, [...known, places])
    }
    return places
  }

  /** Gives back what the plan before had taken, and ends the readings that are no more. */
  function leave(state: SourceState, before: readonly Segment[], now: readonly Segment[]): void {
    const staying = new Map<FactUse, Set<number>>()
    for (const { use, numbers } of readingsOf(now))
      staying.set(use, (staying.get(use) ?? new Set<number>()).union(new Set(numbers)))
    for (const { use, numbers } of readingsOf(before)) {
      const stays = staying.get(use)
      for (const number of numbers) {
        if (stays?.has(number) !== true) use.reading.end(state.number, number)
        use.reading.things.release(number)
      }
    }
  }

  function end(state: SourceState): void {
    settle(state.segments)
    leave(state, state.segments, [])
    state.segments = []
    state.layout = undefined
  }

  function setFailed(state: SourceState, failedMs: number | undefined): void {
    held += Number(failedMs !== undefined) - Number(state.failedMs !== undefined)
    state.failedMs = failedMs
  }

  function isWanted({ metrics }: Layout): boolean {
    return metrics.some(({ name }) => usesByFact.has(name))
  }

  function take(batch: Batch): void {
    const { source, outcome, layout } = batch
    const known = states.get(source)
    if (outcome === 'failed') {
      if (known === undefined || known.segments.length === 0) {
        missing.add(source)
        return
      }
      setFailed(known, known.failedMs ?? monotonic())
      for (const { use } of readingsOf(known.segments)) use.reading.yield(known.number)
      return
    }
    if (missing.size > 0) missing.delete(source)
    if (outcome === 'removed') {
      if (known === undefined) return
      end(known)
      setFailed(known, undefined)
      states.delete(source)
      freeNumbers.push(known.number)
      return
    }
    if (known === undefined && !isWanted(layout)) return
    const state = stateOf(source)
    setFailed(state, undefined)
    if (state.layout !== layout) follow(state, batch)
    state.read(batch)
  }

  return {
    wants: name => usesByFact.has(name),
    take,
    taker(source, layout) {
      const state = states.get(source)
      if (state === undefined && !isWanted(layout)) return undefined
      if (state === undefined || state.layout !== layout) return takeWhole
      return state.segments.length === 0 ? undefined : state
    },
    expire() {
      if (held === 0) return
      for (const [source, state] of states) {
        if (state.failedMs === undefined || monotonic() - state.failedMs < holdMs) continue
        missing.add(source)
        end(state)
        setFailed(state, undefined)
      }
    },
    get held() {
      return held
    },
    get missing() {
      return missing.size
    },
  }
}

/** The number that a label set had in a use. */
type Known = (use: FactUse, labels: Labels) => number | undefined

/** What a source showed before, so that a label set that stays costs no label work. */
function knownNumbers(segments: readonly Segment[], layout: Layout | undefined): Known {
  if (layout === undefined) return () => undefined
  const { keys, keyOf } = labelKeys(layout)
  const known = new Map<FactUse, Map<Labels | string, number>>()
  for (const { numbers, facts } of segments) {
    for (const { use, columns } of facts) {
      const byLabels = known.get(use) ?? new Map<Labels | string, number>()
      numbers.forEach((number, i) => byLabels.set(keys[layout.labelsOf[columns[i]!]!]!, number))
      known.set(use, byLabels)
    }
  }
  return (use, labels) => known.get(use)?.get(keyOf(labels))
}

function numberOf(use: FactUse, labels: Labels, source: Source, timeMs: number, known: Known): number {
  const number = known(use, labels)
  const { things } = use.reading
  if (number !== undefined) {
    things.retain(number)
    return number
  }
  const key = use.identify(labels, source)
  return key === undefined ? -1 : things.take(key, labels, timeMs)
}

function absentMarks(absent: Uint32Array, columns: number): Uint8Array {
  const marks = new Uint8Array(columns)
  for (const column of absent) marks[column] = 1
  return marks
}
