/** What rules need of batches: for each fact a reading, and for each thing that is aggregated a column of values made of readings. */
import type { Fact } from '../../pipeline/catalog/fact-schema.ts'
import type { ContributorKind } from '../../pipeline/catalog/output-schema.ts'
import { QUANTITIES } from '../../pipeline/catalog/attributes.ts'
import { scaleBetween } from '../../pipeline/catalog/units.ts'
import type { Source } from '../../pipeline/model/batch.ts'
import { getLabel, type Labels } from '../../pipeline/model/labels.ts'
import { ONE, type Scale } from '../../pipeline/model/scale.ts'
import { FlushColumns } from './columns.ts'
import type { FactUse } from './intake.ts'
import { Reading } from './reading.ts'
import type { Rule, ValueSpec } from './rules.ts'
import { containerOf, deviceOf, hostOf, ownReadingOf } from './things-of-facts.ts'
import { Things } from './things.ts'

export type ThingKind = 'device' | 'own' | 'container' | 'host' | 'series'

/** A column by thing; NaN is no value. */
export type Evaluate = () => Float64Array

export type Values = {
  readonly uses: readonly FactUse[]
  readonly devices: Things
  readonly own: Things
  readonly containers: Things
  readonly hosts: Things
  readonly series: Things
  /** Where a host was seen, by its key. */
  readonly sourceOfHost: ReadonlyMap<string, Source>
  /** All readings, for whoever looks at their age. */
  readonly readings: readonly Reading[]
  /** Those that say what counters have grown by, each with a name that stays over restarts. */
  readonly increases: ReadonlyMap<string, Reading>
  /** Grows by `renew`: what was worked out of readings holds for one turn. */
  readonly turn: number
  renew(): void
  /** For what is worked out once a turn. */
  flushColumns(): FlushColumns
  /** Forgets what was worked out before a turn, and not since. */
  sweep(since: number): void
  /** Of GPUs, containers, hosts or series, once a turn. There may be more room than things. */
  evaluate(kind: ThingKind, value: ValueSpec): Float64Array
  /** The same of one of them, for who needs few: it has to be one that there is. */
  evaluateOne(kind: ThingKind, value: ValueSpec, number: number): number
  /** The clock has been set back: nothing is from later than now. */
  notAfter(nowMs: number): void
  /** The readings by which a thing is seen to be busy. */
  activity(kind: 'device' | 'own', value: ValueSpec): readonly Reading[]
}

const THINGS_OF: Readonly<Partial<Record<ContributorKind, ThingKind>>> = {
  gpu: 'device',
  pair: 'device',
  workload: 'device',
  container: 'container',
  host: 'host',
  series: 'series',
}

export function createValues(rules: readonly Rule[], facts: ReadonlyMap<string, Fact>, activeAbove: number): Values {
  const things = forEachKind(kind => new Things({ keepsLabels: kind !== 'device' && kind !== 'host' }))
  const sourceOfHost = new Map<string, Source>()
  const known = new Map<string, Reading>()
  const uses: FactUse[] = []
  const activeFacts = new Set(
    rules.filter(isAboutActivity).flatMap(({ value }) => value!.terms.flatMap(term => [...term.facts])),
  )

  /** The fact of a pod that stands for one of the device. */
  function factOf(kind: ThingKind, fact: string): string | undefined {
    return kind === 'own' ? facts.get(fact)?.podFact : fact
  }

  function readingOf(kind: ThingKind, fact: string, spec: ValueSpec): Reading {
    const key = JSON.stringify([kind, fact, spec.keep, spec.match, spec.per])
    let reading = known.get(key)
    if (reading === undefined) {
      const isActivity = activeFacts.has(fact) && (kind === 'device' || kind === 'own')
      // Activity is in percent, which is what operators give the threshold in.
      const unit = facts.get(fact)?.unit ?? ''
      const storedIn = isActivity ? '%' : spec.unit
      const scale = spec.keep === 'rate' ? ONE : (scaleBetween(unit, storedIn) ?? ONE)
      reading = new Reading(things[kind], { keep: spec.keep, ...(isActivity && { activeAbove }) })
      known.set(key, reading)
      storedUnits.set(reading, spec.keep === 'rate' ? spec.unit : scale === ONE ? unit : storedIn)
      const name = factOf(kind, fact)
      if (name !== undefined) uses.push({ fact: name, reading, scale, identify: identifier(kind, spec, sourceOfHost) })
    }
    return reading
  }

  const storedUnits = new Map<Reading, string>()
  const compiled = forEachKind(() => new Map<string, Compiled>())

  function compile(kind: ThingKind, spec: ValueSpec): Compiled {
    let its = compiled[kind].get(spec.key)
    if (its === undefined) {
      const terms = spec.terms.map(({ sign, facts: names }) => ({
        sign,
        alternatives: names
          .filter(fact => factOf(kind, fact) !== undefined)
          .map(fact => {
            const reading = readingOf(kind, fact, spec)
            return { reading, scale: scaleBetween(storedUnits.get(reading)!, spec.unit) ?? ONE }
          }),
      }))
      its = { terms, plain: plainReading(terms, spec.atMost) }
      compiled[kind].set(spec.key, its)
    }
    return its
  }

  // Everything that is wanted is known from the start: batches are looked at before the first flush.
  for (const { of: kind, value, over } of rules) {
    const thing = THINGS_OF[kind]
    for (const spec of [value, over]) {
      if (thing === undefined || spec === undefined || isQuantity(kind, spec)) continue
      compile(thing, spec)
      if (kind === 'pair' || kind === 'workload') compile('own', spec)
    }
  }

  const allColumns: FlushColumns[] = []
  const columns = forEachKind(flushColumns)
  let turn = 0

  function flushColumns(): FlushColumns {
    const its = new FlushColumns()
    allColumns.push(its)
    return its
  }

  return {
    uses,
    get turn() {
      return turn
    },
    renew() {
      turn++
    },
    flushColumns,
    sweep(since) {
      for (const one of allColumns) one.sweep(since)
    },
    devices: things.device,
    own: things.own,
    containers: things.container,
    hosts: things.host,
    series: things.series,
    sourceOfHost,
    readings: [...known.values()],
    increases: new Map([...known].filter(([, { isIncrease }]) => isIncrease)),
    evaluate(kind, spec) {
      const { terms, plain } = compile(kind, spec)
      if (plain !== undefined) return plain.values
      const { length } = things[kind]
      return columns[kind].get(spec.key, turn, length, result => evaluate(terms, result, length, spec.atMost))
    },
    evaluateOne: (kind, spec, number) => evaluateOne(compile(kind, spec).terms, number, spec.atMost),
    notAfter(nowMs) {
      for (const one of Object.values(things)) one.notAfter(nowMs)
      for (const reading of known.values()) reading.notAfter(nowMs)
    },
    activity: (kind, spec) =>
      compile(kind, spec).terms.flatMap(({ alternatives }) => alternatives.map(one => one.reading)),
  }
}

