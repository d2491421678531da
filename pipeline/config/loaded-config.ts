/** A config that was read, merged, expanded and found to be good: what the graph is built from. */
import type {
  ExporterDefinition,
  ExtensionDefinition,
  ProcessorDefinition,
  ReceiverDefinition,
  Registries,
} from '../component.ts'
import { deepFreeze } from './plain-object.ts'
import { checkConfig } from './check-config.ts'
import { ConfigError, type ConfigProblem } from './config-error.ts'
import type { ReadFile } from './config-file.ts'
import { configSchema, type SectionName } from './config-schema.ts'
import type { LoadRegistries } from './load-registries.ts'
import type { Definition, Section } from './load-section.ts'
import { problemsFrom } from './problems.ts'
import { resolveConfig, type ResolvedConfig } from './resolve-config.ts'
import { findSecrets } from './secrets.ts'
import type { Source } from './source.ts'

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
  readonly registries: Registries | LoadRegistries
  readonly env: Readonly<Record<string, string | undefined>>
  readonly readFile?: ReadFile
}

/** Throws a `ConfigError` that holds all problems, if one of them is an error. */
export async function loadConfig({ registries, ...options }: LoadOptions): Promise<LoadedConfig> {
  const resolved = resolveConfig(options)
  if (typeof registries !== 'function') return loadResolved(resolved, registries)
  const { roots, root = [] } = resolved
  try {
    return loadResolved(resolved, await registries(roots.concat(root)))
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    // Messages also tell what else there is, and by which older names.
    return loadResolved(resolved, await registries())
  }
}

function loadResolved(resolved: ResolvedConfig, registries: Registries): LoadedConfig {
  const { root, roots, findings: reading } = resolved
  const schema = configSchema(registries)
  if (root === undefined) throw new ConfigError(problemsFrom(reading, findSecrets(roots, schema, reading)))

  const sources = [...new Set(roots.map(({ place }) => place.source))]
  const order = (source: Source) => (sources.includes(source) ? sources.indexOf(source) : sources.length)
  const { sections, usage, service, findings } = checkConfig(root, registries, order)
  const problems = problemsFrom([...reading, ...findings], findSecrets([...roots, root], schema, reading))
  if (problems.some(({ severity }) => severity === 'error')) throw new ConfigError(problems)
  const { storage, telemetry } = service
  deepFreeze(telemetry)
  return {
    receivers: componentsOf(sections.receivers),
    processors: componentsOf(sections.processors),
    exporters: componentsOf(sections.exporters),
    extensions: componentsOf(sections.extensions),
    pipelines: usage.pipelines,
    service: { extensions: usage.extensions, ...(storage !== undefined && { storage }), telemetry },
    warnings: problems,
  }
}

function componentsOf<S extends SectionName>({ components }: Section<S>): Map<string, ComponentConfig<Definition<S>>> {
  return new Map(Array.from(components, ([id, { component }]) => [id, component]))
}
