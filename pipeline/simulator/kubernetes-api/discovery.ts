/** What the API says about itself: its version, its groups and their resources. */
import { apiVersionOf, compareVersions, type Resource } from './resources.ts'

const VERBS = ['get', 'list', 'watch']

type Groups = ReadonlyMap<string, readonly Resource[]>

/** `/version`: the oldest that has streaming lists by default, or the youngest that has not. */
export function versionInfo(streamingLists: boolean): object {
  return {
    major: '1',
    minor: streamingLists ? '34' : '33',
    gitVersion: streamingLists ? 'v1.34.1' : 'v1.33.5',
    gitCommit: '',
    gitTreeState: 'clean',
    buildDate: '1970-01-01T00:00:00Z',
    goVersion: '',
    compiler: 'gc',
    platform: 'linux/amd64',
  }
}

/** `/api` */
export function coreVersions(groups: Groups, serverAddress: string): object {
  const versions = versionsOf(groups.get('') ?? [])
  return { kind: 'APIVersions', versions, serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress }] }
}

/** `/apis` */
export function groupList(groups: Groups): object {
  const named = [...groups].filter(([name]) => name !== '')
  return { kind: 'APIGroupList', apiVersion: 'v1', groups: named.map(([name, resources]) => group(name, resources)) }
}

/** `/apis/GROUP` */
export function groupInfo(name: string, resources: readonly Resource[]): object {
  return { kind: 'APIGroup', apiVersion: 'v1', ...group(name, resources) }
}

/** `/api/v1` and `/apis/GROUP/VERSION`; undefined if there is no such version. */
export function resourceList(groups: Groups, name: string, version: string): object | undefined {
  const resources = groups.get(name)?.filter(resource => resource.versions.includes(version)) ?? []
  if (resources.length === 0) return undefined
  return {
    kind: 'APIResourceList',
    // The core group is older than this field.
    ...(name !== '' && { apiVersion: 'v1' }),
    groupVersion: apiVersionOf(name, version),
    resources: resources.map(({ plural, singular, namespaced, kind, shortNames }) => ({
      name: plural,
      singularName: singular,
      namespaced,
      kind,
      verbs: VERBS,
      ...(shortNames.length > 0 && { shortNames }),
    })),
  }
}

/** Everything at once: of the core group at `/api`, of all others at `/apis`. */
export function aggregatedDiscovery(groups: Groups, isCore: boolean): object {
  const items = [...groups]
    .filter(([name]) => (name === '') === isCore)
    .map(([name, resources]) => ({
      metadata: name === '' ? {} : { name },
      versions: versionsOf(resources).map(version => ({
        version,
        resources: resources.filter(one => one.versions.includes(version)).map(one => discovered(one, version)),
        freshness: 'Current',
      })),
    }))
  return { kind: 'APIGroupDiscoveryList', apiVersion: 'apidiscovery.k8s.io/v2', metadata: {}, items }
}

function discovered(
  { group: name, kind, plural, singular, namespaced, shortNames, builtIn }: Resource,
  version: string,
): object {
  return {
    resource: plural,
    // For built-in kinds the API server leaves group and version to be taken from around.
    responseKind: { group: builtIn ? '' : name, version: builtIn ? '' : version, kind },
    scope: namespaced ? 'Namespaced' : 'Cluster',
    singularResource: singular,
    verbs: VERBS,
    ...(shortNames.length > 0 && { shortNames }),
  }
}

function group(name: string, resources: readonly Resource[]): object {
  const versions = versionsOf(resources).map(version => ({ groupVersion: apiVersionOf(name, version), version }))
  return { name, versions, preferredVersion: versions[0] }
}

function versionsOf(resources: readonly Resource[]): string[] {
  return [...new Set(resources.flatMap(resource => resource.versions))].toSorted(compareVersions)
}
