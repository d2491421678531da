/**
 * The service: a graph with a life. `gpucol run` gives it the real world, `gpucol test` a virtual one; everything in between is
 * the same.
 */
import type {
  Catalogs,
  Clock,
  Cluster,
  Counters,
  Memory,
  Network,
  Processor,
  ReloadResult,
  ServiceState,
  ServiceView,
  Storage,
} from '../component.ts'
import type { LoadedConfig } from '../config/loaded-config.ts'
import type { RootLog } from '../telemetry/log.ts'
import { allNodes, buildGraph, type Graph } from './build.ts'
import { createDemand } from './demand.ts'
import { nodesOnlyIn, startNodes, startOrder, stopNodes, stopOrder } from './lifecycle.ts'
import { createStopwatch } from './stopwatch.ts'
import { createNodeFactory, statusOf, targetsOf, type HostFactory, type NodeKind } from './node.ts'
import { switchGraph } from './reload.ts'

/** How long a stopped component has to deliver what it has, when a reload takes it away. */
const RELOAD_DRAIN_MS = 2000

/** The world that a service lives in. */
export type Surroundings = {
  readonly version: string
  readonly log: RootLog
  readonly clock: Clock
  readonly network: Network
  readonly cluster: Cluster
  readonly catalogs: Catalogs
  readonly storage: Storage
  readonly memory: Memory
  /** Own telemetry of a component. */
  counters(component: { kind: NodeKind; id: string; pipeline?: string }): Counters
  /** Hears what became of a reload. */
  reloaded(outcome: 'ok' | 'failed'): void
}

export type Service = ServiceView & {
  /** Rejects with a StartError if a component cannot be started; nothing runs then. */
  start(): Promise<void>
  /** Receivers first, then what they handed on is delivered. May be called at any time and again. */
  stop(deadlineMs: number): Promise<void>
  /** Has every processor hand on what it holds back for its interval, those in front first. */
  flush(): void
  /** The config that is running. */
  readonly config: LoadedConfig
}

export function createService(
  config: LoadedConfig,
  surroundings: Surroundings,
  /** Reads the config again. Rejects with an error whose message says all that is wrong with it. */
  load: () => Promise<LoadedConfig>,
  /** At a reload, takes over what is not in the graph. Rejects, and leaves that as it was, if it cannot. */
  apply: (config: LoadedConfig) => void | Promise<void> = () => {},
): Service {
  const { log, clock } = surroundings
  const factory = createNodeFactory(hostFactory(surroundings), view(), createStopwatch(clock))
  let graph: Graph = buildGraph(config, factory)
  let state: ServiceState = 'starting'
  let lastReload: Promise<unknown> = Promise.resolve()

  function view(): ServiceView {
    return {
      version: surroundings.version,
      state: () => state,
      components: () => allNodes(graph).map(statusOf),
      targets: () => targetsOf(graph.receivers),
      reload,
    }
  }

  /** One after the other: a reload that is asked for while another runs comes after it. */
  function reload(): Promise<ReloadResult> {
    const result = lastReload.then(reloadNow)
    lastReload = result
    return result
  }

  async function reloadNow(): Promise<ReloadResult> {
    if (state !== 'running') return { ok: false, error: `the service is ${state}` }
    try {
      const loaded = await load()
      const { config } = graph
      const next = buildGraph(loaded, factory, graph)
      const changed = changesBetween(graph, next)
      await apply(loaded)
      const switched = await switchGraph(graph, next, drainDeadline, running => buildGraph(config, factory, running))
      graph = switched.graph
      if (switched.failure !== undefined) {
        await apply(config)
        throw switched.failure
      }
      surroundings.reloaded('ok')
      log.info('the config was reloaded', { changed: changed.length === 0 ? 'nothing' : changed.join(', ') })
      return { ok: true, changed }
    } catch (error) {
      surroundings.reloaded('failed')
      const message = error instanceof Error ? error.message : String(error)
      // A report has an excerpt under each problem, indented; the log has one line per problem.
      for (const line of message.split('\n').filter(line => !line.startsWith(' '))) {
        log.error(`the config was not reloaded, the one before goes on: ${line}`)
      }
      return { ok: false, error: message }
    }
  }

  const drainDeadline = (): number => clock.monotonic() + RELOAD_DRAIN_MS

  return {
    ...view(),
    get config() {
      return graph.config
    },
    flush() {
      for (const node of graph.processors) (node.component as Processor).flush?.()
    },
    async start() {
      graph.connect()
      await startNodes(startOrder(graph), drainDeadline)
      // A stop may have come meanwhile.
      if (state === 'starting') state = 'running'
    },
    async stop(deadlineMs) {
      if (state === 'stopped') return
      state = 'stopping'
      await lastReload
      await stopNodes(stopOrder(graph), deadlineMs)
      state = 'stopped'
    },
  }
}

function hostFactory(surroundings: Surroundings): HostFactory {
  const { log, clock, network, cluster, catalogs, storage, memory } = surroundings
  const demand = createDemand()
  return component => ({
    id: component.id,
    ...(component.pipeline !== undefined && { pipeline: component.pipeline }),
    log: log.child(component),
    counters: surroundings.counters(component),
    clock,
    network,
    cluster,
    catalogs,
    storage,
    memory,
    demand,
  })
}

/** What a reload did, in words: `+ exporter debug`, `- receiver dcgm/b`, `~ processor relabel`. */
function changesBetween(before: Graph, after: Graph): string[] {
  const gone = new Map([...nodesOnlyIn(before, after)].map(node => [node.key, node]))
  const changes = [...nodesOnlyIn(after, before)].map(node => `${gone.delete(node.key) ? '~' : '+'} ${node.key}`)
  return [...changes, ...Array.from(gone.keys(), key => `- ${key}`)]
}
