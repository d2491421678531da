/** Components for tests of the graph: they do nothing of their own and note what happens to them. */
import type {
  ExporterDefinition,
  ExtensionDefinition,
  Next,
  ProcessorDefinition,
  ReceiverDefinition,
} from '../../pipeline/component.ts'
import type { ComponentConfig, LoadedConfig } from '../../pipeline/config/loaded-config.ts'
import { endBatch, type Batch, type Source } from '../../pipeline/model/batch.ts'
import { EMPTY_LABELS, labelsFrom } from '../../pipeline/model/labels.ts'
import { layoutFromSeries } from '../../pipeline/model/layout.ts'
import { metricFrom } from '../../pipeline/model/series.ts'

export type FakeWorld = {
  /** `start exporter e`, `stop receiver r`, in order. */
  readonly events: string[]
  /** The live receivers by id: give one a batch to have it handed on. */
  readonly receivers: Map<string, Next>
  /** What the exporters got, by id. */
  readonly exported: Map<string, Batch[]>
}

/** A config that the fakes understand. */
export type FakeConfig = {
  v?: number
  failStart?: string
  failConsume?: Error
  port?: string
  hangStop?: boolean
  makes?: string
}

const config = { type: 'object' } as const

export function fakeComponents(): FakeWorld & { config(parts: FakeParts): LoadedConfig } {
  const events: string[] = []
  const receivers = new Map<string, Next>()
  const exported = new Map<string, Batch[]>()

  function life(kind: string, id: string, { failStart, hangStop }: FakeConfig) {
    return {
      start() {
        events.push(`start ${kind} ${id}`)
        if (failStart !== undefined) throw new Error(failStart)
      },
      stop() {
        events.push(`stop ${kind} ${id}`)
        return hangStop ? new Promise<void>(() => {}) : undefined
      },
    }
  }

  const receiver: ReceiverDefinition = {
    type: 'fake',
    summary: '',
    config,
    example: {},
    create(options: FakeConfig, host, next) {
      const { start, stop } = life('receiver', host.id, options)
      return {
        start() {
          start()
          receivers.set(host.id, next)
        },
        stop,
      }
    },
  }
  const processor: ProcessorDefinition = {
    type: 'fake',
    summary: '',
    config,
    example: {},
    create(options: FakeConfig, host, next) {
      const made = options.makes === undefined ? undefined : { ...fakeSource(options.makes), component: host.id }
      return {
        ...life('processor', host.id, options),
        consume(batch) {
          if (options.failConsume !== undefined) throw options.failConsume
          next(batch)
          if (made !== undefined) next(fakeBatch(made))
        },
      }
    },
  }
  const exporter: ExporterDefinition = {
    type: 'fake',
    summary: '',
    config,
    example: {},
    listens: ({ port }: FakeConfig) => (port === undefined ? [] : [{ address: port, path: ['port'] }]),
    create(options: FakeConfig, host) {
      return {
        ...life('exporter', host.id, options),
        consume(batch) {
          if (options.failConsume !== undefined) throw options.failConsume
          exported.set(host.id, [...(exported.get(host.id) ?? []), batch])
        },
      }
    },
  }
  const extension: ExtensionDefinition = {
    type: 'fake',
    summary: '',
    config,
    example: {},
    create: (options: FakeConfig, host) => life('extension', host.id, options),
  }

  return {
    events,
    receivers,
    exported,
    config: parts => ({
      receivers: components(parts.receivers, receiver),
      processors: components(parts.processors, processor),
      exporters: components(parts.exporters, exporter),
      extensions: components(parts.extensions, extension),
      pipelines: new Map(
        Object.entries(parts.pipelines).map(([id, [from, through, to]]) => [
          id,
          { id, receivers: from, processors: through, exporters: to },
        ]),
      ),
      service: {
        extensions: Object.keys(parts.extensions ?? {}),
        telemetry: { metrics: { address: 'none' }, logs: { level: 'info', encoding: 'console' } },
      },
      warnings: [],
    }),
  }
}

export type FakeParts = {
  receivers?: Record<string, FakeConfig>
  processors?: Record<string, FakeConfig>
  exporters?: Record<string, FakeConfig>
  extensions?: Record<string, FakeConfig>
  /** Receivers, processors, exporters. */
  pipelines: Record<string, [string[], string[], string[]]>
}

function components<D>(
  configs: Record<string, FakeConfig> | undefined,
  definition: D,
): Map<string, ComponentConfig<D>> {
  return new Map(
    Object.entries(configs ?? {}).map(([id, options]) => [
      id,
      { id, type: 'fake', definition, config: options, fingerprint: JSON.stringify(options) },
    ]),
  )
}

export function fakeSource(name: string): Source {
  return { component: 'fake', name, labels: EMPTY_LABELS }
}

export function fakeBatch(source: Source, value = 1): Batch {
  const layout = layoutFromSeries([
    { metric: metricFrom({ name: 'a' }), labels: labelsFrom([['source', source.name]]) },
  ])
  return { source, timeMs: 0, outcome: 'ok', layout, values: Float64Array.of(value) }
}

export function fakeEnd(source: Source): Batch {
  return endBatch(source, 0, 'removed')
}
