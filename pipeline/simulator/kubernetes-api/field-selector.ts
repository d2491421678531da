/**
 * Field selectors: `path=value`, `path==value` and `path!=value`, joined by commas. Which paths there are depends on the kind, and so
 * do the words of the refusal.
 */
import type { KubernetesObject } from '../kubernetes-object.ts'
import type { Resource } from './resources.ts'
import { badRequest } from './status.ts'

export type FieldSelector = {
  readonly isEmpty: boolean
  /** The one value that a field must have, where exactly one is asked for. */
  exactly(path: string): string | undefined
  matches(object: KubernetesObject): boolean
}

type Fields = { readonly paths: readonly string[]; readonly refusal: (path: string, resource: Resource) => string }

const notSupported: Fields['refusal'] = path => `field label not supported: ${path}`

/** Kinds that say themselves what can be selected; by group and kind. */
const FIELDS: Readonly<Record<string, Fields>> = {
  '/Pod': {
    paths: [
      'metadata.name',
      'metadata.namespace',
      'spec.nodeName',
      'spec.restartPolicy',
      'spec.schedulerName',
      'spec.serviceAccountName',
      'spec.hostNetwork',
      'status.phase',
      'status.podIP',
      'status.nominatedNodeName',
    ],
    refusal: notSupported,
  },
  '/Node': { paths: ['metadata.name', 'spec.unschedulable'], refusal: notSupported },
  '/Namespace': { paths: ['metadata.name', 'status.phase'], refusal: notSupported },
  '/Secret': { paths: ['metadata.name', 'metadata.namespace', 'type'], refusal: notSupported },
  '/Service': {
    paths: ['metadata.name', 'metadata.namespace', 'spec.clusterIP', 'spec.type'],
    refusal: notSupported,
  },
  '/ReplicationController': {
    paths: ['metadata.name', 'metadata.namespace', 'status.replicas'],
    refusal: notSupported,
  },
  '/Event': {
    paths: [
      'involvedObject.kind',
      'involvedObject.namespace',
      'involvedObject.name',
      'involvedObject.uid',
      'metadata.name',
      'metadata.namespace',
      'reason',
      'type',
    ],
    refusal: notSupported,
  },
  'batch/Job': {
    paths: ['metadata.name', 'metadata.namespace', 'status.successful'],
    refusal: path => `field label "${path}" not supported for Job`,
  },
  'resource.k8s.io/ResourceSlice': {
    paths: ['metadata.name', 'spec.nodeName', 'spec.driver'],
    refusal: (path, { group, versions, kind }) =>
      `field label not supported for ${group}/${versions[0]}, Kind=${kind}: ${path}`,
  },
}
const OTHER_BUILT_IN: Fields = {
  paths: ['metadata.name', 'metadata.namespace'],
  refusal: path => `"${path}" is not a known field selector: only "metadata.name", "metadata.namespace"`,
}
const CUSTOM: Fields = { paths: ['metadata.name', 'metadata.namespace'], refusal: notSupported }

/** Names of fields from earlier times. */
const RENAMED: Readonly<Record<string, string>> = { '/Pod spec.host': 'spec.nodeName' }

/** A field of this type that is not there has this value. */
const DEFAULTS: Readonly<Record<string, string>> = {
  'spec.unschedulable': 'false',
  'spec.hostNetwork': 'false',
  'status.successful': '0',
  'status.replicas': '0',
}
/** Where a field of the API is called otherwise than the field that it selects by. */
const PLACES: Readonly<Record<string, string>> = { 'status.successful': 'status.succeeded' }

type Term = { readonly path: string; readonly equal: boolean; readonly value: string }
type Field = (object: KubernetesObject) => string

/** Throws the Status that a selector with a mistake is answered with. */
export function parseFieldSelector(text: string, resource: Resource): FieldSelector {
  const terms = splitTerms(text)
    .filter(term => term !== '')
    .map(term => parseTerm(term, text))
    .map(term => ({ ...term, path: checkedPath(term.path, resource) }))
  const checks = terms.map(({ path, equal, value }) => ({ field: fieldAt(path), equal, value }))
  return {
    isEmpty: terms.length === 0,
    exactly: path => terms.find(term => term.equal && term.path === path)?.value,
    matches: object => checks.every(({ field, equal, value }) => (field(object) === value) === equal),
  }
}

/** A backslash takes the meaning from the comma after it. */
function splitTerms(text: string): string[] {
  return text.match(/(?:[^,\\]|\\[^])+/g) ?? []
}

function parseTerm(term: string, text: string): Term {
  const [, path, operator, value] = /^(.*?)(!=|==|=)(.*)$/s.exec(term) ?? []
  if (path === undefined || value === undefined) {
    throw badRequest(`invalid selector: '${text}'; can't understand '${term}'`)
  }
  return { path, equal: operator !== '!=', value: unescaped(value) }
}

function unescaped(value: string): string {
  const unknown = /\\([^\\,=]|$)/.exec(value.replaceAll(/\\[\\,=]/g, ''))
  if (unknown !== null) throw badRequest(`invalid field selector: invalid escape sequence: ${unknown[0]}`)
  if (value.replaceAll(/\\./g, '').includes('=')) {
    throw badRequest('invalid field selector: unescaped character in value: 61')
  }
  return value.replaceAll(/\\(.)/g, '$1')
}

function checkedPath(path: string, resource: Resource): string {
  const kind = `${resource.group}/${resource.kind}`
  const known = RENAMED[`${kind} ${path}`] ?? path
  const fields = FIELDS[kind] ?? (resource.builtIn ? OTHER_BUILT_IN : CUSTOM)
  if (!fields.paths.includes(known)) throw badRequest(fields.refusal(path, resource))
  return known
}

function fieldAt(path: string): Field {
  const names = (PLACES[path] ?? path).split('.')
  const missing = DEFAULTS[path] ?? ''
  return object => {
    let value: unknown = object
    for (const name of names) {
      if (typeof value !== 'object' || value === null) return missing
      value = (value as Record<string, unknown>)[name]
    }
    if (typeof value === 'string') return value
    return typeof value === 'number' || typeof value === 'boolean' ? String(value) : missing
  }
}
