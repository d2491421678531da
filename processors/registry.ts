/** All processors there are. */
import type { ProcessorDefinition } from '../pipeline/component.ts'

export const processors: readonly ProcessorDefinition[] = []
