/** All receivers, by type. One is loaded when a config has it. */
import type { ReceiverDefinition, Registry } from '../pipeline/component.ts'

export const receivers: Registry<ReceiverDefinition> = {
  dcgm: async () => (await import('./dcgm.ts')).dcgm,
  kube_state_metrics: async () => (await import('./kube-state-metrics.ts')).kubeStateMetrics,
  kubelet: async () => (await import('./kubelet.ts')).kubelet,
  kubernetes_api: async () => (await import('./kubernetes-api.ts')).kubernetesApi,
  otlp: async () => (await import('./otlp.ts')).otlp,
  prometheus: async () => (await import('./prometheus.ts')).prometheus,
}
