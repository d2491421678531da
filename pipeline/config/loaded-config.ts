/** A config that was read, merged, expanded and found to be good: what the graph is built from. */
import type {
  ExporterDefinition,
  ExtensionDefinition,
  ProcessorDefinition,
  ReceiverDefinition,
  Registries,
} from '../component.ts'
import type { ConfigProblem } from './config-error.ts'
import type { ReadFile } from './config-file.ts'

export type ComponentConfig<D> = {
  /** `type` or `type/name`, with today's spelling of the type. */
  readonly id: string
  readonly type: string
  readonly definition: D
  /** Checked against the definition's schema, with defaults filled in, frozen all the way down. */
  readonly config: unknown
  /** Equal exactly where the config is equal. It holds secrets as they are: compare it, never show it. */
  readonly fingerprint: string
}

export type PipelineConfig = {
  readonly id: string
  readonly receivers: readonly string[]
  readonly processors: readonly string[]
  readonly exporters: readonly string[]
}

export type LoadedConfig = {
  /** By id; all that are defined, used or not. */
  readonly receivers: ReadonlyMap<string, ComponentConfig<ReceiverDefinition>>
  readonly processors: ReadonlyMap<string, ComponentConfig<ProcessorDefinition>>
  readonly exporters: ReadonlyMap<string, ComponentConfig<ExporterDefinition>>
  readonly extensions: ReadonlyMap<string, ComponentConfig<ExtensionDefinition>>
  readonly pipelines: ReadonlyMap<string, PipelineConfig>
  readonly service: ServiceConfig
  readonly warnings: readonly ConfigProblem[]
}

export type ServiceConfig = {
  readonly extensions: readonly string[]
  /** The directory for state that survives a restart. */
  readonly storage?: string
  readonly telemetry: {
    readonly metrics: {
      /** `host:port`, or `none`. */
      readonly address: string
      readonly push?: PushConfig
    }
    readonly logs: {
      readonly level: 'debug' | 'info' | 'warn' | 'error'
      readonly encoding: 'console' | 'json'
    }
  }
}

/** Where own metrics are pushed to by OTLP. */
export type PushConfig = {
  /** The whole URL, as `https://otlp.example.com/v1/metrics`. */
  readonly endpoint: string
  /** A duration. */
  readonly interval: string
  readonly headers: Readonly<Record<string, string>>
}

export type LoadOptions = {
  /** Merged from left to right. */
  readonly files: readonly string[]
  /** Each `a.b=c`, applied after all files. */
  readonly set: readonly string[]
  readonly registries: Registries
  readonly env: Readonly<Record<string, string | undefined>>
  readonly readFile?: ReadFile
}

/** Throws a `ConfigError` that holds all problems, if one of them is an error. */
export async function loadConfig(_options: LoadOptions): Promise<LoadedConfig> {
  throw new Error('not yet')
}
