/**
 * What happens at a flush: the model is brought up to date, every rule adds up its contributors, and batches are made of the results.
 */
import type { ContributorKind, Level } from '../../pipeline/catalog/output-schema.ts'
import type { Batch } from '../../pipeline/model/batch.ts'
import type { Labels } from '../../pipeline/model/labels.ts'
import { accumulate, finish, Workspace, type Accumulators } from './accumulators.ts'
import { createActivity, type Activity } from './activity.ts'
import { BoardNumbers } from './board-numbers.ts'
import { BoardTimes, type NeverActive } from './board-times.ts'
import { FlushColumns } from './columns.ts'
import type { Contributors } from './contributors.ts'
import { createCountedWorkloads, type CountedWorkloads } from './counted-workloads.ts'
import { createCounterTotals, type CounterTotals } from './counter-totals.ts'
import { Grouping } from './entity.ts'
import { IdleTimes } from './idle-times.ts'
import { readingsOf, type Segment } from './intake.ts'
import type { Model } from './model.ts'
import { isOrdered, Orders } from './orders.ts'
import { createOutput, type Output, type ResultList, type Results } from './output.ts'
import { PairReadings } from './pair-readings.ts'
import { createPhaseTimes, type PhaseTimes } from './phase-times.ts'
import type { SharedMemory } from './read-contributors.ts'
import { createRestMemory } from './rest-memory.ts'
import type { OwnSources } from './own-sources.ts'
import type { Rule, ValueSpec } from './rules.ts'
import { Sets, type Members } from './sets.ts'
import type { Values } from './values.ts'

export type CycleOptions = {
  readonly sources: Pick<OwnSources, 'of'>
  readonly rules: readonly Rule[]
  readonly values: Values
  readonly model: Model
  readonly sharedMemory: SharedMemory
  readonly neverActive: NeverActive
  now(): number
}

export type Cycle = {
  readonly activity: Activity
  readonly phaseTimes: PhaseTimes
  readonly counterTotals: CounterTotals
  readonly countedWorkloads: CountedWorkloads
  /** Gives what readings have said until now, or before a time, to those who have them now: the readings of some source, or all. */
  settle(segments?: readonly Segment[], beforeMs?: number): void
  /** Brings what is kept on disk up to date, and goes on from what was. */
  collect(nowMs: number): void
  restore(): void
  /** The clock has been set back: nothing is from later than now. */
  notAfter(nowMs: number): void
  /** Each batch is made when it is asked for: what is done with one is done while its numbers are near the processor. */
  flush(nowMs: number): Iterable<Batch>
  /** How many contribute to each metric; worked out when it is asked for. */
  readonly contributors: ReadonlyMap<string, number>
  /** For whoever merges roll-ups of parts: what is added up, by labels of the group. */
  partials(): readonly Partial[]
}

export type Partial = {
  readonly rule: Rule
  readonly groups: readonly (Labels | undefined)[]
  readonly sums: Accumulators
}

/** Rules that share their groups. */
type Bundle = {
  readonly grouping: Grouping
  readonly output: Output
  readonly plans: readonly Plan[]
}

/** A rule with all that it needs at a flush. */
type Plan = {
  readonly rule: Rule
  readonly grouping: Grouping
  readonly members: readonly Members[]
  readonly alwaysThere: Members | undefined
  /** Whether it is added up in the order of its columns. */
  readonly isOrdered: boolean
}

