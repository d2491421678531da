/** Nodes of a cluster that has been at work for some hours, and the text of their kubelets. */
import { kubeletSample } from '../../../../pipeline/simulator/accounting.ts'
import { createSimulatedCluster } from '../../../../pipeline/simulator/cluster.ts'
import { createCadvisorRenderer } from '../../../../pipeline/simulator/kubelet/cadvisor.ts'
import { renderResourceMetrics } from '../../../../pipeline/simulator/kubelet/resource-metrics.ts'
import type { SimulatedNode } from '../../../../pipeline/simulator/node.ts'

const START_MS = Date.parse('2026-03-02T09:00:00Z')

export const simulated = createSimulatedCluster({ seed: 2, nodes: 4, gpusPerNode: 8, startMs: START_MS })
simulated.advance(START_MS + 3 * 3_600_000 + 7000)

export function resourceText(node: SimulatedNode, skewMs = 0): string {
  return renderResourceMetrics(kubeletSample(node, simulated.timeMs), skewMs)
}

export function cadvisorText(node: SimulatedNode, skewMs = 0): string {
  return createCadvisorRenderer().render(node, kubeletSample(node, simulated.timeMs), simulated.timeMs, skewMs).join('')
}
