/** One dcgm-exporter per node, at `/nodes/NODE/metrics`. */
import { sendText, type Face } from '../face.ts'
import type { SimulatedNode } from '../node.ts'
import { generationOfNode, type GenerationName } from './generations.ts'
import { createNodeRenderer, type NodeRenderer } from './render.ts'

export type DcgmExporterOptions = {
  readonly generation: GenerationName | 'mixed'
  /** How often DCGM takes a sample: between two, readings repeat. */
  readonly collectIntervalMs: number
}

/** The type is what Go guesses: the exporter says nothing of its own. */
const HEADERS = { 'Content-Type': 'text/plain; charset=utf-8', 'X-Content-Type-Options': 'nosniff' }
const PATH = /^\/nodes\/([^/]+)\/(?:metrics|health)$/

export function dcgmExporterPath(nodeName: string): string {
  return `/nodes/${nodeName}/metrics`
}

export function createDcgmExporterFace(nodes: readonly SimulatedNode[], options: DcgmExporterOptions): Face {
  const nodesByName = new Map(nodes.map(node => [node.name, node]))
  const renderers = new Map<string, NodeRenderer>()

  function rendererOf(name: string): NodeRenderer {
    let renderer = renderers.get(name)
    if (renderer === undefined) {
      const node = nodesByName.get(name)!
      renderer = createNodeRenderer(node, generationOfNode(options.generation, node.index), options.collectIntervalMs)
      renderers.set(name, renderer)
    }
    return renderer
  }

  return {
    name: 'dcgm_exporter',
    endpointOf(path) {
      const name = PATH.exec(path)?.[1]
      return name !== undefined && nodesByName.has(name) ? name : undefined
    },
    paths: () => nodes.map(node => dcgmExporterPath(node.name)),
    respond(endpoint, exchange) {
      const text = exchange.path.endsWith('/health') ? 'OK' : rendererOf(endpoint).render(exchange.timeMs)
      sendText(exchange, HEADERS, [text])
    },
  }
}
