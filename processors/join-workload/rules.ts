/** What a config says about the labels that are joined. */
import { IDENTITY_LABELS } from '../../pipeline/cluster/identity.ts'
import { parseLookUp, type LookUp } from '../../pipeline/cluster/look-up.ts'

/** What a pod is joined to, by the names that the labels have unless told otherwise. */
export const JOINED_LABELS = ['pod_uuid', 'node', ...IDENTITY_LABELS] as const
export type JoinedLabel = (typeof JOINED_LABELS)[number]

/** Under which name each joined label goes out; those that are not wanted are not in it. */
export function outgoingNames(
  labels: Readonly<Partial<Record<JoinedLabel, string>>>,
): ReadonlyMap<JoinedLabel, string> {
  const names = new Map<JoinedLabel, string>()
  for (const label of JOINED_LABELS) {
    const name = labels[label] ?? label
    if (name !== '') names.set(label, name)
  }
  return names
}

/** Labels that are added beside the joined ones: by name the look-ups, in order. */
export function addedLookUps(
  add: Readonly<Record<string, string | readonly string[]>>,
): ReadonlyMap<string, readonly LookUp[]> {
  return new Map(
    Object.entries(add).map(([name, texts]) => [name, (typeof texts === 'string' ? [texts] : texts).map(parseLookUp)]),
  )
}
