/** All processors, by type. One is loaded when a config has it. */
import type { ProcessorDefinition, Registry } from '../pipeline/component.ts'

export const processors: Registry<ProcessorDefinition> = {
  normalize: async () => (await import('./normalize.ts')).normalize,
  join_workload: async () => (await import('./join-workload.ts')).joinWorkload,
  roll_up: async () => (await import('./roll-up.ts')).rollUp,
  relabel: async () => (await import('./relabel.ts')).relabel,
  rename: async () => (await import('./rename.ts')).rename,
  filter: async () => (await import('./filter.ts')).filter,
  set_labels: async () => (await import('./set-labels.ts')).setLabels,
  convert_units: async () => (await import('./convert-units.ts')).convertUnits,
  limit_cardinality: async () => (await import('./limit-cardinality.ts')).limitCardinality,
  cumulative_to_delta: async () => (await import('./cumulative-to-delta.ts')).cumulativeToDelta,
  memory_limiter: async () => (await import('./memory-limiter.ts')).memoryLimiter,
}
