/** The faces that the cluster has, one row each. */
import type { Clock } from '../component.ts'
import type { SimulatedCluster } from './cluster.ts'
import { createDcgmExporterFace, type DcgmExporterOptions } from './dcgm-exporter/face.ts'
import type { Face } from './face.ts'
import type { FaultSchedule } from './faults.ts'
import { createKubeStateMetricsFace } from './kube-state-metrics/face.ts'
import type { KubeStateMetricsOptions } from './kube-state-metrics/render.ts'
import { createKubernetesFace } from './kubernetes-face.ts'

export type FaceOptions = {
  readonly dcgmExporter: DcgmExporterOptions
  readonly kubeStateMetrics: KubeStateMetricsOptions
}

export function createFaces(
  cluster: SimulatedCluster,
  { dcgmExporter, kubeStateMetrics }: FaceOptions,
  { faults, clock }: { readonly faults: FaultSchedule; readonly clock: Clock },
): readonly Face[] {
  return [
    createDcgmExporterFace(cluster.state.nodes, dcgmExporter),
    createKubeStateMetricsFace(cluster.state, kubeStateMetrics),
    createKubernetesFace(cluster, faults, clock),
  ]
}
