/** Reads one section of a config (`receivers`, `processors`, `exporters`, `extensions`) and checks each component in it. */
import type { Problem, Registries } from '../component.ts'
import { canonicalJson, deepFreeze } from './plain-object.ts'
import { checkValue, type CheckedValue } from './check-value.ts'
import { closest } from './closest.ts'
import { KINDS, SECTIONS, type SectionName } from './config-schema.ts'
import { nodeAt, placeOfKey, placeOfValue } from './entry-path.ts'
import type { Finding } from './finding.ts'
import { formatId, parseId } from './ids.ts'
import type { ComponentConfig } from './loaded-config.ts'
import type { Schema } from './schema-walk.ts'
import type { YamlEntry } from './yaml-source.ts'

export type Definition<S extends SectionName> = Registries[S][number]

export type Section<S extends SectionName> = {
  readonly components: ReadonlyMap<string, LoadedComponent<S>>
  /** Ids that are mentioned, also those of components that could not be understood. */
  readonly ids: ReadonlySet<string>
  /** The id with today's spelling of its type. */
  normalize(id: string): string
  /** Nobody knows what is in it, so nothing can be said to be missing. */
  readonly isUnknown: boolean
}

export type LoadedComponent<S extends SectionName> = {
  readonly component: ComponentConfig<Definition<S>>
  readonly entry: YamlEntry
  readonly isGood: boolean
}

export function loadSection<S extends SectionName>(
  section: S,
  root: ReadonlyMap<string, YamlEntry>,
  registries: Registries,
  report: (finding: Finding) => void,
): Section<S> {
  const components = new Map<string, LoadedComponent<S>>()
  const ids = new Set<string>()
  const definitions = registries[section] as readonly Definition<S>[]
  const node = root.get(section)?.value

  function load(key: string, entry: YamlEntry): void {
    const id = parseId(key)
    if ('problem' in id) {
      ids.add(key.replace(/\s/g, ''))
      return report({ place: entry.keyPlace, message: id.problem, suggestion: id.suggestion })
    }
    const definition = find(definitions, id.type)
    if (definition === undefined) {
      ids.add(key)
      return report({ place: entry.keyPlace, ...unknownType(section, id.type, registries) })
    }
    const normalized = formatId({ ...id, type: definition.type })
    if (definition.type !== id.type) {
      const message = `\`${id.type}\` is an older name of \`${definition.type}\``
      report({ place: entry.keyPlace, message, severity: 'warning' })
    }
    if (ids.has(normalized))
      return report({ place: entry.keyPlace, message: `${KINDS[section]} \`${normalized}\` is defined twice` })
    ids.add(normalized)
    components.set(normalized, loadComponent(normalized, definition, entry, report))
  }

  if (node?.kind === 'map') for (const [key, entry] of node.entries) load(key, entry)
  else if (node?.kind === 'list' || (node?.kind === 'scalar' && node.value !== null))
    report({ place: node.place, message: `\`${section}\` must be a map of ids and their configs` })

  return {
    components,
    ids,
    isUnknown: node !== undefined && node.kind !== 'map' && !(node.kind === 'scalar' && node.value === null),
    normalize(text) {
      const id = parseId(text)
      if ('problem' in id) return text
      return formatId({ ...id, type: find(definitions, id.type)?.type ?? id.type })
    },
  }
}

function find<D extends { type: string; aliases?: readonly string[] }>(definitions: readonly D[], type: string) {
  return definitions.find(one => one.type === type) ?? definitions.find(one => one.aliases?.includes(type))
}

function unknownType(
  section: SectionName,
  type: string,
  registries: Registries,
): { message: string; suggestion?: string } {
  const elsewhere = SECTIONS.find(other => other !== section && find<Definition<SectionName>>(registries[other], type))
  const message = `unknown ${KINDS[section]} \`${type}\``
  const types = registries[section].map(one => one.type)
  const suggestion = closest(type, types)
  if (suggestion !== undefined) return { message, suggestion }
  if (elsewhere !== undefined) return { message: `${message}; there is such ${article(KINDS[elsewhere])}` }
  return { message: `${message}; there are ${types.join(', ')}` }
}

function article(noun: string): string {
  return `${/^[aeiou]/.test(noun) ? 'an' : 'a'} ${noun}`
}

function loadComponent<S extends SectionName>(
  id: string,
  definition: Definition<S>,
  entry: YamlEntry,
  report: (finding: Finding) => void,
): LoadedComponent<S> {
  const checked = checkValue(entry, id, definition.config as Schema)
  const { value: config, isGood: isSound, findings } = checked
  for (const finding of findings) report(finding)
  deepFreeze(config)
  const found = problemsOf(definition, checked)
  // Beside a misspelt key only what is written wrongly is a mistake: what is missing may be what the key was meant to be.
  const problems = isSound ? found : found.filter(({ path }) => nodeAt(entry, path)?.kind === 'scalar')
  for (const { path, message, isOfKey } of problems) {
    report({ place: isOfKey === true ? placeOfKey(entry, path) : placeOfValue(entry, path), message })
  }
  const component = { id, type: definition.type, definition, config, fingerprint: canonicalJson(config) }
  return { component, entry, isGood: isSound && problems.length === 0 }
}

/** What is wrong beside what its schema does not like. */
function problemsOf({ check, checksEach: list }: Definition<SectionName>, checked: CheckedValue): readonly Problem[] {
  if (check === undefined || checked.isReadable) return check?.(checked.value) ?? []
  const part = checked.soundPart(list)
  if (part === undefined) return []
  const problems = check(part.value).filter(({ path }) => !part.broken.has(String(path[0])))
  return problems.map(({ path, ...problem }) => ({
    ...problem,
    path: path[0] === list && typeof path[1] === 'number' ? [list!, part.items[path[1]]!, ...path.slice(2)] : path,
  }))
}
