/**
 * From one running graph to the next. What did not change runs on without noticing; what did is exchanged. If the new graph cannot
 * be started, the old one is put back.
 */
import type { Graph } from './build.ts'
import { nodesOnlyIn, startNodes, startOrder, stopNodes, stopOrder } from './lifecycle.ts'
import type { GraphNode } from './node.ts'

/** Which graph runs now. With a failure it is the old one, or as much of it as could be had again. */
export type Switched = { readonly graph: Graph; readonly failure?: Error }

export async function switchGraph(
  from: Graph,
  to: Graph,
  deadlineMs: () => number,
  /** Makes the old graph again, from its config, with what is still running. */
  rebuild: (running: Graph) => Graph,
): Promise<Switched> {
  const added = nodesOnlyIn(to, from)
  const obsolete = nodesOnlyIn(from, to)
  const waiting = new Set([...added].filter(node => mustWait(node, obsolete)))
  const startOnly = (nodes: Iterable<GraphNode>) => startNodes(inOrder(startOrder(to), nodes), deadlineMs)
  try {
    await startOnly(added.difference(waiting))
  } catch (failure) {
    return { graph: from, failure: failure as Error }
  }
  to.connect()
  await stopNodes(inOrder(stopOrder(from), obsolete), deadlineMs())
  endWithoutHeir(obsolete, to)
  try {
    await startOnly(waiting)
    return { graph: to }
  } catch (failure) {
    return { graph: await goBack(to, rebuild(to), deadlineMs), failure: failure as Error }
  }
}

/** What the old graph had and was stopped is made and started anew; each for itself, so that one that fails costs no other. */
async function goBack(from: Graph, to: Graph, deadlineMs: () => number): Promise<Graph> {
  to.connect()
  await stopNodes(inOrder(stopOrder(from), nodesOnlyIn(from, to)), deadlineMs())
  for (const node of inOrder(startOrder(to), nodesOnlyIn(to, from))) {
    await startNodes([node], deadlineMs).catch((error: Error) =>
      node.log.error(`could not be put back: ${error.message}`),
    )
  }
  return to
}

/** One that takes the place of another goes on with what that has made. */
function endWithoutHeir(obsolete: Iterable<GraphNode>, to: Graph): void {
  const keys = new Set(to.processors.map(({ key }) => key))
  for (const { key, clock, endOwn } of obsolete) if (!keys.has(key)) endOwn?.(clock.now())
}

function inOrder(order: readonly GraphNode[], nodes: Iterable<GraphNode>): GraphNode[] {
  const wanted = new Set(nodes)
  return order.filter(node => wanted.has(node))
}

/** What takes the place of another waits until that is gone: two would scrape twice, write one state, or want one port. */
function mustWait(node: GraphNode, obsolete: ReadonlySet<GraphNode>): boolean {
  if (node.kind === 'receiver') return true
  return [...obsolete].some(old => old.key === node.key || old.listens.some(address => node.listens.includes(address)))
}
