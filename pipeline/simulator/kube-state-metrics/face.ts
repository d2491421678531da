/** kube-state-metrics: at `/kube-state-metrics/metrics` or, if it has shards, at `/kube-state-metrics/0/metrics` and so on. */
import type { ClusterState } from '../cluster-state.ts'
import { sendText, type Face } from '../face.ts'
import { createShardRenderer, type KubeStateMetricsOptions } from './render.ts'

const TEXT_TYPES = { 1: 'text/plain; version=0.0.4', 2: 'text/plain; version=0.0.4; charset=utf-8' }
const OPENMETRICS = /application\/openmetrics-text(?:; ?version=(1\.0\.0|0\.0\.1))?/
const PATH = /^\/kube-state-metrics(?:\/(\d+))?\/metrics$/

/** Endpoints are called by the number of their shard. */
export function createKubeStateMetricsFace(state: ClusterState, options: KubeStateMetricsOptions): Face {
  const { version = 2 } = options
  const renderer = createShardRenderer(state, options)
  return {
    name: 'kube_state_metrics',
    endpointOf(path) {
      const match = PATH.exec(path)
      if (match === null) return undefined
      // The whole is nowhere when it is cut into shards.
      const shard = Number(match[1] ?? (options.shards === 1 ? 0 : Infinity))
      return shard < options.shards ? String(shard) : undefined
    },
    paths: () =>
      options.shards === 1
        ? ['/kube-state-metrics/metrics']
        : Array.from({ length: options.shards }, (_, shard) => `/kube-state-metrics/${shard}/metrics`),
    respond(endpoint, exchange) {
      const text = renderer.render(Number(endpoint))
      const accepted = version === 1 ? null : OPENMETRICS.exec(exchange.request.headers.accept ?? '')
      if (accepted === null) return sendText(exchange, { 'Content-Type': TEXT_TYPES[version] }, text)
      // Families keep the names and types that they have in the text format.
      const type = `application/openmetrics-text; version=${accepted[1] ?? '0.0.1'}; charset=utf-8`
      sendText(exchange, { 'Content-Type': type }, [...text, '# EOF\n'])
    },
  }
}
