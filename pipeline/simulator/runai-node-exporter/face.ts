/** Run:ai's own exporter, one per node, at `/nodes/NODE/runai-node-exporter/metrics`. */
import type { Face } from '../face.ts'
import { createNodeFace } from '../node-face.ts'
import type { SimulatedNode } from '../node.ts'
import { renderRunaiNodeExporter } from './render.ts'

const TYPE = 'text/plain; version=0.0.4; charset=utf-8'

/** It reads what DCGM read, so its numbers change as often. */
export function createRunaiNodeExporterFace(nodes: readonly SimulatedNode[], collectIntervalMs: number): Face {
  return createNodeFace(
    'runai_node_exporter',
    nodes,
    {
      '/runai-node-exporter/metrics': (node, { timeMs }) => [renderRunaiNodeExporter(node, timeMs, collectIntervalMs)],
    },
    TYPE,
  )
}
