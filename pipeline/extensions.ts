/** All extensions, by type. One is loaded when a config has it. */
import type { ExtensionDefinition, Registry } from './component.ts'

export const extensions: Registry<ExtensionDefinition> = {
  health_check: async () => (await import('./server/health-check.ts')).healthCheck,
  web: async () => (await import('./server/web.ts')).web,
  simulator: async () => (await import('./simulator/extension.ts')).simulator,
}
