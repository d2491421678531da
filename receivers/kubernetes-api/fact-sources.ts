/**
 * Hands on what is known of pods and nodes as batches: one source for each node, so that a pod that changes costs the series of its
 * node, one for pods that are bound to none, and one for quotas and claims. `up` says whether the cluster has been read.
 */
import type { KeptNode } from '../../pipeline/cluster/keep-node.ts'
import type { KeptPod } from '../../pipeline/cluster/keep-pod.ts'
import { RefusedError, type Host, type Next } from '../../pipeline/component.ts'
import { endBatch, type Batch, type Source } from '../../pipeline/model/batch.ts'
import { labelsFrom } from '../../pipeline/model/labels.ts'
import { layoutFromSeries } from '../../pipeline/model/layout.ts'
import { metricFrom } from '../../pipeline/model/series.ts'
import { createFactGroup, type FactGroup } from './fact-group.ts'
import type { FactObject } from './facts.ts'
import type { SchedulerChange } from './scheduler-kinds.ts'

export type FactSources = {
  pod(now: KeptPod | undefined, before: KeptPod | undefined): void
  node(now: KeptNode | undefined, before: KeptNode | undefined): void
  scheduler: SchedulerChange
  /** Everything has been read: nothing is handed on before. */
  begin(): void
  stop(): void
}

export type FactSourcesOptions = { readonly hasMetrics: boolean; readonly intervalMs: number }

type Group = FactGroup & { readonly key: string; readonly source: Source; sentMs: number }

/** No node is called so. */
const UNBOUND = ''
const SCHEDULER = 'quotas and claims'

/** Changes of one moment travel together. */
const TICK_MS = 1000
const UP = metricFrom({ name: 'up', type: 'gauge', help: 'Whether the source could be read.' })

/** Starts at once: `up` is 0 until everything has been read. */
export function createFactSources(
  { id, clock, log }: Host,
  next: Next,
  { hasMetrics, intervalMs }: FactSourcesOptions,
): FactSources {
  const common = [['job', id] as const]
  const labels = labelsFrom(common)
  const report: Source = { component: id, name: 'the Kubernetes API', labels }
  const upLayout = layoutFromSeries([{ metric: UP, labels }])
  const groups = new Map<string, Group>()
  const changed = new Set<Group>()
  let hasBegun = false
  let stopped = false
  let reportedMs = -Infinity
  let changesSentMs = -Infinity
  let cancelChanges: (() => void) | undefined
  let cancelTick = clock.after(0, tick)

  function send(batch: Batch): boolean {
    try {
      next(batch)
      return true
    } catch (error) {
      if (!(error instanceof RefusedError)) log.error('a batch was not taken', { error: (error as Error).message })
      return false
    }
  }

  function tick(): void {
    cancelTick = clock.after(TICK_MS, tick)
    const nowMs = clock.monotonic()
    if (nowMs - reportedMs >= intervalMs) sendReport(nowMs)
    if (hasBegun) sendUnchanged(nowMs)
    // What was not taken is offered again.
    if (changed.size > 0) plan()
  }

  function sendReport(nowMs: number): void {
    reportedMs = nowMs
    const values = Float64Array.of(hasBegun ? 1 : 0)
    send({ source: report, timeMs: clock.now(), outcome: 'ok', layout: upLayout, values })
  }

  /** They take turns, so that they do not all come at once. */
  function sendUnchanged(nowMs: number): void {
    let most = Math.ceil(groups.size / Math.max(1, intervalMs / TICK_MS / 2))
    for (const group of groups.values()) {
      if (most === 0) return
      if (nowMs - group.sentMs < intervalMs) continue
      sendGroup(group, nowMs)
      most--
    }
  }

  /** At once, unless something was sent just now. */
  function plan(): void {
    if (!hasBegun || stopped) return
    cancelChanges ??= clock.after(Math.max(0, changesSentMs + TICK_MS - clock.monotonic()), sendChanges)
  }

  function sendChanges(): void {
    cancelChanges = undefined
    changesSentMs = clock.monotonic()
    // A pod that has just been bound to a node must not be in two places.
    const [unbound, bound] = [[...changed].filter(group => !isOfNode(group)), [...changed].filter(isOfNode)]
    for (const group of [...unbound, ...bound]) sendGroup(group, changesSentMs)
  }

  function sendGroup(group: Group, nowMs: number): void {
    const { source, objects } = group
    const isEmpty = objects.size === 0
    if (!send(isEmpty ? endBatch(source, clock.now(), 'removed') : group.batch(clock.now()))) return
    group.sentMs = nowMs
    changed.delete(group)
    if (isEmpty) groups.delete(group.key)
  }

  function groupOf(key: string): Group {
    let group = groups.get(key)
    if (group === undefined) {
      const isNode = key !== UNBOUND && key !== SCHEDULER
      const name = isNode ? `node ${key}` : key === UNBOUND ? 'pods without a node' : key
      const source: Source = { component: id, name, labels, isModelled: true, ...(isNode && { node: key }) }
      groups.set(key, (group = { ...createFactGroup(source, common), key, source, sentMs: -Infinity }))
    }
    return group
  }

  function leave(key: string, uid: string): void {
    const group = groupOf(key)
    group.objects.delete(uid)
    changed.add(group)
    plan()
  }

  function enter(key: string, object: FactObject): void {
    const group = groupOf(key)
    group.objects.set(object.uid, object)
    changed.add(group)
    plan()
  }

  return {
    pod(now, before) {
      if (!hasMetrics) return
      if (before !== undefined && before.node !== now?.node) leave(before.node, before.uid)
      if (now !== undefined) enter(now.node, now)
    },
    node(now, before) {
      if (!hasMetrics) return
      if (now === undefined) leave(before!.name, before!.uid)
      else enter(now.name, now)
    },
    scheduler(now, before) {
      if (!hasMetrics) return
      if (now === undefined) leave(SCHEDULER, before!.uid)
      else enter(SCHEDULER, now)
    },
    begin() {
      hasBegun = true
      sendReport(clock.monotonic())
      plan()
    },
    stop() {
      if (stopped) return
      cancelTick()
      cancelChanges?.()
      stopped = true
      for (const { source } of groups.values()) send(endBatch(source, clock.now(), 'removed'))
      send(endBatch(report, clock.now(), 'removed'))
      groups.clear()
    },
  }
}

function isOfNode({ source }: Group): boolean {
  return source.node !== undefined
}
