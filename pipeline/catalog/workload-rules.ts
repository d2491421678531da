/** By which rules a pod comes to its workload: what a catalog knows, and what a config says. */
import { parseGuess } from '../cluster/guess-owner.ts'
import { parseIdentityRules, type IdentityLabel } from '../cluster/identity.ts'
import type { WorkloadRules } from '../cluster/pod-identity.ts'
import { kindTest, typeFinder } from '../cluster/workload-kinds.ts'
import type { Catalogs } from '../component.ts'
import { loadWorkloadsCatalog } from './catalogs.ts'
import type { WorkloadsCatalog } from './workloads-schema.ts'

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

/** What `join_workload` goes by where a config says nothing else. */
export function usualWorkloadRules(catalogs: Catalogs): WorkloadRules {
  return workloadRules(loadWorkloadsCatalog(catalogs, 'workloads'), {
    lookUps: {},
    stopAt: [],
    missingOwner: 'reference',
  })
}
