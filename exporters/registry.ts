/** All exporters, by type. One is loaded when a config has it. */
import type { ExporterDefinition, Registry } from '../pipeline/component.ts'

export const exporters: Registry<ExporterDefinition> = {
  prometheus: async () => (await import('./prometheus.ts')).prometheus,
  otlp_http: async () => (await import('./otlp-http.ts')).otlpHttp,
  prometheus_remote_write: async () => (await import('./prometheus-remote-write.ts')).prometheusRemoteWrite,
  file: async () => (await import('./file.ts')).file,
  debug: async () => (await import('./debug.ts')).debug,
}
