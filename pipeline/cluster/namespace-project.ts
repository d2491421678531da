/** The project of a namespace, for quotas: what a pod in it would get that has no marks of its own. */
import { EMPTY_LABELS } from '../model/labels.ts'
import { namespaceOf } from './find-owner.ts'
import type { PodReader } from './find-pod.ts'
import type { IdentityRules } from './identity.ts'

export function projectOfNamespace(reader: PodReader, name: string, { lookUps }: IdentityRules): string {
  const pod = {
    group: '',
    kind: 'Pod',
    namespace: name,
    name: '',
    uid: '',
    labels: EMPTY_LABELS,
    annotations: EMPTY_LABELS,
  }
  const around = {
    pod: { ...pod, owners: [] },
    owner: undefined,
    node: undefined,
    namespace: namespaceOf(reader, name),
  }
  for (const { find } of lookUps.project ?? []) {
    const project = find(around)
    if (project !== undefined) return project
  }
  return name
}
