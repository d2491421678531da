/** The faces that the cluster has, one row each. */
import type { Clock } from '../component.ts'
import type { SimulatedCluster } from './cluster.ts'
import { createDcgmExporterFace, type DcgmExporterOptions } from './dcgm-exporter/face.ts'
import type { Face } from './face.ts'
import type { FaultSchedule } from './faults.ts'
import { createKubeStateMetricsFace } from './kube-state-metrics/face.ts'
import type { KubeStateMetricsOptions } from './kube-state-metrics/render.ts'
import { createKubeletFace } from './kubelet/face.ts'
import { createKubernetesFace, type KubernetesFaceOptions } from './kubernetes-face.ts'
import { createNodeExporterFace } from './node-exporter/face.ts'
import { createRunaiNodeExporterFace } from './runai-node-exporter/face.ts'

export type FaceOptions = {
  readonly dcgmExporter: DcgmExporterOptions
  readonly kubeStateMetrics: KubeStateMetricsOptions
  readonly kubernetesApi: KubernetesFaceOptions
}

export function createFaces(
  cluster: SimulatedCluster,
  { dcgmExporter, kubeStateMetrics, kubernetesApi }: FaceOptions,
  parts: { readonly faults: FaultSchedule; readonly clock: Clock },
): readonly Face[] {
  const { nodes } = cluster.state
  return [
    createDcgmExporterFace(nodes, dcgmExporter),
    createKubeStateMetricsFace(cluster.state, kubeStateMetrics),
    createKubeletFace(nodes),
    createNodeExporterFace(nodes),
    createRunaiNodeExporterFace(nodes, dcgmExporter.collectIntervalMs),
    createKubernetesFace(cluster, kubernetesApi, parts),
  ]
}
