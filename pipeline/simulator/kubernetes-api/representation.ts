/** In which form objects leave: whole or only their metadata, as the Accept header wants it. JSON is the only encoding. */
import type { KubernetesObject } from '../kubernetes-object.ts'
import { apiVersionOf, type Resource } from './resources.ts'
import { notAcceptable, StatusError } from './status.ts'

/** `metadata` is the apiVersion of the PartialObjectMetadata that was asked for. */
export type Accepted = { readonly metadata?: string; readonly list?: boolean }

const META_VERSIONS = ['meta.k8s.io/v1', 'meta.k8s.io/v1beta1']
const DISCOVERY_KIND = 'APIGroupDiscoveryList'
const DISCOVERY_VERSION = 'apidiscovery.k8s.io/v2'

/** Throws the Status 406 if there is nothing that the client accepts. Tables are not served; clients that ask for them also take plain objects. */
export function negotiate(accept: string | undefined): Accepted {
  for (const { type, parameters } of clausesOf(accept)) {
    if (!isJson(type)) continue
    const target = targetOf(parameters)
    if (target === undefined) return {}
    if (!META_VERSIONS.includes(target.apiVersion)) continue
    if (target.kind === 'PartialObjectMetadata') return { metadata: target.apiVersion, list: false }
    if (target.kind === 'PartialObjectMetadataList') return { metadata: target.apiVersion, list: true }
  }
  throw nothingAccepted()
}

/** Whether discovery is wanted in one answer for all groups. */
export function negotiateDiscovery(accept: string | undefined): 'aggregated' | 'plain' {
  for (const { type, parameters } of clausesOf(accept)) {
    if (!isJson(type)) continue
    const target = targetOf(parameters)
    if (target === undefined) return 'plain'
    if (target.kind === DISCOVERY_KIND && target.apiVersion === DISCOVERY_VERSION) return 'aggregated'
  }
  throw nothingAccepted()
}

/** How objects of one resource are written for one client. Clients with the same `id` get the same bytes. */
export type Representation = {
  readonly id: string
  object(object: KubernetesObject): string
  /** As an item of a list. */
  item(object: KubernetesObject): string
  /** Everything of a list but the items, to be put between the two. */
  list(metadata: ListMetadata, isEmpty: boolean): readonly [before: string, after: string]
  bookmark(revision: number, annotations?: Readonly<Record<string, string>>): string
}

export type ListMetadata = {
  readonly resourceVersion: string
  readonly continue?: string
  readonly remainingItemCount?: number
}

export function representationOf(resource: Resource, version: string, accepted: Accepted): Representation {
  const { metadata } = accepted
  return metadata === undefined ? wholeObjects(resource, version) : onlyMetadata(metadata)
}

/** The answer to a single object must not be asked for as a list, nor the other way round. */
export function checkListness(accepted: Accepted, isList: boolean, resource: Resource): void {
  if (accepted.metadata === undefined || accepted.list === isList) return
  const asked = accepted.list ? 'PartialObjectMetadataList' : 'PartialObjectMetadata'
  const type = resource.builtIn ? `*${resource.group || 'core'}.${resource.kind}` : '*unstructured.Unstructured'
  const is = isList ? `is a list (${type}List)` : `is not a list (${type})`
  throw notAcceptable(`you requested ${asked}, but the requested object ${is}`)
}

function wholeObjects(resource: Resource, version: string): Representation {
  const { kind, builtIn } = resource
  const apiVersion = apiVersionOf(resource.group, version)
  // All versions of an object differ in their name only, as where a definition has no conversion.
  const convert = (object: KubernetesObject): KubernetesObject =>
    object.apiVersion === apiVersion ? object : { ...object, apiVersion }
  return {
    id: apiVersion,
    object: object => JSON.stringify(convert(object)),
    // Items of built-in kinds do not say what they are; custom resources do.
    item: builtIn
      ? object => JSON.stringify({ ...object, apiVersion: undefined, kind: undefined })
      : object => JSON.stringify(convert(object)),
    list: metadata => listParts(`${kind}List`, apiVersion, builtIn ? metadata : { continue: '', ...metadata }),
    bookmark: (revision, annotations) =>
      JSON.stringify({ kind, apiVersion, metadata: bookmarkMetadata(revision, annotations) }),
  }
}

function onlyMetadata(apiVersion: string): Representation {
  const head = `{"kind":"PartialObjectMetadata","apiVersion":"${apiVersion}","metadata":`
  const object = ({ metadata }: KubernetesObject): string => `${head}${JSON.stringify(metadata)}}`
  return {
    id: apiVersion,
    object,
    item: object,
    list(metadata, isEmpty) {
      const [before, after] = listParts('PartialObjectMetadataList', apiVersion, metadata)
      // The API server writes null here where it writes an empty list of whole objects.
      return isEmpty ? [`${before.slice(0, -1)}null`, after.slice(1)] : [before, after]
    },
    bookmark: (revision, annotations) => `${head}${JSON.stringify(bookmarkMetadata(revision, annotations))}}`,
  }
}

function listParts(kind: string, apiVersion: string, metadata: ListMetadata): [string, string] {
  return [`{"kind":"${kind}","apiVersion":"${apiVersion}","metadata":${JSON.stringify(metadata)},"items":[`, ']}\n']
}

function bookmarkMetadata(revision: number, annotations?: Readonly<Record<string, string>>): object {
  return { resourceVersion: String(revision), ...(annotations && { annotations }) }
}

type Clause = { readonly type: string; readonly parameters: ReadonlyMap<string, string>; readonly quality: number }

function clausesOf(accept = '*/*'): readonly Clause[] {
  return accept
    .split(',')
    .map(clause => {
      const [type, ...rest] = clause.split(';').map(part => part.trim()) as [string, ...string[]]
      const parameters = new Map(rest.map(part => part.split('=').map(side => side.trim()) as [string, string]))
      return { type, parameters, quality: Number(parameters.get('q') ?? 1) }
    })
    .toSorted((a, b) => b.quality - a.quality)
}

function isJson(type: string): boolean {
  return type === 'application/json' || type === 'application/*' || type === '*/*'
}

function targetOf(parameters: ReadonlyMap<string, string>): { kind: string; apiVersion: string } | undefined {
  const [kind, group, version] = ['as', 'g', 'v'].map(name => parameters.get(name))
  if (kind === undefined && group === undefined && version === undefined) return undefined
  return { kind: kind ?? '', apiVersion: `${group ?? ''}/${version ?? ''}` }
}

function nothingAccepted(): StatusError {
  return notAcceptable('only the following media types are accepted: application/json')
}
