/**
 * The simulated cluster. What it is at a moment depends on the seed, the size, the start and that moment, and on nothing else: neither
 * on how often somebody looked nor on who watches.
 */
import { resetAccounting } from './accounting.ts'
import { startArrivals } from './arrivals.ts'
import { makeClusterState, objectsOf, type ClusterState } from './cluster-state.ts'
import { addDaemonSets } from './daemon-sets.ts'
import { EventQueue } from './event-queue.ts'
import { resetCounters } from './gpu.ts'
import type { Sharing } from './hardware.ts'
import { createHolding } from './holding.ts'
import type { ObjectSource } from './kubernetes-object.ts'
import { createLifecycle } from './lifecycle.ts'
import { startNodeTrouble } from './node-trouble.ts'
import type { SimulatedNode } from './node.ts'
import { Placement } from './placement.ts'

export type ClusterOptions = {
  readonly seed: number
  readonly nodes: number
  readonly gpusPerNode: number
  /** When its history begins; everything from before is made up. */
  readonly startMs: number
  /** How GPUs may be shared, besides fractions, which need no preparation. Default: in every way. */
  readonly sharing?: ReadonlySet<Sharing>
  /** Moments at which the driver of a node is loaded again, so that its counters begin at zero. */
  readonly driverReloads?: readonly NodeEvents[]
  /** Moments at which a node boots as far as its kernel's counters are concerned; its pods go on. */
  readonly reboots?: readonly NodeEvents[]
}

export type NodeEvents = { readonly nodeName: string; readonly timesMs: Iterable<number> }

export type SimulatedCluster = ObjectSource & {
  readonly state: ClusterState
  readonly timeMs: number
  /** Lets time pass up to then. It does not go back: an earlier time is a RangeError. */
  advance(timeMs: number): void
}

const ALL_SHARING: ReadonlySet<Sharing> = new Set(['whole', 'mig', 'time_slicing'])

export function createSimulatedCluster(options: ClusterOptions): SimulatedCluster {
  const { seed, startMs, sharing = ALL_SHARING } = options
  const state = makeClusterState({ ...options, sharing })
  const events = new EventQueue()
  const placement = new Placement(state.nodes)
  const lifecycle = createLifecycle(state, events, placement, createHolding(state, placement))
  addDaemonSets(state, seed)
  startArrivals({ seed, state, events, placement, lifecycle }, startMs)
  startNodeTrouble({ seed, state, events, placement, wake: timeMs => lifecycle.wake(timeMs) }, startMs)
  // Before the start time did not go forward: no sample from then is worth keeping.
  for (const { accounting } of state.nodes) delete accounting.kept
  for (const reload of options.driverReloads ?? []) {
    planNodeEvents(state, events, reload, ({ gpus }, timeMs) => {
      for (const gpu of gpus) resetCounters(gpu, timeMs)
    })
  }
  for (const reboot of options.reboots ?? []) planNodeEvents(state, events, reboot, resetAccounting)

  let timeMs = startMs
  return {
    state,
    get timeMs() {
      return timeMs
    },
    get resourceVersion() {
      return String(state.changes.version)
    },
    objects: () => objectsOf(state),
    watch: listener => state.changes.watch(listener),
    advance(untilMs) {
      if (untilMs < timeMs) throw new RangeError('the simulated cluster does not go back in time')
      events.runUntil(untilMs)
      timeMs = untilMs
    },
  }
}

/** The times may go on for ever, so one is planned after the other. */
function planNodeEvents(
  state: ClusterState,
  events: EventQueue,
  { nodeName, timesMs }: NodeEvents,
  happen: (node: SimulatedNode, timeMs: number) => void,
): void {
  const node = state.nodes.find(({ name }) => name === nodeName)
  const times = timesMs[Symbol.iterator]()
  function planNext(): void {
    const next = times.next()
    if (next.done === true || node === undefined) return
    events.plan(next.value, timeMs => {
      happen(node, timeMs)
      planNext()
    })
  }
  planNext()
}
