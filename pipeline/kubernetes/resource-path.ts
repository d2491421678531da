/** Where a resource is on the API. */

export type ResourceName = {
  /** Empty for the core group. */
  readonly group: string
  readonly version: string
  /** In the plural: `pods`. */
  readonly resource: string
  /** All namespaces if this is missing; what is in no namespace has none. */
  readonly namespace?: string
}

export function collectionPath({ group, version, resource, namespace }: ResourceName): string {
  const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`
  return `${root}${namespace === undefined ? '' : `/namespaces/${encodeURIComponent(namespace)}`}/${resource}`
}

export function objectPath(resource: ResourceName, name: string): string {
  return `${collectionPath(resource)}/${encodeURIComponent(name)}`
}

/** As people and RBAC name it: `pods`, `podgroups.scheduling.run.ai`. */
export function displayName({ group, resource }: Pick<ResourceName, 'group' | 'resource'>): string {
  return group === '' ? resource : `${resource}.${group}`
}
