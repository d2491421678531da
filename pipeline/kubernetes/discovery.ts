/**
 * Which kinds the API has. Servers from 1.26 on tell all of them in two answers, for /api and /apis; older ones are asked for each
 * version of each group.
 */
import { ApiError } from './api-error.ts'
import { isRecord } from './api-object.ts'

export type ApiResource = {
  readonly group: string
  /** The one that the server prefers, among those that have it. */
  readonly version: string
  readonly kind: string
  /** `pods` */
  readonly resource: string
  readonly namespaced: boolean
  readonly verbs: readonly string[]
}

export type ApiResources = {
  readonly all: readonly ApiResource[]
  byKind(group: string, kind: string): ApiResource | undefined
  byResource(group: string, resource: string): ApiResource | undefined
  /** Groups (with version) whose resources could not be found out: an aggregated API that is away. They may have kinds, or not. */
  readonly unknown: readonly string[]
}

/** Reads a JSON document of the API. */
export type ReadDocument = (path: string, accept: string) => Promise<unknown>

const AGGREGATED = ['v2', 'v2beta1'].map(v => `application/json;g=apidiscovery.k8s.io;v=${v};as=APIGroupDiscoveryList`)
const ACCEPT = [...AGGREGATED, 'application/json'].join(',')
/** How many versions of groups are asked for at the same time. */
const AT_ONCE = 8

type Found = { readonly resources: ApiResource[]; readonly unknown: string[] }

/** Rejects if the API cannot be asked at all. */
export async function discoverResources(read: ReadDocument): Promise<ApiResources> {
  const found: Found = { resources: [], unknown: [] }
  for (const path of ['/api', '/apis']) {
    const answer = await read(path, ACCEPT)
    if (!isRecord(answer)) throw new Error(`the answer of ${path} is no description of an API`)
    if (answer['kind'] === 'APIGroupDiscoveryList') readAggregated(answer, found)
    else await readGroups(groupVersionsOf(path, answer), read, found)
  }
  return index(found)
}

function index({ resources, unknown }: Found): ApiResources {
  const byKind = new Map<string, ApiResource>()
  const byResource = new Map<string, ApiResource>()
  // Versions come in the order of preference: the first counts.
  for (const resource of resources) {
    const plural = `${resource.group}/${resource.resource}`
    if (byResource.has(plural)) continue
    byResource.set(plural, resource)
    const kind = `${resource.group}/${resource.kind}`
    if (!byKind.has(kind)) byKind.set(kind, resource)
  }
  return {
    all: [...byResource.values()],
    byKind: (group, kind) => byKind.get(`${group}/${kind}`),
    byResource: (group, resource) => byResource.get(`${group}/${resource}`),
    unknown,
  }
}

function readAggregated(answer: Record<string, unknown>, { resources, unknown }: Found): void {
  for (const item of records(answer['items'])) {
    const group = text(isRecord(item['metadata']) ? item['metadata']['name'] : '')
    for (const entry of records(item['versions'])) {
      const version = text(entry['version'])
      // What the server still remembers of an API that is away is better than nothing.
      if (entry['freshness'] === 'Stale') unknown.push(group === '' ? version : `${group}/${version}`)
      for (const one of records(entry['resources'])) {
        const { resource, scope, responseKind, verbs } = one
        const kind = text(isRecord(responseKind) ? responseKind['kind'] : '')
        add(resources, {
          group,
          version,
          kind,
          resource: text(resource),
          namespaced: scope === 'Namespaced',
          verbs: texts(verbs),
        })
      }
    }
  }
}

type GroupVersion = { readonly group: string; readonly version: string; readonly path: string }

/** Those of a group in the order of preference. */
function groupVersionsOf(path: string, answer: Record<string, unknown>): GroupVersion[] {
  if (path === '/api')
    return texts(answer['versions']).map(version => ({ group: '', version, path: `/api/${version}` }))
  return records(answer['groups']).flatMap(({ name, versions, preferredVersion }) => {
    const preferred = text(isRecord(preferredVersion) ? preferredVersion['version'] : '')
    const all = records(versions).map(entry => text(entry['version']))
    const ordered = all.includes(preferred) ? [preferred, ...all.filter(version => version !== preferred)] : all
    return ordered.map(version => ({ group: text(name), version, path: `/apis/${text(name)}/${version}` }))
  })
}

async function readGroups(groupVersions: readonly GroupVersion[], read: ReadDocument, found: Found): Promise<void> {
  for (let i = 0; i < groupVersions.length; i += AT_ONCE) {
    const some = groupVersions.slice(i, i + AT_ONCE)
    const lists = await Promise.all(some.map(({ path }) => readOrSkip(path, read)))
    lists.forEach((list, j) => {
      const { group, version } = some[j]!
      if (!isRecord(list)) return void found.unknown.push(group === '' ? version : `${group}/${version}`)
      for (const { name, kind, namespaced, verbs } of records(list['resources'])) {
        const resource = text(name)
        // Parts of others, like `pods/log`.
        if (resource.includes('/')) continue
        add(found.resources, {
          group,
          version,
          kind: text(kind),
          resource,
          namespaced: namespaced === true,
          verbs: texts(verbs),
        })
      }
    })
  }
}

/** One API that is away does not hide the others. */
async function readOrSkip(path: string, read: ReadDocument): Promise<unknown> {
  try {
    return await read(path, 'application/json')
  } catch (error) {
    if (error instanceof ApiError) return undefined
    throw error
  }
}

function add(resources: ApiResource[], resource: ApiResource): void {
  if (resource.kind !== '' && resource.resource !== '' && resource.version !== '') resources.push(resource)
}

function records(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isRecord) : []
}

function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter(item => typeof item === 'string') : []
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
