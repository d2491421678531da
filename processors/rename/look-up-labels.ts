/** Finds the values of labels that a series does not have, by the ids that it has. */
import type { IdentityKind, KnownAs } from '../../pipeline/cluster/identities.ts'
import type { Look } from '../../pipeline/model/label-processor.ts'
import { getLabel } from '../../pipeline/model/labels.ts'

/** By which ids an attribute is found, in order. A job has one workload, and a workload several pods: these it does not tell. */
const FOUND_BY: Readonly<Record<string, readonly IdentityKind[]>> = {
  ...all(
    ['workload_id', 'workload_name', 'workload_type', 'job_id', 'job_name', 'project', 'department', 'user'],
    ['workload_id', 'job_id', 'pod_uid', 'pod'],
  ),
  ...all(['pod', 'namespace', 'pod_uid'], ['pod_uid', 'pod']),
  ...all(['model', 'ready', 'schedulable', 'nodepool'], ['node']),
}

function all<T>(attributes: readonly string[], value: T): Record<string, T> {
  return Object.fromEntries(attributes.map(attribute => [attribute, value]))
}

/** What an id stands for. */
export type Known = (kind: IdentityKind, id: string, look: Look) => KnownAs | undefined

/** What a series says of itself, by attribute. */
export type Said = (attribute: string) => string | undefined

/** '' if there is none, and undefined if nobody knows what the series is about. */
export function lookUpAttribute(attribute: string, said: Said, knownAs: Known, look: Look): string | undefined {
  for (const kind of FOUND_BY[attribute] ?? []) {
    const id = idOf(kind, said)
    const known = id === undefined ? undefined : knownAs(kind, id, look)
    if (known !== undefined) return getLabel(known, attribute) ?? ''
  }
  return undefined
}

function idOf(kind: IdentityKind, said: Said): string | undefined {
  if (kind !== 'pod') return said(kind)
  const [namespace, pod] = [said('namespace'), said('pod')]
  return namespace === undefined || pod === undefined ? undefined : `${namespace}/${pod}`
}
