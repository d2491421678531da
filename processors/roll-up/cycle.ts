/**
 * What happens at a flush: the model is brought up to date, every rule adds up its contributors, and batches are made of the results.
 */
import type { ContributorKind, Level } from '../../pipeline/catalog/output-schema.ts'
import type { Batch } from '../../pipeline/model/batch.ts'
import { getLabel, type Labels } from '../../pipeline/model/labels.ts'
import { accumulate, createAccumulators, resultOf, type Accumulators } from './accumulators.ts'
import { createActivity, type Activity } from './activity.ts'
import {
  containerContributors,
  gpuContributors,
  hostContributors,
  nodeContributors,
  pairContributors,
  podContributors,
  quotaContributors,
  restContributors,
  seriesContributors,
  type Contributors,
  type SharedMemory,
} from './contributors.ts'
import { divided, type Measured } from './divided-memory.ts'
import { heldDevices, type BoardRecord, type DeviceRecord, type PairRecord, type RestRecord } from './device-records.ts'
import { entityFrom, Grouping, type Entity } from './entity.ts'
import type { Model } from './model.ts'
import { createOutput, type Output } from './output.ts'
import { createCountedWorkloads, type CountedWorkloads } from './counted-workloads.ts'
import { createCounterTotals, type CounterTotals } from './counter-totals.ts'
import { createPhaseTimes, type PhaseTimes } from './phase-times.ts'
import type { PodRecord } from './pod-records.ts'
import type { Rule, ValueSpec } from './rules.ts'
import type { Values } from './values.ts'

export type CycleOptions = {
  readonly component: string
  readonly rules: readonly Rule[]
  readonly values: Values
  readonly model: Model
  readonly sharedMemory: SharedMemory
}

export type Cycle = {
  readonly activity: Activity
  readonly phaseTimes: PhaseTimes
  readonly counterTotals: CounterTotals
  readonly countedWorkloads: CountedWorkloads
  /** Gives what readings have said until now to those who have them now. */
  settle(): void
  /** Brings what is kept on disk up to date, and goes on from what was. */
  collect(): void
  restore(): void
  flush(nowMs: number): readonly Batch[]
  /** How many contributed to each metric at the last flush. */
  readonly contributors: ReadonlyMap<string, number>
  /** For whoever merges roll-ups of parts: what has been added up, by labels of the group. */
  partials(): readonly Partial[]
}

export type Partial = {
  readonly rule: Rule
  readonly groups: readonly (Labels | undefined)[]
  readonly sums: Accumulators
}

/** A window in which nothing was busy counts when it is over. */
const IDLE_WINDOW_MS = 30_000

/** Rules that share their groups. */
type Bundle = {
  readonly grouping: Grouping
  readonly output: Output
  readonly rules: readonly Rule[]
}

