/** `gpucol rbac`: the manifest that lets a config read what it needs of Kubernetes, and nothing else. */
import { createCatalogs } from '../catalog/catalogs.ts'
import type { RbacRule, Registries } from '../component.ts'
import { ConfigError } from '../config/config-error.ts'
import { loadConfig, type LoadedConfig } from '../config/loaded-config.ts'
import { validatorFor } from '../config/validator.ts'
import { packageFile } from '../package-files.ts'
import {
  configArguments,
  configHelp,
  configOptions,
  refusePositionals,
  UsageError,
  type Command,
  type CommandArguments,
} from './command.ts'
import { mergeRules, renderManifest, type ManifestNames } from './rbac-manifest.ts'

export const rbac: Command = {
  name: 'rbac',
  summary: 'prints the Kubernetes manifest that lets a config read what it needs.',
  help: `Usage: gpucol rbac --config FILE [--config FILE ...] [--set KEY=VALUE ...] [OPTIONS]

Prints a service account, its roles and their bindings, to be given to kubectl apply. It allows what the receivers of the config's
pipelines read, and nothing else. Nobody is asked.

${configHelp}  --name NAME      Of the roles and bindings (gpucol).
  --namespace NS   Where the service account is (gpucol).
  --service-account NAME
                   Of the service account (as --name).
`,
  options: {
    ...configOptions,
    name: { type: 'string' },
    namespace: { type: 'string' },
    'service-account': { type: 'string' },
  },
  async run(args, { registries, env, out, err }) {
    refusePositionals(args)
    const { files, set } = configArguments(args)
    const names = namesFrom(args)
    try {
      const rules = rulesOf(await loadConfig({ files, set, registries, env }))
      if (rules.size === 0) err(`${files.join(', ')}: no receiver needs to read anything of Kubernetes\n`)
      else out(manifest(rules, names, `gpucol rbac ${files.map(file => `--config ${file}`).join(' ')}`))
      return 0
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error
      err(`${error.message}\n`)
      return 2
    }
  },
}

/** For a config that has, as they are by default, all receivers that need something. */
export function exampleManifest({ receivers }: Registries): string {
  const needing = receivers.flatMap(({ type, config: schema, rbac }) => {
    const config = {}
    if (rbac !== undefined) validatorFor(schema)(config)
    return rbac === undefined ? [] : [[type, rbac(config, catalogs())] as const]
  })
  const names = { name: 'gpucol', namespace: 'gpucol', serviceAccount: 'gpucol' }
  return manifest(new Map(needing), names, 'npm run generate, for all receivers; gpucol rbac makes one for a config')
}

function manifest(rules: ReadonlyMap<string, readonly RbacRule[]>, names: ManifestNames, madeBy: string): string {
  const merged = mergeRules(rules)
  const notes = new Set(merged.flatMap(({ note = '' }) => (note === '' ? [] : note.split('\n'))))
  const head = [`What gpucol may read of a cluster. Made by: ${madeBy}.`, ...notes].map(line => `# ${line}\n`)
  return head.join('') + renderManifest(merged, names)
}

/** By the id of the receiver, of those that are in a pipeline and need something. */
function rulesOf({ receivers, pipelines }: LoadedConfig): ReadonlyMap<string, readonly RbacRule[]> {
  const used = new Set([...pipelines.values()].flatMap(pipeline => pipeline.receivers))
  const rules = new Map<string, readonly RbacRule[]>()
  for (const { id, definition, config } of receivers.values()) {
    const itsRules = used.has(id) ? (definition.rbac?.(config, catalogs()) ?? []) : []
    if (itsRules.length > 0) rules.set(id, itsRules)
  }
  return rules
}

function catalogs() {
  return createCatalogs(packageFile('configs', 'catalogs'))
}

function namesFrom({ values }: CommandArguments): ManifestNames {
  function nameFrom(option: string, otherwise: string): string {
    const value = values[option]
    const name = typeof value === 'string' ? value : otherwise
    // Kubernetes takes names with dots for some of them; digits alone would be a number in YAML.
    if (/^(?=.*[a-z])[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(name) && name.length <= 63) return name
    throw new UsageError(`--${option}: "${name}" is no name; use small letters, digits and hyphens`)
  }
  const name = nameFrom('name', 'gpucol')
  return { name, namespace: nameFrom('namespace', 'gpucol'), serviceAccount: nameFrom('service-account', name) }
}
