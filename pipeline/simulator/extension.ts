/** A GPU cluster without GPUs, inside the process: for demonstrations, tests and benchmarks of real pipelines. */
import { defineExtension } from '../component.ts'
import type { Simulation } from './simulation.ts'
import { simulationOptions, simulatorAddresses, simulatorConfig, simulatorProblems } from './simulator-config.ts'

export const simulator = defineExtension({
  type: 'simulator',
  summary: 'Runs a simulated GPU cluster whose exporters and Kubernetes API can be used like real ones.',
  config: simulatorConfig,
  example: {
    nodes: 4,
    gpus_per_node: 8,
    seed: 1,
    faults: [{ kind: 'slow', endpoints: ['node-3'], from: '5m', for: '1m', delay: '3s' }],
  },
  check: simulatorProblems,
  listens: config => simulatorAddresses(config).map(address => ({ address, path: ['endpoint'] })),

  create(config, host) {
    const options = simulationOptions(config)
    let simulation: Simulation | undefined
    return {
      async start() {
        // Most configs have none, and need not load it.
        const { startSimulation } = await import('./simulation.ts')
        simulation = await startSimulation(options, host)
      },
      async stop(deadlineMs) {
        const closing = simulation
        simulation = undefined
        await closing?.close(deadlineMs)
      },
      describe: () => `http://${simulation?.address ?? config.endpoint}${simulation?.faces[0]?.paths()[0] ?? ''}`,
    }
  },
})
