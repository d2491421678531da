/** One node-exporter per node, at `/nodes/NODE/node-exporter/metrics`. */
import { shownTimeMs, type Face } from '../face.ts'
import { createNodeFace } from '../node-face.ts'
import type { SimulatedNode } from '../node.ts'
import { renderNodeExporter } from './render.ts'

const TYPE = 'text/plain; version=0.0.4; charset=utf-8; escaping=underscores'

export function createNodeExporterFace(nodes: readonly SimulatedNode[]): Face {
  return createNodeFace(
    'node_exporter',
    nodes,
    {
      '/node-exporter/metrics': (node, exchange) => [renderNodeExporter(node, exchange.timeMs, shownTimeMs(exchange))],
    },
    TYPE,
  )
}
