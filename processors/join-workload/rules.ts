/** What the config says and what the catalog knows, put together. */
import type { WorkloadsCatalog } from '../../pipeline/catalog/workloads-schema.ts'
import { parseGuess } from '../../pipeline/cluster/guess-owner.ts'
import { IDENTITY_LABELS, parseIdentityRules, type IdentityLabel } from '../../pipeline/cluster/identity.ts'
import { parseLookUp, type LookUp } from '../../pipeline/cluster/look-up.ts'
import type { WorkloadRules } from '../../pipeline/cluster/pod-identity.ts'
import { kindTest, typeFinder } from '../../pipeline/cluster/workload-kinds.ts'

/** What a pod is joined to, by the names that the labels have unless told otherwise. */
export const JOINED_LABELS = ['pod_uuid', 'node', ...IDENTITY_LABELS] as const
export type JoinedLabel = (typeof JOINED_LABELS)[number]

export type MissingOwner = 'reference' | 'labels' | 'names'
export type LookUps = Readonly<Partial<Record<IdentityLabel, readonly string[]>>>

export function workloadRules(
  catalog: WorkloadsCatalog,
  options: { lookUps: LookUps; stopAt: readonly string[]; missingOwner: MissingOwner },
): WorkloadRules {
  const { lookUps, stopAt, missingOwner } = options
  return {
    owners: {
      wraps: kindTest(catalog.wrappers),
      stopAt: kindTest([...catalog.stop_at, ...stopAt]),
      maxDepth: catalog.max_depth,
    },
    identity: parseIdentityRules({ ...catalog.look_up, ...lookUps }, typeFinder(catalog.types)),
    guesses: catalog.guesses
      .filter(({ label }) => missingOwner === 'names' || (missingOwner === 'labels' && label !== undefined))
      .map(parseGuess),
  }
}

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
