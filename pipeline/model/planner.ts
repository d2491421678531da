/**
 * Keeps the plans of one label processor: one per source, remade when the source's layout or the metadata that was looked at
 * changes, and then only for the columns concerned.
 */
import type { Source } from './batch.ts'
import { compileColumns, compileTables } from './compile.ts'
import { haveChanged, recordLooks, type Dependencies } from './dependencies.ts'
import type { Look, Mapped, MappedMetric, SeriesMap } from './label-processor.ts'
import type { Labels } from './labels.ts'
import { labelsAt, metricAt, seriesAt, type Layout } from './layout.ts'
import type { Plan } from './plan.ts'
import { ruleFrom } from './plan-builder.ts'
import { combine } from './scale.ts'
import type { Metric } from './series.ts'
import { sameItems, sharedList } from './shared.ts'
import { trackedChanges } from './tracked.ts'

export type Planner = {
  planFor(source: Source, layout: Layout): Plan
  /** The source is no more. */
  forget(source: Source): void
  /**
   * The plan of a source is needed no more, though the source is: it would be the same again for as long as none of what it hangs on, which is
   * what this gives back, has changed.
   */
  release(source: Source): readonly Dependencies[]
  /** What it cost so far: plans made, calls of the function, series that came out twice unasked. */
  readonly counts: { readonly plans: number; readonly mapped: number; readonly duplicates: number }
}

type Counts = { plans: number; mapped: number; duplicates: number }

/**
 * What is kept per source. `seen` is the state of the metadata at which the plan was last found to be right, `looked` what of it the plan
 * hangs on.
 */
type Made<R> = { plan: Plan; results: readonly R[]; looked: readonly Dependencies[]; seen: number }

const NOTHING_LOOKED_AT: readonly Dependencies[] = []

export function createPlanner(map: SeriesMap): Planner {
  const counts: Counts = { plans: 0, mapped: 0, duplicates: 0 }
  switch (map.by) {
    case 'labels':
      return plannerByTable<Labels, Labels | undefined>({
        counts,
        tableOf: layout => layout.labels,
        map: map.map,
        isSame: (one, other) => one === other,
        compile: compileByLabels,
        isShared: false,
        // Mostly the labels of the plan are just these.
        shared: (results, { output }) => (sameItems(results, output.labels) ? output.labels : results),
      })
    case 'metric':
      return plannerByTable<Metric, readonly MappedMetric[]>({
        counts,
        tableOf: layout => layout.metrics,
        map: map.map,
        isSame: sameMapped,
        compile: compileByMetric,
        isShared: true,
        shared: sharedList,
      })
    case 'series':
      return plannerByColumn(
        counts,
        () => NO_CONTEXT,
        (layout, column, look) => map.map(seriesAt(layout, column), look),
        map.forget,
      )
    case 'context':
      return plannerByColumn(
        counts,
        (layout, source) => map.context(layout, source),
        (layout, column, look, context) => map.map(seriesAt(layout, column), look, context),
      )
  }
}

type Compile<R> = (
  input: Layout,
  results: readonly R[],
  previous: Plan | undefined,
  isStale: (entry: number) => boolean,
) => { plan: Plan; duplicates: number }

/**
 * For functions of the labels or of the metric alone. Their results are remembered for all sources together, for as long as the
 * label set or the metric lives.
 */
function plannerByTable<K extends object, R>(options: {
  counts: Counts
  tableOf: (layout: Layout) => readonly K[]
  map: (key: K, look: Look) => R
  isSame: (one: R, other: R) => boolean
  compile: Compile<R>
  /** Whether most sources have the same ones in their layouts. */
  isShared: boolean
  /** What is kept of results: the same list for many sources, or for the plan. */
  shared: (results: readonly R[], plan: Plan) => readonly R[]
}): Planner {
  const { counts, tableOf, compile, isShared, shared } = options
  const remembered = new WeakMap<K, { result: R; dependencies: Dependencies | undefined }>()
  const made = new WeakMap<Source, Made<R>>()

  function resultOf(key: K): R {
    const known = remembered.get(key)
    if (known !== undefined && (known.dependencies === undefined || !haveChanged(known.dependencies)))
      return known.result
    counts.mapped++
    const fresh = recordLooks(look => options.map(key, look))
    // An equal result keeps its identity, so that plans can see that nothing changed.
    if (known !== undefined && options.isSame(known.result, fresh.result)) fresh.result = known.result
    remembered.set(key, fresh)
    return fresh.result
  }

  /** Each list once: those who are looked at one after the other mostly have the same. */
  function lookedFor(keys: readonly K[]): readonly Dependencies[] {
    const lists = new Set<Dependencies>()
    for (const key of keys) {
      const dependencies = remembered.get(key)?.dependencies
      if (dependencies !== undefined) lists.add(dependencies)
    }
    return lists.size === 0 ? NOTHING_LOOKED_AT : [...lists]
  }

  // Apart from what is asked for every batch: a function that makes others needs memory even where it does not come to that.
  function make(source: Source, layout: Layout, known: Made<R> | undefined, seen: number): Plan {
    const keys = tableOf(layout)
    const results = keys.map(resultOf)
    const looked = lookedFor(keys)
    if (
      known !== undefined &&
      known.plan.input === layout &&
      results.every((result, i) => result === known.results[i])
    ) {
      known.looked = looked
      known.seen = seen
      return known.plan
    }
    const before = known && new Map(tableOf(known.plan.input).map((key, i) => [key, known.results[i]]))
    const isStale = (entry: number) => before?.get(keys[entry]!) !== results[entry]
    const { plan, duplicates } = compile(layout, results, known?.plan, isStale)
    counts.plans++
    counts.duplicates += duplicates
    made.set(source, { plan, results: shared(results, plan), looked, seen })
    return plan
  }

  return {
    counts,
    planFor(source, layout) {
      const known = made.get(source)
      const seen = trackedChanges()
      if (known !== undefined && known.plan.input === layout) {
        if (known.seen === seen) return known.plan
        // Without asking for the label sets, which the layout may have to make again.
        if (!known.looked.some(haveChanged)) {
          known.seen = seen
          return known.plan
        }
      }
      return make(source, layout, known, seen)
    },
    forget: source => void made.delete(source),
    release(source) {
      const known = made.get(source)
      if (known === undefined) return NOTHING_LOOKED_AT
      made.delete(source)
      // Some label sets live for as long as their source, as that of the target has.
      if (!isShared) for (const key of tableOf(known.plan.input)) remembered.delete(key)
      return known.looked
    },
  }
}

