/** What the exporters have: of every source the latest batch. The exporters of a config work as always and are listened to. */
import type { ExporterDefinition } from '../component.ts'
import type { ComponentConfig, LoadedConfig } from '../config/loaded-config.ts'
import type { Batch, Source } from '../model/batch.ts'

export type ExportedState = {
  /** By id of the exporter; only batches that are `ok`, since the others end what their source had. */
  readonly batches: ReadonlyMap<string, ReadonlyMap<Source, Batch>>
}

/** The same config with exporters that are listened to. */
export function listenToExporters(config: LoadedConfig): { config: LoadedConfig; state: ExportedState } {
  const batches = new Map<string, Map<Source, Batch>>()
  const exporters = new Map<string, ComponentConfig<ExporterDefinition>>()
  for (const [id, component] of config.exporters) {
    const latest = new Map<Source, Batch>()
    batches.set(id, latest)
    exporters.set(id, { ...component, definition: listenTo(component.definition, latest) })
  }
  return { config: { ...config, exporters }, state: { batches } }
}

function listenTo(definition: ExporterDefinition, latest: Map<Source, Batch>): ExporterDefinition {
  return {
    ...definition,
    create(config, host) {
      const exporter = definition.create(config, host)
      return {
        start: () => exporter.start?.(),
        stop: deadlineMs => exporter.stop?.(deadlineMs),
        consume(batch) {
          if (batch.outcome === 'ok') latest.set(batch.source, batch)
          else latest.delete(batch.source)
          exporter.consume(batch)
        },
      }
    },
  }
}