export function createCycle({ component, rules, values, model, sharedMemory }: CycleOptions): Cycle {
  const activity = createActivity(values, activitySpec(rules))
  const phaseTimes = createPhaseTimes()
  const counterTotals = createCounterTotals(values)
  const countedWorkloads = createCountedWorkloads()
  const bundles = bundlesOf(component, rules)
  const totalRules = new Map(
    bundles.flatMap(({ rules: its, grouping }) => its.filter(({ isTotal }) => isTotal).map(rule => [rule, grouping])),
  )
  const workloadCounters = rules.filter(({ of: kind, isTotal }) => kind === 'workload' && isTotal)
  const kinds = new Set(rules.map(({ of: kind }) => kind))
  const contributed = new Map<string, number>()
  let sets = new Map<string, Contributors>()
  let slots = new Map<string, Uint32Array>()
  let owners = new Map<string, number>()
  let pairsByDevice = new Map<DeviceRecord, PairRecord[]>()
  let versions = ''
  let turn = 0
  let sums: { rule: Rule; grouping: Grouping; sums: Accumulators }[] = []

  function ownReading({ holder, device }: PairRecord): number {
    const pod = 'host' in holder ? holder.host : holder
    if (pod === undefined) return -1
    const { id } = device.assignment.device
    return owners.get(`${pod.key}\n${device.key}`) ?? owners.get(`${pod.key}\n${id}`) ?? -1
  }

  /** Which reading is that of a pod on a device: series name pods in several ways. */
  function findOwners(): void {
    owners = new Map()
    for (const number of values.own.numbers()) {
      const pod = model.podOf(values.own.labelsOf(number))
      const device = values.own.keyOf(number).split('\n')[1]!
      if (pod !== undefined) owners.set(`${pod.key}\n${device}`, number)
    }
  }

  function settle(): void {
    if (turn === 0) return
    activity.note(model.devices.pairs.values(), ownReading)
    for (const [rule, grouping] of totalRules) {
      const increases =
        rule.of === 'workload'
          ? countedWorkloads.count(rule, model.workloads.all.keys())
          : // What counters have grown by hangs on no time.
            setOf(rule).set.values(rule.value, rule.where, NaN)
      counterTotals.add(rule, grouping, slotsOf(rule, grouping), increases)
    }
    counterTotals.drained()
  }

  function refresh(nowMs: number): void {
    const isChanged = model.refresh()
    const { devices, own, containers, hosts, series } = values
    const now = [devices, own, containers, hosts, series].map(({ version }) => version).join(' ')
    if (!isChanged && now === versions) return
    versions = now
    turn++
    findOwners()
    pairsByDevice = Map.groupBy(model.devices.pairs.values(), ({ device }) => device)
    sets = new Map()
    slots = new Map()
    for (const kind of kinds) sets.set(kind, contributorsOf(kind))
    sets.set('activity', activeContributors())
    // Groups that nobody belongs to any more give their places back.
    for (const { grouping, rules: its } of bundles) {
      for (const rule of its) slotsOf(rule, grouping)
      grouping.release(turn)
    }
    counterTotals.compiled()
    counterTotals.retain(totalRules, nowMs)
    countedWorkloads.retain(workloadCounters, model.workloads.all, nowMs)
    activity.retain(model.pods, model.devices.pairs, model.workloads.all)
  }

  function contributorsOf(kind: ContributorKind): Contributors {
    const { at, devices, pods, nodes, quotas } = model
    switch (kind) {
      case 'gpu':
        return gpuContributors([...devices.boards.values()], values, at, isAllocated)
      case 'pair':
        return pairContributors([...devices.pairs.values()], values, at, ownReading, sharedMemory)
      case 'pod':
        return podContributors([...pods.values()], at)
      case 'container':
        return containerContributors(containerRecords(), values, at)
      case 'node':
        return nodeContributors([...nodes.all.values()], at)
      case 'host':
        return hostContributors(hostRecords(), values, at)
      case 'project_quota':
        return quotaContributors(quotas.projects, at)
      case 'queue_quota':
        return quotaContributors(quotas.queues, at)
      case 'rest':
        return restContributors(devices.rests, values, at, restMemory)
      case 'workload':
        return workloadContributors()
      case 'series':
        return seriesContributors(values, number => seriesEntity(values.series.labelsOf(number)))
    }
  }

  function isAllocated(board: BoardRecord): boolean {
    return heldDevices(board).some(({ assignment }) => assignment.holdings.length > 0)
  }

  function containerRecords(): { number: number; pod: PodRecord }[] {
    const records: { number: number; pod: PodRecord }[] = []
    for (const number of values.containers.numbers()) {
      const pod = model.podOf(values.containers.labelsOf(number))
      if (pod !== undefined) records.push({ number, pod })
    }
    return records
  }

  /** A host that two targets show under different addresses is there once. */
  function hostRecords() {
    const records = new Map<string, { number: number; node: NonNullable<ReturnType<Model['nodeOf']>> }>()
    for (const number of values.hosts.numbers()) {
      const [host, ...per] = values.hosts.keyOf(number).split('\n')
      const source = values.sourceOfHost.get(host!)
      const node = source && model.nodeOf(source)
      if (node === undefined) continue
      const key = [node.name, ...per].join('\n')
      if (!records.has(key)) records.set(key, { number, node })
    }
    return [...records.values()]
  }

  /** What is used on a device and shown for no pair. */
  function restMemory(): (rest: RestRecord) => number {
    if (memorySpec === undefined) return () => NaN
    const used = values.evaluate('device', memorySpec)
    const own = values.evaluate('own', memorySpec)
    return rest => restOf(rest, used, own)
  }

  function restOf({ device, beside, gpus }: RestRecord, used: Float64Array, own: Float64Array): number {
    const { isShared, holdings, rest } = device.assignment
    const total = used[values.devices.find(device.key)]!
    if (beside !== undefined) return beside.includes(device) ? NaN : besideMemory(total, beside, used)
    if (gpus === 0 && !isShared) return NaN
    if (!isShared) return holdings.length === 0 ? total : total * rest.share
    const measured = measuredOn(device, own)
    if (sharedMemory === 'measured') return Math.max(0, total - measured.used)
    const left = divided(total, measured, rest.share)
    return gpus === 0 && left === 0 ? NaN : left
  }

  /** What a board uses, where the exporter shows it, and none of its instances. */
  function besideMemory(total: number, instances: readonly DeviceRecord[], used: Float64Array): number {
    const numbers = instances.map(({ key }) => values.devices.find(key)).filter(number => number >= 0)
    const ofInstances = numbers.map(number => used[number]!).filter(value => !Number.isNaN(value))
    const left = ofInstances.reduce((rest, value) => rest - value, total)
    return left > 0 ? left : NaN
  }

  /** What pods on a shared device are known to use of it. */
  function measuredOn(device: DeviceRecord, own: Float64Array): Measured {
    let [used, share] = [0, 0]
    for (const pair of pairsByDevice.get(device) ?? []) {
      const reading = ownReading(pair)
      const value = reading < 0 ? NaN : own[reading]!
      if (Number.isNaN(value)) continue
      used += value
      share += pair.share
    }
    return { used, share }
  }

  const memorySpec = rules.find(({ of: kind, value }) => kind === 'rest' && value?.terms[0]!.facts[0] === 'gpu_memory')
    ? usedMemory(rules)
    : undefined

  function workloadContributors(): Contributors {
    const workloads = [...model.workloads.all.values()]
    return {
      entities: level => workloads.map(workload => model.at(level, workload, '')),
      values: () => new Float64Array(workloads.length).fill(1),
    }
  }

  /** Pods and jobs, with the time at which each was last busy. */
  function activeContributors(): Contributors {
    const holders: { key: string; entity: Entity; node: string }[] = [
      ...Array.from(model.pods.values(), pod => ({ key: pod.key, entity: pod, node: pod.pod.node })),
      ...Array.from(model.devices.jobs.values(), job => ({ key: job.key, entity: job, node: '' })),
    ]
    return {
      entities: level => holders.map(({ entity, node }) => model.at(level, entity, node)),
      values: () => Float64Array.from(holders, ({ key }) => activity.ofPod(key) / 1000),
    }
  }

  function setOf(rule: Rule): { readonly name: string; readonly set: Contributors } {
    const name = rule.of === 'pair' && rule.aggregate === 'last_active' && rule.level !== 'pair' ? 'activity' : rule.of
    return { name, set: sets.get(name)! }
  }

  function slotsOf(rule: Rule, grouping: Grouping): Uint32Array {
    const { name, set } = setOf(rule)
    const key = `${name} ${rule.level} ${bundleKey(rule)} ${JSON.stringify(rule.only)}`
    let found = slots.get(key)
    if (found === undefined) {
      const entities = set.entities(rule.level)
      found = Uint32Array.from(entities, entity =>
        entity !== undefined && isMeant(rule, entity) ? grouping.slotOf(entity, turn) : 0,
      )
      slots.set(key, found)
      for (const entity of alwaysThere(rule)) grouping.slotOf(entity, turn)
    }
    return found
  }

  /** What a metric has a series for even if nothing contributes. */
  function alwaysThere(rule: Rule): readonly Entity[] {
    if (rule.zeroFor === undefined) return []
    const all: readonly Entity[] = rule.zeroFor === 'gpu_nodes' ? gpuNodes() : [...model.workloads.all.values()]
    return all.filter(entity => isMeant(rule, entity))
  }

  function gpuNodes() {
    const withBoards = new Set(Array.from(model.devices.boards.values(), ({ node }) => node))
    return [...model.nodes.all.values()].filter(({ name, gpus }) => gpus > 0 || withBoards.has(name))
  }

  function valuesOf(rule: Rule, nowMs: number): Float64Array {
    const { name, set } = setOf(rule)
    if (name === 'activity') return set.values(undefined, [], nowMs)
    if (rule.of === 'gpu' && rule.aggregate === 'last_active') return boardTimes()
    if (rule.of === 'pair' && rule.aggregate === 'last_active') {
      return Float64Array.from(model.devices.pairs.keys(), key => activity.ofPair(key) / 1000)
    }
    if (rule.of === 'workload' && rule.aggregate !== 'count') {
      return Float64Array.from(model.workloads.all.values(), ({ key, members }) =>
        rule.aggregate === 'idle_seconds' ? idleSeconds(key, members, nowMs) : phaseTimes.seconds(key, rule.phase!),
      )
    }
    return set.values(rule.aggregate === 'info' ? undefined : rule.value, rule.where, nowMs)
  }

  function boardTimes(): Float64Array {
    const times: number[] = []
    for (const { devices } of model.devices.boards.values()) {
      if (!devices.some(({ key }) => values.devices.find(key) >= 0)) continue
      const known = devices.map(({ key }) => activity.ofDevice(key)).filter(time => !Number.isNaN(time))
      times.push(known.length === 0 ? NaN : Math.max(...known) / 1000)
    }
    return Float64Array.from(times)
  }

  function idleSeconds(id: string, members: readonly PodRecord[], nowMs: number): number {
    const gpuPods = members.filter(({ conditions }) => conditions.has('gpu'))
    if (!gpuPods.some(({ conditions }) => conditions.has('bound') && conditions.has('unfinished'))) return NaN
    const busyMs = activity.ofWorkload(id)
    const startedMs = Math.min(...gpuPods.map(({ pod }) => pod.startedMs ?? pod.createdMs ?? nowMs))
    const sinceMs = Number.isNaN(busyMs) ? startedMs : busyMs
    return Math.max(0, Math.floor((nowMs - sinceMs) / IDLE_WINDOW_MS)) * (IDLE_WINDOW_MS / 1000)
  }

  function add(rule: Rule, grouping: Grouping, nowMs: number): Accumulators {
    const { set } = setOf(rule)
    const its = createAccumulators(grouping.groups.length, rule.aggregate)
    accumulate(its, rule.aggregate, {
      slots: slotsOf(rule, grouping),
      values: valuesOf(rule, nowMs),
      weights: set.weights?.(rule.weight),
      over: rule.over && set.values(rule.over, rule.where, nowMs),
    })
    // Slot 0 is where everything goes that belongs to no group.
    its.count[0] = 0
    for (const entity of alwaysThere(rule)) its.count[grouping.slotOf(entity, turn)]!++
    return its
  }

  return {
    activity,
    phaseTimes,
    counterTotals,
    countedWorkloads,
    settle,
    collect() {
      activity.collect()
      counterTotals.collect()
    },
    restore() {
      activity.restored()
      counterTotals.restore()
    },
    contributors: contributed,
    flush(nowMs) {
      refresh(nowMs)
      settle()
      if (rules.some(({ phase }) => phase !== undefined)) phaseTimes.update(model.workloads.all, nowMs)
      sums = []
      return bundles.map(({ grouping, output, rules: its }) => {
        const results = its.map(rule => {
          const added = add(rule, grouping, nowMs)
          sums.push({ rule, grouping, sums: added })
          contributed.set(
            rule.metric.name,
            added.count.reduce((a, b) => a + b, 0),
          )
          const results = rule.isTotal ? counterTotals.totals(rule, grouping, added.count) : finish(rule, added)
          return { metric: rule.metric, values: results }
        })
        return output.batch(results, grouping.groups, nowMs)
      })
    },
    partials: () =>
      sums.map(({ rule, grouping, sums: its }) => ({
        rule,
        groups: grouping.groups.map(group => group?.labels),
        sums: its,
      })),
  }
}

