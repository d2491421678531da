/** The kubelet of each node: `/nodes/NODE/metrics/resource` and `/nodes/NODE/metrics/cadvisor`, as below `https://NODE:10250`. */
import { kubeletSample } from '../accounting.ts'
import { shownTimeMs, type Exchange, type Face } from '../face.ts'
import { createNodeFace } from '../node-face.ts'
import type { SimulatedNode } from '../node.ts'
import { createCadvisorRenderer } from './cadvisor.ts'
import { renderResourceMetrics } from './resource-metrics.ts'

const TYPE = 'text/plain; version=0.0.4; charset=utf-8; escaping=underscores'

export function createKubeletFace(nodes: readonly SimulatedNode[]): Face {
  const cadvisor = createCadvisorRenderer()
  return createNodeFace(
    'kubelet',
    nodes,
    {
      '/metrics/resource': (node, exchange) => [
        renderResourceMetrics(kubeletSample(node, exchange.timeMs), skewMs(exchange)),
      ],
      '/metrics/cadvisor': (node, exchange) =>
        cadvisor.render(node, kubeletSample(node, exchange.timeMs), exchange.timeMs, skewMs(exchange)),
    },
    TYPE,
  )
}

/** Samples are stamped by the same clock that the server shows. */
function skewMs(exchange: Exchange): number {
  return shownTimeMs(exchange) - exchange.timeMs
}
