/** A GPU cluster without GPUs, inside the process: for demonstrations, tests and benchmarks of real pipelines. */
import { defineExtension, type ConfigSchema, type Listener } from '../component.ts'
import { duration, endpoint as endpointField, parseDuration } from '../config/fields.ts'
import { createSimulatedCluster } from './cluster.ts'
import { createDcgmExporterFace } from './dcgm-exporter/face.ts'
import { GENERATIONS } from './dcgm-exporter/generations.ts'
import { createRequestHandler } from './server.ts'

const config = {
  type: 'object',
  properties: {
    nodes: {
      type: 'integer',
      minimum: 1,
      maximum: 25_000,
      default: 4,
      description: 'How many nodes the cluster has.',
    },
    gpus_per_node: {
      type: 'integer',
      minimum: 1,
      maximum: 16,
      default: 8,
      description: 'How many GPUs each node has.',
    },
    seed: { type: 'integer', minimum: 0, default: 1, description: 'The same seed gives the same cluster.' },
    endpoint: endpointField(
      'Address of all servers of the cluster. The dcgm-exporter of a node is at /nodes/NODE/metrics; nodes are called node-0, node-1 and so on.',
      '127.0.0.1:19400',
    ),
    generation: {
      enum: [...GENERATIONS, 'mixed'],
      default: '4.8',
      description: 'Whose text the dcgm-exporters speak: that of one version, or each node that of another.',
    },
    collect_interval: duration('How often DCGM takes a sample; between two, readings repeat.', '10s'),
  },
} as const satisfies ConfigSchema

export const simulator = defineExtension({
  type: 'simulator',
  summary: 'Runs a simulated GPU cluster whose exporters can be scraped.',
  config,
  example: { nodes: 4, gpus_per_node: 8, seed: 1 },
  listens: ({ endpoint }) => [{ address: endpoint, path: ['endpoint'] }],

  create(config, host) {
    const stepMs = 1000
    let listener: Listener | undefined
    return {
      async start() {
        const startMs = Math.floor(host.clock.now() / 3_600_000) * 3_600_000
        const { nodes, gpus_per_node: gpusPerNode, seed } = config
        const cluster = createSimulatedCluster({ nodes, gpusPerNode, seed, startMs })
        const collectIntervalMs = parseDuration(config.collect_interval)
        const faces = [
          createDcgmExporterFace(cluster.state.nodes, { generation: config.generation, collectIntervalMs }),
        ]
        function present(): number {
          cluster.advance(Math.max(cluster.timeMs, Math.floor(host.clock.now() / stepMs) * stepMs))
          return cluster.timeMs
        }
        listener = await host.network.listen(config.endpoint, createRequestHandler(faces, present))
        host.log.info(`a simulated cluster of ${nodes} nodes is at http://${listener.address}/nodes/node-0/metrics`)
      },
      async stop(deadlineMs) {
        const closing = listener
        listener = undefined
        await closing?.close(deadlineMs)
      },
    }
  },
})