const compileByLabels: Compile<Labels | undefined> = (input, results, previous, isStale) => {
  const distinct = new Set(results)
  if (!distinct.has(undefined) && distinct.size === results.length) {
    const labels = results as readonly Labels[]
    return {
      plan: compileTables(input, { metrics: input.metrics, scales: input.scales, labels }, previous),
      duplicates: 0,
    }
  }
  return compileColumns(
    input,
    column => {
      const labels = results[input.labelsOf[column]!]
      return labels === undefined ? [] : [{ metric: metricAt(input, column), labels }]
    },
    previous,
    column => isStale(input.labelsOf[column]!),
  )
}

const compileByMetric: Compile<readonly MappedMetric[]> = (input, results, previous, isStale) => {
  if (results.every(result => result.length === 1) && namesStayApart(input, results)) {
    const only = results.map(result => result[0]!)
    const tables = {
      metrics: only.map(mapped => mapped.metric),
      scales: only.map(({ scale }, i) => (scale === undefined ? input.scales[i]! : combine(input.scales[i]!, scale))),
      rules: sharedList(only.map(({ range, fold }) => ruleFrom({ range, fold }))),
      labels: input.labels,
    }
    return { plan: compileTables(input, tables, previous), duplicates: 0 }
  }
  return compileColumns(
    input,
    column => results[input.metricOf[column]!]!.map(mapped => ({ ...mapped, labels: labelsAt(input, column) })),
    previous,
    column => isStale(input.metricOf[column]!),
  )
}

/** Whether no two names become one: then no two series can. */
function namesStayApart({ metrics }: Layout, results: readonly (readonly MappedMetric[])[]): boolean {
  const before = new Map<string, string>()
  return results.every(([mapped], i) => {
    const name = metrics[i]!.name
    const known = before.get(mapped!.metric.name)
    before.set(mapped!.metric.name, name)
    return known === undefined || known === name
  })
}

/** Metrics are interned, lists of what they are mapped to are not. */
function sameMapped(a: readonly MappedMetric[], b: readonly MappedMetric[]): boolean {
  if (a.length !== b.length) return false
  return a.every((one, i) => {
    const other = b[i]!
    return (
      one.metric === other.metric &&
      one.scale === other.scale &&
      one.fold === other.fold &&
      one.range?.min === other.range?.min &&
      one.range?.max === other.range?.max
    )
  })
}

const NO_CONTEXT = {}

/**
 * For functions of the whole series. What they said is not kept beside the plan: a plan knows what each column became. In another
 * context all columns are asked again.
 */
function plannerByColumn(
  counts: Counts,
  contextOf: (layout: Layout, source: Source) => object,
  map: (layout: Layout, column: number, look: Look, context: object) => readonly Mapped[],
  forget?: () => void,
): Planner {
  type MadeByColumn = {
    plan: Plan
    context: object
    looked: ReadonlyMap<number, Dependencies> | undefined
    seen: number
  }
  const made = new WeakMap<Source, MadeByColumn>()

  function make(layout: Layout, context: object, known: MadeByColumn | undefined): MadeByColumn {
    const looked = new Map<number, Dependencies>()
    const allStale = known?.context !== context
    const emit = (column: number) => {
      counts.mapped++
      const { result, dependencies } = recordLooks(look => map(layout, column, look, context))
      if (dependencies !== undefined) looked.set(column, dependencies)
      return result
    }
    const isStale = (column: number, from: number) => {
      const dependencies = known?.looked?.get(from)
      if (allStale || (dependencies !== undefined && haveChanged(dependencies))) return true
      if (dependencies === undefined) return false
      looked.set(column, dependencies)
      return false
    }
    const { plan, duplicates } = compileColumns(layout, emit, known?.plan, isStale)
    counts.plans++
    counts.duplicates += duplicates
    return { plan, context, looked: looked.size === 0 ? undefined : looked, seen: trackedChanges() }
  }

  return {
    counts,
    planFor(source, layout) {
      const known = made.get(source)
      if (known !== undefined && known.plan.input === layout) {
        const seen = trackedChanges()
        if (known.seen === seen) return known.plan
        if (known.looked === undefined || known.looked.values().every(dependencies => !haveChanged(dependencies))) {
          known.seen = seen
          return known.plan
        }
      }
      const context = known?.plan.input === layout ? known.context : contextOf(layout, source)
      const fresh = make(layout, context, known)
      made.set(source, fresh)
      return fresh.plan
    },
    forget: source => void made.delete(source),
    release(source) {
      const known = made.get(source)
      made.delete(source)
      forget?.()
      return [...new Set(known?.looked?.values())]
    },
  }
}
