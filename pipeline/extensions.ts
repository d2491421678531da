/** All extensions there are. */
import type { ExtensionDefinition } from './component.ts'
import { healthCheck } from './server/health-check.ts'
import { web } from './server/web.ts'
import { simulator } from './simulator/extension.ts'

export const extensions: readonly ExtensionDefinition[] = [healthCheck, web, simulator]
