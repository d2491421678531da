/** A config made of processors alone: in front of them what hands on the input of each step, behind them nothing. */
import { defineExporter, defineReceiver, type ConfigSchema, type Next, type Registries } from '../component.ts'
import { checkConfig } from '../config/check-config.ts'
import type { Finding } from '../config/finding.ts'
import type { LoadedConfig } from '../config/loaded-config.ts'
import type { Place } from '../config/source.ts'
import type { YamlEntry, YamlList, YamlMap, YamlNode } from '../config/yaml-source.ts'
import { createTextReader } from '../formats/prometheus-text.ts'
import type { Source } from '../model/batch.ts'
import { EMPTY_LABELS } from '../model/labels.ts'
import { expandReferences, type Environment } from './test-expander.ts'

export type ProcessorsConfig = {
  readonly config: LoadedConfig
  /** Gives Prometheus text to the first processor. */
  give(text: Uint8Array, timeMs: number): void
}

const INPUT = 'input'
const OUTPUT = 'output'

/** The list is as the schema of test files wants it. With an error in the findings the config is of no use. */
export function processorsConfig(
  processors: YamlEntry,
  registries: Registries,
  env: Environment,
  report: (finding: Finding) => void,
): ProcessorsConfig {
  const written = configTree(processors.keyPlace, byId(processors.value as YamlList, report))
  const root = expandReferences(written, env, report) as YamlMap
  const { receiver, give } = createInput()
  const known: Registries = {
    ...registries,
    receivers: [...registries.receivers, receiver],
    exporters: [...registries.exporters, output],
  }
  const { sections, usage, service, findings } = checkConfig(root, known, () => 0)
  findings.forEach(report)
  const config: LoadedConfig = {
    receivers: componentsOf(sections.receivers),
    processors: componentsOf(sections.processors),
    exporters: componentsOf(sections.exporters),
    extensions: new Map(),
    pipelines: usage.pipelines,
    service: { extensions: [], telemetry: service.telemetry },
    warnings: [],
  }
  return { config, give }
}

function byId(list: YamlList, report: (finding: Finding) => void): Map<string, YamlEntry> {
  const entries = new Map<string, YamlEntry>()
  for (const item of list.items) {
    for (const [id, entry] of (item as YamlMap).entries) {
      if (entries.has(id)) {
        const message = `a second \`${id}\`; give it a name, as in \`${id.split('/')[0]}/second\``
        report({ place: entry.keyPlace, message })
      } else entries.set(id, entry)
    }
  }
  return entries
}

/** Everything that nobody wrote stands where the processors do. */
function configTree(place: Place, processors: ReadonlyMap<string, YamlEntry>): YamlMap {
  const map = (entries: Record<string, YamlNode>): YamlMap => ({
    kind: 'map',
    place,
    entries: new Map(Object.entries(entries).map(([key, value]) => [key, { keyPlace: place, value }])),
  })
  const text = (value: string, at = place): YamlNode => ({ kind: 'scalar', place: at, value, spelling: value })
  const list = (items: YamlNode[]): YamlNode => ({ kind: 'list', place, items })
  const ids = Array.from(processors, ([id, { keyPlace }]) => text(id, keyPlace))
  return map({
    receivers: map({ [INPUT]: map({}) }),
    processors: { kind: 'map', place, entries: processors },
    exporters: map({ [OUTPUT]: map({}) }),
    service: map({
      pipelines: map({
        metrics: map({ receivers: list([text(INPUT)]), processors: list(ids), exporters: list([text(OUTPUT)]) }),
      }),
      telemetry: map({ metrics: map({ address: text('none') }), logs: map({ level: text('debug') }) }),
    }),
  })
}

const nothing = { type: 'object', properties: {}, additionalProperties: false } as const satisfies ConfigSchema

function createInput() {
  const reader = createTextReader()
  const source: Source = { component: INPUT, name: INPUT, labels: EMPTY_LABELS }
  let handOn: Next = () => {}
  const receiver = defineReceiver({
    type: INPUT,
    summary: 'Hands on what a step of a config test says.',
    config: nothing,
    example: {},
    create(_, _host, next) {
      handOn = next
      return {}
    },
  })
  return {
    receiver,
    give(text: Uint8Array, timeMs: number): void {
      reader.begin('text')
      reader.push(text)
      const { layout, values, times } = reader.finish()
      handOn({ source, timeMs, outcome: 'ok', layout, values, ...(times && { times }) })
    },
  }
}

const output = defineExporter({
  type: OUTPUT,
  summary: 'Takes what comes out of the processors of a config test.',
  config: nothing,
  example: {},
  create: () => ({ consume() {} }),
})

function componentsOf<C>({ components }: { components: ReadonlyMap<string, { component: C }> }): Map<string, C> {
  return new Map(Array.from(components, ([id, { component }]) => [id, component]))
}