/** Whether a value is something that is known of a contributor, and no reading. */
export function isQuantity(kind: ContributorKind, { terms }: ValueSpec): boolean {
  return QUANTITIES[kind]?.includes(terms[0]!.facts[0]!) ?? false
}

function isAboutActivity({ aggregate, value }: Rule): boolean {
  return value !== undefined && (aggregate === 'last_active' || aggregate === 'idle_seconds')
}

type CompiledTerm = {
  readonly sign: 1 | -1
  readonly alternatives: readonly { readonly reading: Reading; readonly scale: Scale }[]
}

/** Of a value; `plain` is the reading that it is, if that is all. */
type Compiled = { readonly terms: readonly CompiledTerm[]; readonly plain: Reading | undefined }

function forEachKind<T>(create: (kind: ThingKind) => T): Readonly<Record<ThingKind, T>> {
  return {
    device: create('device'),
    own: create('own'),
    container: create('container'),
    host: create('host'),
    series: create('series'),
  }
}

/** Where a value is what a reading has, it need not be copied. */
function plainReading(terms: readonly CompiledTerm[], atMost: number): Reading | undefined {
  const [term, more] = terms
  if (term === undefined || more !== undefined || term.sign !== 1 || atMost !== Infinity) return undefined
  const [choice, other] = term.alternatives
  return choice !== undefined && other === undefined && choice.scale === ONE ? choice.reading : undefined
}

function evaluate(terms: readonly CompiledTerm[], result: Float64Array, length: number, atMost: number): void {
  terms.forEach(({ sign, alternatives }, at) => {
    if (alternatives.length === 0) result.fill(NaN)
    alternatives.forEach(({ reading: { values }, scale: { multiply, divide } }, choice) => {
      const isFirst = choice === 0
      if (isFirst && at === 0 && sign === 1) {
        if (multiply === 1 && divide === 1) result.set(values.subarray(0, length))
        else for (let i = 0; i < length; i++) result[i] = (values[i]! * multiply) / divide
        return
      }
      if (isFirst) {
        // Terms follow a first one that is not subtracted.
        for (let i = 0; i < length; i++) result[i]! += (sign * values[i]! * multiply) / divide
        return
      }
      // Only the first term has alternatives that are tried where nothing was found before.
      for (let i = 0; i < length; i++) if (result[i] !== result[i]) result[i] = (sign * values[i]! * multiply) / divide
    })
  })
  if (atMost !== Infinity) for (let i = 0; i < length; i++) if (result[i]! > atMost) result[i] = atMost
}

/** As `evaluate` does, of one. */
function evaluateOne(terms: readonly CompiledTerm[], number: number, atMost: number): number {
  let result = NaN
  for (let at = 0; at < terms.length; at++) {
    const { sign, alternatives } = terms[at]!
    if (alternatives.length === 0) result = NaN
    for (let choice = 0; choice < alternatives.length; choice++) {
      const { reading, scale } = alternatives[choice]!
      const value = (sign * reading.values[number]! * scale.multiply) / scale.divide
      if (choice > 0) result = result === result ? result : value
      else result = at === 0 ? value : result + value
    }
  }
  return result > atMost ? atMost : result
}

function identifier(
  kind: ThingKind,
  { match, per }: ValueSpec,
  sourceOfHost: Map<string, Source>,
): FactUse['identify'] {
  const wanted = Object.entries(match)
  const isWanted = (labels: Labels): boolean =>
    wanted.every(([label, values]) => values.includes(getLabel(labels, label) ?? ''))
  switch (kind) {
    case 'device':
      return labels => (isWanted(labels) ? deviceOf(labels) : undefined)
    case 'own':
      return ownReadingOf
    case 'container':
      return labels => (isWanted(labels) ? containerOf(labels) : undefined)
    case 'host':
      return (labels, source) => {
        if (!isWanted(labels)) return undefined
        const host = hostOf(source)
        sourceOfHost.set(host, source)
        return [host, ...per.map(label => getLabel(labels, label) ?? '')].join('\n')
      }
    case 'series':
      return labels => (isWanted(labels) ? seriesKey(labels) : undefined)
  }
}

const seriesKeys = new WeakMap<Labels, string>()
let lastSeries = 0

/** Label sets are interned: what names one is that it is the same object. */
function seriesKey(labels: Labels): string {
  let key = seriesKeys.get(labels)
  if (key === undefined) seriesKeys.set(labels, (key = String(++lastSeries)))
  return key
}
