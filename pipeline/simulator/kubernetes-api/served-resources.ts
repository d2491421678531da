/** Which resources the API has just now: what every server has, what is declared, defined or seen. */
import type { ObjectStore } from './object-store.ts'
import { BUILT_IN_RESOURCES, parseApiVersion, resourceOf, type Resource } from './resources.ts'

export type ServedResources = {
  find(group: string, version: string, plural: string): Resource | undefined
  /** Built-in ones first, then by name; in each the resources by plural. */
  groups(): ReadonlyMap<string, readonly Resource[]>
}

export type ServedResourcesOptions = {
  /** Serve the kinds of every API server even while there are no objects of them. */
  readonly builtIn?: boolean
  /** Serve these kinds even while there are no objects of them, as if their definitions were installed. */
  readonly kinds?: readonly { readonly apiVersion: string; readonly kind: string }[]
}

export function createServedResources(store: ObjectStore, options: ServedResourcesOptions): ServedResources {
  let epoch = -1
  let byPath = new Map<string, Resource>()
  let byGroup = new Map<string, Resource[]>()

  function update(): void {
    if (epoch === store.kindsEpoch) return
    epoch = store.kindsEpoch
    const resources = currentResources(store, options).toSorted(compareResources)
    byPath = new Map(
      resources.flatMap(resource =>
        resource.versions.map(version => [pathOf(resource.group, version, resource.plural), resource]),
      ),
    )
    byGroup = Map.groupBy(resources, resource => resource.group)
  }

  return {
    find(group, version, plural) {
      update()
      return byPath.get(pathOf(group, version, plural))
    },
    groups() {
      update()
      return byGroup
    },
  }
}

function currentResources(store: ObjectStore, { builtIn = false, kinds = [] }: ServedResourcesOptions): Resource[] {
  const resources = new Map<string, Resource>()
  const add = (resource: Resource): unknown => resources.set(`${resource.group}/${resource.kind}`, resource)
  if (builtIn) BUILT_IN_RESOURCES.forEach(add)
  for (const { apiVersion, kind } of kinds) {
    const { group, version } = parseApiVersion(apiVersion)
    add(resourceOf(group, kind, { namespaced: true, versions: [version] }))
  }
  for (const collection of store.kinds()) add(resourceOf(collection.group, collection.kind, collection))
  // A definition knows better than a table or a guess.
  for (const definition of store.collection('apiextensions.k8s.io', 'CustomResourceDefinition').objects()) {
    const resource = definedResource(definition['spec'] as Definition | undefined)
    if (resource !== undefined) add(resource)
  }
  return [...resources.values()]
}

type Definition = {
  group?: string
  scope?: string
  names?: { kind?: string; plural?: string; singular?: string; shortNames?: string[] }
  versions?: { name: string; served?: boolean }[]
}

function definedResource(definition: Definition | undefined): Resource | undefined {
  const { group, scope, names, versions = [] } = definition ?? {}
  if (group === undefined || names?.kind === undefined || names.plural === undefined) return undefined
  const served = versions.filter(version => version.served !== false).map(version => version.name)
  return {
    ...resourceOf(group, names.kind, { namespaced: scope !== 'Cluster', versions: served }),
    plural: names.plural,
    singular: names.singular ?? names.kind.toLowerCase(),
    namespaced: scope !== 'Cluster',
    shortNames: names.shortNames ?? [],
  }
}

function compareResources(a: Resource, b: Resource): number {
  if (a.builtIn !== b.builtIn) return a.builtIn ? -1 : 1
  if (a.group !== b.group) return a.group < b.group ? -1 : 1
  return a.plural < b.plural ? -1 : 1
}

function pathOf(group: string, version: string, plural: string): string {
  return `${group}/${version}/${plural}`
}
