/** The cluster, its faces and its clock, put together: what the extension and the command run. */
import type { Clock, Network } from '../component.ts'
import { createSimulatedCluster, type NodeEvents, type SimulatedCluster } from './cluster.ts'
import type { Face, FaceName } from './face.ts'
import { createFaces, type FaceOptions } from './faces.ts'
import { FaultSchedule, type Fault } from './faults.ts'
import { createNodeListeners } from './node-listeners.ts'
import { nodeName } from './node.ts'
import { createRequestHandler, type Served } from './server.ts'
import { createSimulatedClock } from './simulated-clock.ts'

export type SimulationOptions = FaceOptions & {
  readonly nodes: number
  readonly gpusPerNode: number
  readonly seed: number
  /** `host:port` of the listener for everything. */
  readonly endpoint: string
  /** Whether each node also has a listener of its own, on the ports after that. */
  readonly nodePorts: boolean
  /** What the simulated clock shows at first; without it, the time of the machine. */
  readonly startMs?: number
  /** Simulated seconds in a second; 0 lets the clock stand. */
  readonly speed: number
  readonly faults: readonly Fault[]
}

export type Simulation = {
  readonly cluster: SimulatedCluster
  readonly faces: readonly Face[]
  /** `host:port` with the true port. */
  readonly address: string
  /** Of the listeners of single nodes, in the order of nodes. */
  readonly nodeAddresses: readonly string[]
  readonly served: Readonly<Served>
  close(deadlineMs: number): Promise<void>
}

/** How often the cluster goes on while nobody asks, so that those who watch hear of it. */
const TICK_MS = 1000

export async function startSimulation(
  options: SimulationOptions,
  { clock, network }: { readonly clock: Clock; readonly network: Network },
): Promise<Simulation> {
  const time = createSimulatedClock(clock, options)
  const faults = new FaultSchedule(options.faults, time.startMs)
  const cluster = createSimulatedCluster({
    ...options,
    startMs: time.historyStartMs,
    // A restart of dcgm-exporter goes with a reload of the driver, one of the others with a boot of the node.
    driverReloads: restarts(options, faults, 'dcgm_exporter'),
    reboots: [...restarts(options, faults, 'kubelet'), ...restarts(options, faults, 'node_exporter')],
  })
  const faces = createFaces(cluster, options, { faults, clock })

  function present(): number {
    const now = time.now()
    if (now > cluster.timeMs) {
      cluster.advance(now)
      for (const face of faces) face.passTime?.(now)
    }
    return cluster.timeMs
  }
  const served: Served = { requests: 0, bytes: 0 }
  const parts = { faces, faults, clock, present, served }
  // A large cluster takes its time to come to the present: not that of the first who asks.
  present()
  const listener = await network.listen(options.endpoint, createRequestHandler(parts))
  const nodes = createNodeListeners({ network, clock, parts, endpoint: options.endpoint })
  if (options.nodePorts) {
    try {
      await nodes.open(cluster.state.nodes)
    } catch (error) {
      await Promise.all([listener.close(clock.monotonic()), nodes.close(clock.monotonic())])
      throw error
    }
  }

  let cancelTick = clock.after(TICK_MS, tick)
  function tick(): void {
    nodes.misbehave(present())
    cancelTick = clock.after(TICK_MS, tick)
  }

  return {
    cluster,
    faces,
    address: listener.address,
    nodeAddresses: nodes.addresses,
    served,
    async close(deadlineMs) {
      cancelTick()
      for (const face of faces) face.close?.()
      await Promise.all([listener.close(deadlineMs), nodes.close(deadlineMs)])
    },
  }
}

function restarts({ nodes }: SimulationOptions, faults: FaultSchedule, face: FaceName): NodeEvents[] {
  if (!faults.faults.some(fault => fault.kind === 'restart' && fault.face === face)) return []
  return Array.from({ length: nodes }, (_, index) => ({
    nodeName: nodeName(index),
    timesMs: faults.restarts(face, nodeName(index)),
  }))
}
