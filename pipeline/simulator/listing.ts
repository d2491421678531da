/** Puts workloads on the lists of the API and takes them off, with all that follows: status of owners, use of quotas. */
import type { ClusterState } from './cluster-state.ts'
import { controllersOf } from './draft.ts'
import type { ObjectChange } from './kubernetes-object.ts'
import { ownerObject } from './objects/owner.ts'
import { podObject } from './objects/pod.ts'
import type { Pod } from './pod.ts'
import { createLedgers, type Ledger } from './quotas/ledger.ts'
import type { Workload } from './workload.ts'

export type Listing = {
  /** The owners and pods of a workload. */
  add(workload: Workload): void
  addPod(workload: Workload, pod: Pod): void
  /** Something about a pod is different now. One that is over is still listed, and counts for nothing any more. */
  changed(workload: Workload, pod: Pod): void
  /** Nothing happens if it is not listed. */
  removePod(workload: Workload, pod: Pod): void
  removeOwners(workload: Workload): void
}

export function createListing(state: ClusterState): Listing {
  const ledgers = createLedgers(state)

  function record(type: ObjectChange['type'], pod: Pod): void {
    state.changes.record(type, pod, podObject)
    for (const owner of controllersOf(pod)) {
      if (state.owners.has(owner) && hasStatus(owner.apiVersion)) state.changes.record('MODIFIED', owner, ownerObject)
    }
  }

  function ledgerOf({ project }: Workload): Ledger {
    return ledgers[project.tenancy]
  }

  function addPod(workload: Workload, pod: Pod): void {
    state.pods.add(pod)
    record('ADDED', pod)
    ledgerOf(workload).update(workload, pod)
  }

  return {
    add(workload) {
      for (const owner of workload.owners) {
        state.owners.add(owner)
        state.changes.record('ADDED', owner, ownerObject)
      }
      ledgerOf(workload).open(workload)
      for (const pod of workload.pods) addPod(workload, pod)
    },
    addPod,
    changed(workload, pod) {
      record('MODIFIED', pod)
      ledgerOf(workload).update(workload, pod)
    },
    removePod(workload, pod) {
      for (const owner of controllersOf(pod)) owner.pods.delete(pod)
      if (!state.pods.delete(pod)) return
      ledgerOf(workload).remove(workload, pod)
      record('DELETED', pod)
    },
    removeOwners(workload) {
      ledgerOf(workload).close(workload)
      for (const owner of workload.owners.toReversed()) {
        state.owners.delete(owner)
        state.changes.record('DELETED', owner, ownerObject)
      }
    },
  }
}

/** Kinds whose status counts pods. */
function hasStatus(apiVersion: string): boolean {
  return apiVersion === 'apps/v1' || apiVersion === 'batch/v1'
}