export function createCycle({ sources, rules, values, model, sharedMemory, neverActive, now }: CycleOptions): Cycle {
  const readings = new PairReadings(values, model)
  const boardNumbers = new BoardNumbers(model, values)
  const activity = createActivity(values, activitySpec(rules), model, readings, now)
  const boardTimes = new BoardTimes({ model, values, numbers: boardNumbers, activity, neverActive })
  const idleTimes = new IdleTimes(model.workloads.all, activity.workloads)
  const phaseTimes = createPhaseTimes()
  const counterTotals = createCounterTotals(values)
  const countedWorkloads = createCountedWorkloads()
  const workloadCounters = rules.filter(({ of: kind, isTotal }) => kind === 'workload' && isTotal)
  const restMemory = createRestMemory(rules, model, values, readings, sharedMemory)
  const sets = new Sets({ model, values, readings, boardNumbers, activity, restMemory, sharedMemory })
  const bundles = bundlesOf(sources, rules, sets)
  const plans = bundles.flatMap(bundle => bundle.plans)
  const totalPlans = plans.filter(({ rule }) => rule.isTotal)
  const totalRules = new Map(totalPlans.map(({ rule, grouping }) => [rule, grouping]))
  const hasPhases = rules.some(({ phase }) => phase !== undefined)
  const times = new FlushColumns()
  const orders = new Orders()
  const workspace = new Workspace()
  let versions = ''
  let isCompiled = false
  let flushedMs = NaN
  let flushedTurn = 0

  function settle(segments?: readonly Segment[], beforeMs = Infinity): void {
    if (!isCompiled) return
    if (segments === undefined) activity.note()
    for (const { use, numbers } of readingsOf(segments ?? [])) {
      const { things, active } = use.reading
      if (active && things === values.devices) activity.noteDevices(numbers, beforeMs)
      else if (active && things === values.own) activity.noteOwn(numbers, beforeMs)
    }
    const hasCounters = segments === undefined || readingsOf(segments).some(({ use }) => use.reading.isIncrease)
    if (totalPlans.length === 0 || !hasCounters) return
    values.renew()
    counterTotals.withoutMoved(addIncreases)
  }

  function addIncreases(): void {
    for (const { rule, grouping, members } of totalPlans) {
      for (const { set, slots } of members) {
        const increases =
          rule.of === 'workload'
            ? countedWorkloads.count(rule, model.workloads.all.list)
            : // What counters have grown by hangs on no time.
              set.values(rule.value, rule.where, NaN)
        counterTotals.add(rule, grouping, slots, increases)
      }
    }
    counterTotals.drained()
  }

  function refresh(nowMs: number): void {
    const isChanged = model.refresh()
    const { devices, own, containers, hosts, series } = values
    const things = [devices, own, containers, hosts, series]
    for (const one of things) one.settle()
    const now = things.map(({ version }) => version).join(' ')
    if (hasPhases) phaseTimes.refresh(model.workloads.all, model.podChanges, nowMs)
    if (!isChanged && now === versions) return
    versions = now
    isCompiled = true
    readings.refresh()
    boardNumbers.refresh()
    sets.refresh()
    orders.forget()
    for (const { grouping } of bundles) grouping.sweep()
    activity.refresh(readings.changed)
    boardTimes.refresh()
    idleTimes.refresh()
    for (const one of [model, readings, boardNumbers]) one.settle()
    counterTotals.compiled()
    counterTotals.retain(totalRules, nowMs)
    countedWorkloads.retain(workloadCounters, model.workloads.all, nowMs)
  }

  function valuesOf({ of: kind, aggregate, level, value, where, phase }: Rule, set: Contributors, nowMs: number) {
    if (aggregate === 'last_active') {
      if (kind === 'gpu') return column('boards', set.length, result => boardTimes.fill(result))
      if (kind === 'pair' && level === 'pair') return column('pairs', set.length, fillPairTimes)
    }
    if (aggregate === 'idle_seconds') return column('idle', set.length, result => idleTimes.fill(result, nowMs))
    if (aggregate === 'seconds_in_phase') {
      return column(phase!, set.length, result => phaseTimes.fill(result, phase!, nowMs))
    }
    return set.values(aggregate === 'info' ? undefined : value, where, nowMs)
  }

  function column(name: string, length: number, fill: (result: Float64Array) => void): Float64Array {
    return times.get(name, values.turn, length, fill)
  }

  function fillPairTimes(result: Float64Array): void {
    for (let place = 0; place < readings.length; place++) result[place] = activity.ofPair(place) / 1000
  }

  function add({ rule, grouping, members, alwaysThere }: Plan, nowMs: number): Accumulators {
    const sums = workspace.accumulators(grouping.groups.length, rule.aggregate)
    for (const { set, slots } of members) {
      accumulate(sums, rule.aggregate, {
        slots: slots.slots,
        length: slots.length,
        values: valuesOf(rule, set, nowMs),
        weights: set.weights?.(rule.weight),
        over: rule.over && set.values(rule.over, rule.where, nowMs),
      })
    }
    const { count, main, other } = sums
    if (alwaysThere !== undefined) {
      const { slots, length } = alwaysThere.slots
      for (let place = 0; place < length; place++) count[slots[place]!]!++
    }
    // Slot 0 is where everything goes that belongs to no group.
    count[0] = main[0] = other[0] = 0
    return sums
  }

  /** They hold until the next are asked for. */
  function resultsOf(plan: Plan, nowMs: number): Results {
    const { rule, grouping } = plan
    const sums = add(plan, nowMs)
    const isEstimated = estimatesOf(plan)
    const { metric } = rule
    if (rule.isTotal) return { metric, values: counterTotals.totals(rule, grouping, sums.count), isEstimated }
    return { metric, values: finish(rule, sums, sums.main), isEstimated }
  }

  /** By slot: a sum of which one part is an estimate is one. */
  function estimatesOf({ rule, grouping, members }: Plan): Uint8Array | undefined {
    let marks: Uint8Array | undefined
    for (const { set, slots } of members) {
      const estimates = rule.value && set.estimates?.(rule.value)
      if (estimates === undefined) continue
      marks ??= new Uint8Array(grouping.groups.length)
      for (let place = 0; place < slots.length; place++) if (estimates[place] === 1) marks[slots.slots[place]!] = 1
    }
    return marks
  }

  return {
    activity,
    phaseTimes,
    counterTotals,
    countedWorkloads,
    settle,
    collect(nowMs) {
      activity.collect(nowMs)
      counterTotals.collect()
    },
    restore() {
      activity.restored()
      phaseTimes.restored()
      counterTotals.restore()
    },
    notAfter(nowMs) {
      values.notAfter(nowMs)
      activity.notAfter(nowMs)
      boardTimes.notAfter(nowMs)
    },
    get contributors() {
      const counts = new Map<string, number>()
      for (const plan of plans) {
        const { count } = add(plan, flushedMs)
        counts.set(
          plan.rule.metric.name,
          count.reduce((a, b) => a + b, 0),
        )
      }
      return counts
    },
    flush(nowMs) {
      refresh(nowMs)
      settle()
      values.renew()
      values.sweep(flushedTurn)
      flushedTurn = values.turn
      flushedMs = nowMs
      return bundles.values().map(bundle => {
        const { output, plans: its } = bundle
        const results: ResultList = {
          length: its.length,
          at: index => resultsOf(its[index]!, nowMs),
          write(index, shape, into) {
            const { rule, members, isOrdered: isSum } = its[index]!
            return isSum ? orders.write(rule, members[0]!, shape, into, nowMs) : undefined
          },
        }
        return output.batch(results, nowMs)
      })
    },
    partials: () =>
      plans.map(plan => ({
        rule: plan.rule,
        groups: plan.grouping.groups.slice(),
        sums: copied(add(plan, flushedMs)),
      })),
  }
}

