/** Loads the code of components: of those that a config names, or of all. */
import type { Registries, Registry } from '../component.ts'
import type { SectionName } from './config-schema.ts'
import { parseId } from './ids.ts'
import type { YamlNode } from './yaml-source.ts'

type Definition<S extends SectionName> = Registries[S][number]

/** The registries, as they are in `main.ts`. */
export type AllComponents = { readonly [S in SectionName]: Registry<Definition<S>> }

/** Loads those that have a part in these trees of a config; without trees, all. */
export type LoadRegistries = (trees?: readonly YamlNode[]) => Promise<Registries>

export function registryLoader(all: AllComponents): LoadRegistries {
  return async trees => {
    const [receivers, processors, exporters, extensions] = await Promise.all([
      load(all, 'receivers', trees),
      load(all, 'processors', trees),
      load(all, 'exporters', trees),
      load(all, 'extensions', trees),
    ])
    return { receivers, processors, exporters, extensions }
  }
}

function load<S extends SectionName>(
  all: AllComponents,
  section: S,
  trees: readonly YamlNode[] | undefined,
): Promise<readonly Definition<S>[]> {
  const named = trees && typesIn(trees, section)
  const rows = Object.entries<() => Promise<Definition<S>>>(all[section])
  return Promise.all(rows.filter(([type]) => named?.has(type) ?? true).map(([, definition]) => definition()))
}

function typesIn(trees: readonly YamlNode[], section: SectionName): ReadonlySet<string> {
  const types = new Set<string>()
  for (const tree of trees) {
    const node = tree.kind === 'map' ? tree.entries.get(section)?.value : undefined
    if (node?.kind !== 'map') continue
    for (const key of node.entries.keys()) {
      const id = parseId(key)
      if ('type' in id) types.add(id.type)
    }
  }
  return types
}
