/** One component in the running graph: what was created, what it was created from, and where its batches go. */
import type {
  Clock,
  ComponentStatus,
  Exporter,
  ExporterDefinition,
  ExtensionDefinition,
  Host,
  Next,
  Processor,
  ProcessorDefinition,
  Receiver,
  ReceiverDefinition,
  ServiceView,
  Targets,
} from '../component.ts'
import type { ComponentConfig } from '../config/loaded-config.ts'
import type { ComponentLog } from '../telemetry/log.ts'
import { createOutlet, watchOwn, type Outlet, type Way } from './fan-out.ts'
import { observeExporter, observeProcessor, observeReceiver, type Passages } from './observe.ts'
import { createRoutes } from './routes.ts'
import type { Stopwatch } from './stopwatch.ts'

export type NodeKind = ComponentStatus['kind']

export type GraphNode = {
  readonly kind: NodeKind
  readonly id: string
  readonly pipeline?: string
  /** Unique in a graph; equal in two graphs for what is the same component to the user. */
  readonly key: string
  /** What it was made from: a node with the same key and fingerprint is kept over a reload. */
  readonly fingerprint: string
  /** Addresses that it listens on while it runs. */
  readonly listens: readonly string[]
  readonly component: Receiver | Processor | Exporter
  /** What a batch goes into; receivers and extensions have none. */
  readonly consume?: Next
  /** Where its batches go; exporters and extensions have none. */
  readonly outlet?: Outlet
  /** Of a processor: tells of what goes through it on a route. */
  readonly passages?: Passages
  /** Of a processor: ends what it has made itself, behind it. */
  readonly endOwn?: (timeMs: number) => void
  /** By pipeline: of a receiver those into it, of an exporter those out of it. */
  readonly ways: Map<string, Way>
  readonly log: ComponentLog
  readonly clock: Clock
  state: 'created' | 'starting' | 'running' | 'stopped'
}

/** Makes the host of a component; the service knows how. */
export type HostFactory = (component: { kind: NodeKind; id: string; pipeline?: string }) => Host & { log: ComponentLog }

export type NodeFactory = {
  receiver(config: ComponentConfig<ReceiverDefinition>): GraphNode
  processor(config: ComponentConfig<ProcessorDefinition>, pipeline: string): GraphNode
  exporter(config: ComponentConfig<ExporterDefinition>): GraphNode
  extension(config: ComponentConfig<ExtensionDefinition>): GraphNode
  /** The way into processors in a row, of which each can say what it will do. */
  routes(processors: readonly GraphNode[]): Next
}

export function createNodeFactory(hostFor: HostFactory, service: ServiceView, stopwatch: Stopwatch): NodeFactory {
  return {
    receiver(config) {
      const host = hostFor({ kind: 'receiver', id: config.id })
      const outlet = createOutlet()
      const next = observeReceiver(host, outlet.next)
      return {
        ...parts('receiver', config, host),
        component: config.definition.create(config.config, host, next),
        outlet,
      }
    },
    processor(config, pipeline) {
      const host = hostFor({ kind: 'processor', id: config.id, pipeline })
      const outlet = createOutlet()
      const own = watchOwn(config.id, outlet.next)
      const observed = observeProcessor(host, stopwatch, () => component.consume, own.next)
      const component = config.definition.create(config.config, host, observed.outgoing)
      const { incoming: consume, passages } = observed
      return { ...parts('processor', config, host, pipeline), component, outlet, consume, passages, endOwn: own.end }
    },
    exporter(config) {
      const host = hostFor({ kind: 'exporter', id: config.id })
      const component = config.definition.create(config.config, host)
      return { ...parts('exporter', config, host), component, consume: observeExporter(host, stopwatch, component) }
    },
    extension(config) {
      const host = hostFor({ kind: 'extension', id: config.id })
      return {
        ...parts('extension', config, host),
        component: config.definition.create(config.config, { ...host, service }),
      }
    },
    routes(processors) {
      const nodes = processors.map(({ component, passages }) => {
        const { step, release, refresh, tellCaughtUp } = component as Processor
        return { step: step!, release, refresh, tellCaughtUp, passages: passages! }
      })
      return createRoutes(nodes, processors[0]!.consume!, processors.at(-1)!.outlet!.next, stopwatch)
    },
  }
}

export function nodeKey(kind: NodeKind, id: string, pipeline?: string): string {
  return [kind, ...(pipeline === undefined ? [] : [pipeline]), id].join(' ')
}

function parts(
  kind: NodeKind,
  {
    id,
    fingerprint,
    definition,
    config,
  }: ComponentConfig<ReceiverDefinition | ExporterDefinition | ExtensionDefinition>,
  host: Host & { log: ComponentLog },
  pipeline?: string,
) {
  return {
    kind,
    id,
    ...(pipeline !== undefined && { pipeline }),
    key: nodeKey(kind, id, pipeline),
    fingerprint,
    listens: definition.listens?.(config).map(({ address }) => address) ?? [],
    ways: new Map<string, Way>(),
    log: host.log,
    clock: host.clock,
    state: 'created' as const,
  }
}

export function statusOf(node: GraphNode): ComponentStatus {
  const { kind, id, pipeline } = node
  const failing = node.log.failing()
  const about = node.state === 'running' ? node.component.describe?.() : undefined
  return {
    kind,
    id,
    ...(pipeline !== undefined && { pipeline }),
    state: stateOf(node, failing.length > 0),
    ...(failing.length > 0 && { message: failing.map(({ subject, message }) => `${subject}: ${message}`).join('; ') }),
    ...(about !== undefined && { about }),
  }
}

/** By id, of the receivers that have any. */
export function targetsOf(receivers: readonly GraphNode[]): Map<string, Targets> {
  const targets = new Map<string, Targets>()
  for (const { id, component } of receivers) {
    const its = (component as Receiver).targets?.()
    if (its !== undefined) targets.set(id, its)
  }
  return targets
}

function stateOf({ state }: GraphNode, isFailing: boolean): ComponentStatus['state'] {
  if (state === 'stopped') return 'stopped'
  if (state !== 'running') return 'starting'
  return isFailing ? 'failing' : 'ok'
}
