/** All receivers. */
import type { ReceiverDefinition } from '../pipeline/component.ts'
import { dcgm } from './dcgm.ts'
import { kubeStateMetrics } from './kube-state-metrics.ts'
import { kubelet } from './kubelet.ts'
import { kubernetesApi } from './kubernetes-api.ts'
import { otlp } from './otlp.ts'
import { prometheus } from './prometheus.ts'

export const receivers: readonly ReceiverDefinition[] = [
  dcgm,
  kubeStateMetrics,
  kubelet,
  kubernetesApi,
  otlp,
  prometheus,
]
