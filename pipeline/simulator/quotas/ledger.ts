/** Who keeps account of what the pods of a project have and want: each tenancy has its own way. */
import type { ClusterState } from '../cluster-state.ts'
import type { Pod } from '../pod.ts'
import type { Tenancy } from '../tenants.ts'
import type { Workload } from '../workload.ts'
import { createKueueLedger } from './kueue-ledger.ts'
import { createPodGroupLedger } from './pod-group-ledger.ts'
import { createResourceQuotaLedger } from './resource-quota-ledger.ts'

export type Ledger = {
  /** A workload comes, before its first pod. */
  open(workload: Workload): void
  /** A pod is new, or something about it is different. */
  update(workload: Workload, pod: Pod): void
  /** A pod is listed no more. */
  remove(workload: Workload, pod: Pod): void
  /** A workload goes, after its last pod. */
  close(workload: Workload): void
}

export function createLedgers(state: ClusterState): Readonly<Record<Tenancy, Ledger>> {
  const podGroups = createPodGroupLedger(state)
  return {
    runai: podGroups,
    kai: podGroups,
    kueue: createKueueLedger(state),
    plain: createResourceQuotaLedger(state),
  }
}