/** The results of a rule by slot. */
export function finish(rule: Rule, sums: Accumulators): Float64Array {
  const results = new Float64Array(sums.count.length)
  for (let slot = 0; slot < results.length; slot++) {
    const result = resultOf(sums, slot, rule.aggregate)
    results[slot] = rule.complement ? 1 - result : result
  }
  return results
}

function bundlesOf(component: string, rules: readonly Rule[]): Bundle[] {
  const byKey = Map.groupBy(rules, bundleKey)
  return Array.from(byKey.values(), (its, index) => {
    const [{ labels, key, level, of: kind }] = its as [Rule]
    return {
      grouping: new Grouping(index, labels, keyOf(level, key, kind)),
      output: createOutput(component, `${kind} by ${level}`),
      rules: its,
    }
  })
}

function isMeant({ only }: Rule, entity: Entity): boolean {
  return only.every(([attribute, values]) => values.includes(entity.get(attribute) ?? ''))
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

/** GPU memory in use as some rule reads it, in bytes. */
function usedMemory(rules: readonly Rule[]): ValueSpec | undefined {
  const known = rules.find(
    ({ of: kind, value }) => kind === 'pair' && value?.isAmount === true && value.terms.length === 1,
  )?.value
  return known && { ...known, unit: 'By', key: `${known.key} in bytes` }
}

/** The labels of a series are its attributes. */
function seriesEntity(labels: Labels): Entity {
  return entityFrom(attribute => getLabel(labels, attribute.replace(/^label\./, '')))
}
