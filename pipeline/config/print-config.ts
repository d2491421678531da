/** Prints a config as YAML, after merging and expansion, with secrets masked. */
import { stringify } from 'yaml'
import type { Registries } from '../component.ts'
import { checkConfig } from './check-config.ts'
import { ConfigError } from './config-error.ts'
import { configSchema, SECTIONS } from './config-schema.ts'
import { maskUrls, REDACTED } from './mask-line.ts'
import { setOwn } from './plain-object.ts'
import { plainValue } from './plain-value.ts'
import { problemsFrom } from './problems.ts'
import { resolveConfig, type ResolveOptions } from './resolve-config.ts'
import { findSecrets, secrecyBelow, type Secrecy } from './secrets.ts'
import { YAML_OPTIONS } from './yaml-dialect.ts'
import type { YamlMap } from './yaml-source.ts'

export type PrintOptions = ResolveOptions & { readonly registries: Registries; readonly withDefaults: boolean }

/** Throws a `ConfigError` for what prevents merging and expansion. Other mistakes are printed like everything else. */
export function printConfig(options: PrintOptions): string {
  const { registries, withDefaults } = options
  const { root, roots, findings } = resolveConfig(options)
  const schema = configSchema(registries)
  if (root === undefined || findings.length > 0)
    throw new ConfigError(problemsFrom(findings, findSecrets(roots, schema, findings)))
  const config = plainValue(root, [schema])
  if (withDefaults) addDefaults(config as Record<string, unknown>, root, registries)
  return stringify(redact(config, { schemas: [schema], isSecret: false }), { ...YAML_OPTIONS, lineWidth: 0 })
}

/** What a component is not told it takes from its schema. What is wrong stays as it is. */
function addDefaults(config: Record<string, unknown>, root: YamlMap, registries: Registries): void {
  const { sections, service } = checkConfig(root, registries, () => 0)
  for (const section of SECTIONS) {
    const bodies = config[section]
    if (typeof bodies !== 'object' || bodies === null) continue
    for (const key of Object.keys(bodies)) {
      const found = sections[section].components.get(sections[section].normalize(key))
      if (found !== undefined) setOwn(bodies, key, found.component.config)
    }
  }
  config['service'] = service
}

function redact(value: unknown, secrecy: Secrecy): unknown {
  if (Array.isArray(value)) return value.map((item, index) => redact(item, secrecyBelow(secrecy, index)))
  if (typeof value === 'object' && value !== null) {
    const result = {}
    for (const [key, child] of Object.entries(value)) setOwn(result, key, redact(child, secrecyBelow(secrecy, key)))
    return result
  }
  // That there is none is no secret, and often the answer that was looked for.
  if (secrecy.isSecret && value !== null && value !== '') return REDACTED
  return typeof value === 'string' ? maskUrls(value) : value
}
