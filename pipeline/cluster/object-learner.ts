/**
 * Reads from facts what they tell about Kubernetes objects.
 *
 * Which column speaks of which object is worked out once, for new columns only. Values are read at every scrape, because a phase
 * changes without any change of series; objects none of whose values changed are not touched.
 */
import type { Batch, Source } from '../model/batch.ts'
import { getLabel, type Labels } from '../model/labels.ts'
import { columnCount, labelsAt, metricAt, scaleAt, type Layout } from '../model/layout.ts'
import { applyScale } from '../model/scale.ts'
import type { Metric } from '../model/series.ts'
import { objectKey, type SeenFact, type SeenObject } from './seen-object.ts'

/** The labels that name an object. */
export type ObjectRule = {
  readonly kind: string
  readonly namespace?: string
  readonly name: string
  readonly uid?: string
  /** Only values other than 0 tell something: one of many states. */
  readonly nonzero?: boolean
}

/** Of which object the facts of a name speak; undefined for all others. */
export type ObjectRuleOf = (factName: string) => ObjectRule | undefined

type Sink = {
  put(source: Source, key: string, object: SeenObject): void
  drop(source: Source, key: string): void
}

type Known = {
  readonly layout: Layout
  /** For each column the number of its object, -1 for columns that speak of none. */
  readonly objectOf: Int32Array
  /** What each column showed last; NaN if nothing yet. */
  readonly values: Float64Array
  /** Columns by object: those of object i are from starts[i] to starts[i + 1]. */
  readonly starts: Uint32Array
  readonly columns: Uint32Array
}

type Identity = Omit<SeenObject, 'facts' | 'source'> & { readonly key: string }

/** Numbers of objects stay while the object is shown. */
type Objects = { readonly numbers: Map<string, number>; readonly identities: (Identity | undefined)[]; free: number[] }

type State = { known: Known | undefined; readonly objects: Objects }

export class ObjectLearner {
  readonly #sink: Sink
  readonly #states = new WeakMap<Source, State>()
  /** Lists of metrics of which none speaks of objects: most batches have such a one, and targets of one kind share it. */
  readonly #silent = new WeakMap<ObjectRuleOf, WeakSet<readonly Metric[]>>()

  constructor(sink: Sink) {
    this.#sink = sink
  }

  learn(batch: Batch, ruleOf: ObjectRuleOf): void {
    const { source, layout } = batch
    let state = this.#states.get(source)
    if (state === undefined && this.#silent.get(ruleOf)?.has(layout.metrics) === true) return
    const rules = layout.metrics.map(({ name }) => ruleOf(name))
    if (state === undefined) {
      if (rules.every(rule => rule === undefined)) return this.#silence(ruleOf, layout.metrics)
      state = { known: undefined, objects: { numbers: new Map(), identities: [], free: [] } }
      this.#states.set(source, state)
    }
    const changed = new Set<number>()
    if (state.known?.layout !== layout) state.known = this.#follow(source, layout, rules, state, changed)
    noteValues(state.known, batch, changed)
    for (const object of changed) {
      const identity = state.objects.identities[object]
      if (identity === undefined) continue
      const { key, ...rest } = identity
      this.#sink.put(source, key, { ...rest, facts: factsOf(state.known, object, rules), source })
    }
  }

  #silence(ruleOf: ObjectRuleOf, metrics: readonly Metric[]): void {
    const silent = this.#silent.get(ruleOf)
    if (silent === undefined) this.#silent.set(ruleOf, new WeakSet([metrics]))
    else silent.add(metrics)
  }

  forget(source: Source): void {
    this.#states.delete(source)
  }

