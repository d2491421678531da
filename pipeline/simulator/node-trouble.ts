/** Nodes that somebody takes out of service for a while, and nodes whose kubelet is not heard of. What runs there goes on. */
import type { ClusterState } from './cluster-state.ts'
import type { EventQueue } from './event-queue.ts'
import type { SimulatedNode } from './node.ts'
import { nodeObject } from './objects/node.ts'
import type { Placement } from './placement.ts'
import { createRandom, hashText } from './random.ts'

export type TroubleParts = {
  readonly seed: number
  readonly state: ClusterState
  readonly events: EventQueue
  readonly placement: Placement
  /** There is room again. */
  readonly wake: (timeMs: number) => void
}

/** From one trouble of a node to its next, on average. */
const NODE_INTERVAL_MS = 24 * 3_600_000
/** Small clusters have as much trouble as one of so many nodes, or there would be little to see. */
const FEWEST_NODES = 24
/** Fewer nodes than these are spared: too little would be left. */
const SPARED_NODES = 3

export function startNodeTrouble({ seed, state, events, placement, wake }: TroubleParts, startMs: number): void {
  const { nodes, changes } = state
  if (nodes.length < SPARED_NODES) return
  const random = createRandom(hashText('trouble', seed))
  const intervalMs = NODE_INTERVAL_MS / Math.max(nodes.length, FEWEST_NODES)
  let nextMs = startMs

  function change(node: SimulatedNode): void {
    changes.record('MODIFIED', node, nodeObject)
  }

  function leave(node: SimulatedNode, timeMs: number): void {
    placement.open(node)
    change(node)
    wake(timeMs)
  }

  function cordon(node: SimulatedNode, timeMs: number): void {
    node.trouble.cordonedMs = timeMs
    events.plan(timeMs + 60_000 * (15 + random.below(45)), then => {
      delete node.trouble.cordonedMs
      leave(node, then)
    })
  }

  /** For less than the five minutes after which pods would be evicted. */
  function lose(node: SimulatedNode, timeMs: number): void {
    node.trouble.unreachableMs = timeMs
    events.plan(timeMs + 1000 * (60 + random.below(200)), then => {
      delete node.trouble.unreachableMs
      node.trouble.reachableMs = then
      leave(node, then)
    })
  }

  function strike(timeMs: number): void {
    planNext()
    const node = random.pick(nodes)
    const begin = random.chance(0.5) ? cordon : lose
    if (node.trouble.cordonedMs !== undefined || node.trouble.unreachableMs !== undefined) return
    begin(node, timeMs)
    placement.close(node)
    change(node)
  }

  function planNext(): void {
    nextMs += random.exponential(intervalMs)
    events.plan(1000 * Math.ceil(nextMs / 1000), strike)
  }
  planNext()
}
