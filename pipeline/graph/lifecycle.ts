/** Starting and stopping nodes, in the order that loses nothing. */
import { settledBy } from '../clock/deadline.ts'
import { allNodes, type Graph } from './build.ts'
import type { GraphNode } from './node.ts'

/** A component could not be started; the message names it. */
export class StartError extends Error {
  override name = 'StartError'
}

/**
 * What is behind starts before what is before it: by the time a receiver has data there is somebody to take it. Extensions come
 * first, because a health check answers while the rest still starts and a simulated cluster must be there to be scraped.
 * If one cannot be started, those that were are stopped again.
 */
export async function startNodes(nodes: readonly GraphNode[], stopDeadlineMs: () => number): Promise<void> {
  const started: GraphNode[] = []
  for (const node of nodes) {
    node.state = 'starting'
    started.push(node)
    try {
      await node.component.start?.()
      node.state = 'running'
    } catch (error) {
      await stopNodes(started.toReversed(), stopDeadlineMs())
      throw new StartError(`${node.kind} ${node.id}: ${error instanceof Error ? error.message : String(error)}`, {
        cause: error,
      })
    }
  }
}

export function startOrder(graph: Graph): GraphNode[] {
  return [...graph.extensions, ...graph.exporters, ...graph.processors.toReversed(), ...graph.receivers]
}

/** The other way round: receivers stop first, then what they handed on passes and is delivered. */
export function stopOrder(graph: Graph): GraphNode[] {
  return startOrder(graph).toReversed()
}

/**
 * Stops one after the other, but exporters at once: one whose destination is dead would take the time that the others have to
 * deliver.
 */
export async function stopNodes(nodes: readonly GraphNode[], deadlineMs: number): Promise<void> {
  const stopping: Promise<void>[] = []
  for (const node of nodes) {
    if (node.state === 'stopped') continue
    node.state = 'stopped'
    if (node.kind !== 'exporter') await Promise.all(stopping)
    const stopped = stopNode(node, deadlineMs)
    if (node.kind === 'exporter') stopping.push(stopped)
    else await stopped
  }
  await Promise.all(stopping)
}

/** One that does not stop in time, or fails to, is left behind and named in its log. */
async function stopNode(node: GraphNode, deadlineMs: number): Promise<void> {
  try {
    const stopped = Promise.resolve(node.component.stop?.(deadlineMs))
    // A component has until the deadline itself; half a second more shows that it did not keep to it.
    if (!(await settledBy(node.clock, deadlineMs + 500, stopped)))
      node.log.error('did not stop in time and was left behind')
  } catch (error) {
    node.log.error('failed while it was stopped', { reason: String(error) })
  }
  if (node.kind === 'receiver') for (const way of node.ways.values()) way.end(node.clock.now())
}

/** Nodes of one graph that are not in another. */
export function nodesOnlyIn(graph: Graph, other: Graph | undefined): Set<GraphNode> {
  const shared = new Set(other && allNodes(other))
  return new Set(allNodes(graph).filter(node => !shared.has(node)))
}