  /** Takes over what is known of columns that stayed, and finds the objects of new ones. */
  #follow(
    source: Source,
    layout: Layout,
    rules: readonly (ObjectRule | undefined)[],
    { known, objects }: State,
    changed: Set<number>,
  ): Known {
    const total = columnCount(layout)
    const objectOf = new Int32Array(total).fill(-1)
    const values = new Float64Array(total).fill(NaN)
    const isKept = new Uint8Array(total)
    if (known !== undefined && layout.keptFrom?.id === known.layout.id) {
      const { runs } = layout.keptFrom
      for (let run = 0; run < runs.length; run += 3) {
        const [to, from, length] = [runs[run]!, runs[run + 1]!, runs[run + 2]!]
        objectOf.set(known.objectOf.subarray(from, from + length), to)
        values.set(known.values.subarray(from, from + length), to)
        isKept.fill(1, to, to + length)
      }
    }
    for (let column = 0; column < total; column++) {
      if (isKept[column] === 1) continue
      const rule = rules[layout.metricOf[column]!]
      if (rule === undefined) continue
      const object = numberOf(objects, identityFrom(rule, labelsAt(layout, column)))
      objectOf[column] = object
      if (object >= 0) changed.add(object)
    }
    const { starts, columns } = byObject(objectOf, objects.identities.length)
    for (let object = 0; object < objects.identities.length; object++) {
      const count = starts[object + 1]! - starts[object]!
      const before = known === undefined || object + 1 >= known.starts.length ? 0 : sizeOf(known, object)
      if (count < before) changed.add(object)
      if (count === 0) this.#leave(source, objects, object)
    }
    return { layout, objectOf, values, starts, columns }
  }

  #leave(source: Source, { numbers, identities, free }: Objects, object: number): void {
    const identity = identities[object]
    if (identity === undefined) return
    numbers.delete(identity.key)
    identities[object] = undefined
    free.push(object)
    this.#sink.drop(source, identity.key)
  }
}

function identityFrom(rule: ObjectRule, labels: Labels): Identity | undefined {
  const name = getLabel(labels, rule.name)
  if (name === undefined) return undefined
  const namespace = rule.namespace === undefined ? undefined : getLabel(labels, rule.namespace)
  const uid = rule.uid === undefined ? undefined : getLabel(labels, rule.uid)
  const { kind } = rule
  return { key: objectKey(kind, namespace, name, uid), kind, namespace, name, uid }
}

function numberOf({ numbers, identities, free }: Objects, identity: Identity | undefined): number {
  if (identity === undefined) return -1
  let number = numbers.get(identity.key)
  if (number === undefined) {
    number = free.pop() ?? identities.length
    identities[number] = identity
    numbers.set(identity.key, number)
  }
  return number
}

/** A counting sort: columns in order, object by object. */
function byObject(objectOf: Int32Array, objects: number): { starts: Uint32Array; columns: Uint32Array } {
  const starts = new Uint32Array(objects + 1)
  for (const object of objectOf) if (object >= 0) starts[object + 1]!++
  for (let object = 0; object < objects; object++) starts[object + 1]! += starts[object]!
  const next = starts.slice()
  const columns = new Uint32Array(starts[objects]!)
  objectOf.forEach((object, column) => {
    if (object >= 0) columns[next[object]!++] = column
  })
  return { starts, columns }
}

function sizeOf({ starts }: Known, object: number): number {
  return starts[object + 1]! - starts[object]!
}

/** A column without a sample this time keeps the value it had. */
function noteValues({ objectOf, values, columns }: Known, batch: Batch, changed: Set<number>): void {
  const absent = new Set(batch.absent)
  for (const column of columns) {
    if (absent.size > 0 && absent.has(column)) continue
    const value = batch.values[column]!
    if (value === values[column]) continue
    values[column] = value
    changed.add(objectOf[column]!)
  }
}

function factsOf(
  { layout, values, starts, columns }: Known,
  object: number,
  rules: readonly (ObjectRule | undefined)[],
): SeenFact[] {
  const facts: SeenFact[] = []
  for (let i = starts[object]!; i < starts[object + 1]!; i++) {
    const column = columns[i]!
    const value = applyScale(values[column]!, scaleAt(layout, column))
    if (Number.isNaN(value) || (value === 0 && rules[layout.metricOf[column]!]?.nonzero)) continue
    facts.push({ name: metricAt(layout, column).name, labels: labelsAt(layout, column), value })
  }
  return facts
}
