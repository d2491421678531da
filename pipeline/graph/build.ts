/** From a config to a graph of nodes. Creating them opens and starts nothing; what did not change is taken over. */
import type { ComponentConfig, LoadedConfig } from '../config/loaded-config.ts'
import type { Next, Processor } from '../component.ts'
import { createEntry, createWay, type Way } from './fan-out.ts'
import { nodeKey, type GraphNode, type NodeFactory } from './node.ts'

export type Graph = {
  readonly config: LoadedConfig
  readonly extensions: readonly GraphNode[]
  readonly receivers: readonly GraphNode[]
  /** In the order of the pipelines, and in each in the order in which batches pass. */
  readonly processors: readonly GraphNode[]
  readonly exporters: readonly GraphNode[]
  /** Lets batches flow as this graph has it; nodes that are in another graph, too, leave that one's ways. */
  connect(): void
}

export function buildGraph(config: LoadedConfig, create: NodeFactory, previous?: Graph): Graph {
  const known = new Map(previous && allNodes(previous).map(node => [node.key, node]))
  function take(key: string, { fingerprint }: ComponentConfig<unknown>, make: () => GraphNode): GraphNode {
    const node = known.get(key)
    return node !== undefined && node.fingerprint === fingerprint && node.state === 'running' ? node : make()
  }

  const pipelines = [...config.pipelines.values()]
  const receivers = used(pipelines.flatMap(pipeline => pipeline.receivers)).map(id => {
    const component = config.receivers.get(id)!
    return take(nodeKey('receiver', id), component, () => create.receiver(component))
  })
  const processors = pipelines.flatMap(pipeline =>
    pipeline.processors.map(id => {
      const component = config.processors.get(id)!
      return take(nodeKey('processor', id, pipeline.id), component, () => create.processor(component, pipeline.id))
    }),
  )
  const exporters = used(pipelines.flatMap(pipeline => pipeline.exporters)).map(id => {
    const component = config.exporters.get(id)!
    return take(nodeKey('exporter', id), component, () => create.exporter(component))
  })
  const extensions = config.service.extensions.map(id => {
    const component = config.extensions.get(id)!
    return take(nodeKey('extension', id), component, () => create.extension(component))
  })
  return {
    config,
    extensions,
    receivers,
    processors,
    exporters,
    connect: () => connect(config, { receivers, processors, exporters }, create),
  }
}

/** First ends what no longer has a way, then wires from the end to the beginning, so that no batch meets a way that leads nowhere. */
function connect(
  config: LoadedConfig,
  nodes: Pick<Graph, 'receivers' | 'processors' | 'exporters'>,
  { routes }: Pick<NodeFactory, 'routes'>,
): void {
  const pipelines = [...config.pipelines.values()]
  for (const node of nodes.receivers)
    keepWays(
      node,
      pipelines.filter(({ receivers }) => receivers.includes(node.id)),
      createEntry,
    )
  for (const node of nodes.exporters)
    keepWays(
      node,
      pipelines.filter(({ exporters }) => exporters.includes(node.id)),
      createWay,
    )
  for (const { id, exporters } of pipelines) {
    let behind: Next[] = []
    for (const node of nodes.exporters) {
      if (!exporters.includes(node.id)) continue
      const way = node.ways.get(id)!
      way.connect([node.consume!])
      behind.push(way.next)
    }
    const processors = nodes.processors.filter(({ pipeline }) => pipeline === id)
    for (const row of rows(processors).toReversed()) {
      for (const node of row.toReversed()) {
        node.outlet!.connect(behind)
        behind = [node.consume!]
      }
      if (row.length > 1) behind = [routes(row)]
    }
    for (const node of nodes.receivers) node.ways.get(id)?.connect(behind)
  }
  for (const node of nodes.receivers) node.outlet!.connect(Array.from(node.ways.values(), way => way.next))
}

/** Processors in a row that batches may pass at once; all others are by themselves. */
function rows(processors: readonly GraphNode[]): GraphNode[][] {
  const all: GraphNode[][] = []
  let canContinue = false
  for (const node of processors) {
    const isRouted = (node.component as Processor).step !== undefined
    if (canContinue && isRouted) all.at(-1)!.push(node)
    else all.push([node])
    canContinue = isRouted
  }
  return all
}

function keepWays(node: GraphNode, pipelines: readonly { id: string }[], create: () => Way): void {
  const wanted = new Set(pipelines.map(({ id }) => id))
  for (const [pipeline, way] of node.ways) {
    if (wanted.has(pipeline)) continue
    way.end(node.clock.now())
    node.ways.delete(pipeline)
  }
  for (const pipeline of wanted) if (!node.ways.has(pipeline)) node.ways.set(pipeline, create())
}

function used(ids: readonly string[]): string[] {
  return [...new Set(ids)]
}

export function allNodes(graph: Graph): GraphNode[] {
  return [...graph.extensions, ...graph.exporters, ...graph.processors, ...graph.receivers]
}
