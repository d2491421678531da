/** All processors there are. */
import type { ProcessorDefinition } from '../pipeline/component.ts'
import { joinWorkload } from './join-workload.ts'
import { normalize } from './normalize.ts'
import { relabel } from './relabel.ts'
import { rename } from './rename.ts'
import { rollUp } from './roll-up.ts'

export const processors: readonly ProcessorDefinition[] = [normalize, joinWorkload, rollUp, relabel, rename]
