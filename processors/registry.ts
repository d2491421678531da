/** All processors there are. */
import type { ProcessorDefinition } from '../pipeline/component.ts'
import { convertUnits } from './convert-units.ts'
import { cumulativeToDelta } from './cumulative-to-delta.ts'
import { filter } from './filter.ts'
import { joinWorkload } from './join-workload.ts'
import { limitCardinality } from './limit-cardinality.ts'
import { memoryLimiter } from './memory-limiter.ts'
import { normalize } from './normalize.ts'
import { relabel } from './relabel.ts'
import { rename } from './rename.ts'
import { rollUp } from './roll-up.ts'
import { setLabels } from './set-labels.ts'

export const processors: readonly ProcessorDefinition[] = [
  normalize,
  joinWorkload,
  rollUp,
  relabel,
  rename,
  filter,
  setLabels,
  convertUnits,
  limitCardinality,
  cumulativeToDelta,
  memoryLimiter,
]
