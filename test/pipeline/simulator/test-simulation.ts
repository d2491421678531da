/** A simulation on a clock that stands still, behind real listeners. */
import { createVirtualClock, type VirtualClock } from '../../../pipeline/clock/virtual-clock.ts'
import { createNetwork } from '../../../pipeline/http/network.ts'
import { validatorFor } from '../../../pipeline/config/validator.ts'
import { startSimulation, type Simulation } from '../../../pipeline/simulator/simulation.ts'
import {
  simulationOptions,
  simulatorConfig,
  type SimulatorConfig,
} from '../../../pipeline/simulator/simulator-config.ts'

export const START_MS = Date.parse('2026-03-02T09:00:00Z')

export type TestSimulation = Simulation & {
  readonly clock: VirtualClock
  /** The text at a path, at the present of the clock. */
  text(path: string): Promise<string>
  end(): Promise<void>
}

/** Config as users write it. Listens on any port, and on none for single nodes unless told. */
export async function startTestSimulation(
  config: Record<string, unknown> = {},
  startMs = START_MS,
): Promise<TestSimulation> {
  const clock = createVirtualClock(startMs)
  const network = createNetwork(clock)
  const complete = structuredClone({ endpoint: '127.0.0.1:0', node_ports: false, ...config })
  const [error] = validatorFor(simulatorConfig)(complete)
  if (error !== undefined) throw new Error(`${error.instancePath} ${error.message}`)
  const simulation = await startSimulation(simulationOptions(complete as unknown as SimulatorConfig), {
    clock,
    network,
  })
  return {
    ...simulation,
    clock,
    async text(path) {
      const response = await fetch(`http://${simulation.address}${path}`)
      if (response.status !== 200) throw new Error(`${path} is answered with ${response.status}`)
      return response.text()
    },
    async end() {
      await simulation.close(clock.monotonic())
      await network.close()
    },
  }
}