function copied({ count, main, other }: Accumulators): Accumulators {
  return { count: count.slice(), main: main.slice(), other: other.slice() }
}

function bundlesOf(sources: CycleOptions['sources'], rules: readonly Rule[], sets: Sets): Bundle[] {
  const byKey = Map.groupBy(rules, bundleKey)
  return Array.from([...byKey], ([bundle, its]) => {
    const [{ labels, key, level, of: kind }] = its as [Rule]
    const grouping = new Grouping(labels, keyOf(level, key, kind))
    return {
      grouping,
      output: createOutput(sources.of(`${kind} by ${level}`, bundle), grouping),
      plans: its.map(rule => {
        const members = sets.of(rule, grouping)
        const alwaysThere = sets.alwaysThere(rule, grouping)
        return { rule, grouping, members, alwaysThere, isOrdered: isOrdered(rule, members) }
      }),
    }
  })
}

/** Metrics of different catalogs may have the same labels by different names. */
function bundleKey({ level, labels, of: kind }: Rule): string {
  return JSON.stringify([level, labels, kind === 'series' ? kind : ''])
}

/** Without these there is no series. What quotas are for need not have all that pods have. */
function keyOf(level: Level, key: readonly string[], kind: ContributorKind): readonly string[] {
  return kind === 'series' ? [] : level === 'cluster' ? [] : key
}

function activitySpec(rules: readonly Rule[]): ValueSpec | undefined {
  return rules.find(({ aggregate }) => aggregate === 'last_active' || aggregate === 'idle_seconds')?.value
}
