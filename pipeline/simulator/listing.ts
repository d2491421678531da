/** Puts workloads on the lists of the API and takes them off, with all that follows: status of owners, use of quotas. */
import { hasQuota, type ClusterState } from './cluster-state.ts'
import { controllersOf } from './draft.ts'
import type { ObjectChange } from './kubernetes-object.ts'
import { ownerObject } from './objects/owner.ts'
import { podObject } from './objects/pod.ts'
import { quotaObject } from './objects/quota.ts'
import { isFinished, type Pod } from './pod.ts'
import type { Workload } from './workload.ts'

export type Listing = {
  /** The owners and pods of a workload. */
  add(workload: Workload): void
  addPod(workload: Workload, pod: Pod): void
  /** Something about a pod is different now. */
  changed(pod: Pod): void
  /** A pod is over: it is still listed, and counts for nothing any more. */
  finished(workload: Workload, pod: Pod): void
  /** Nothing happens if it is not listed. */
  removePod(workload: Workload, pod: Pod): void
  removeOwners(workload: Workload): void
}

export function createListing(state: ClusterState): Listing {
  function record(type: ObjectChange['type'], pod: Pod): void {
    state.changes.record(type, pod, podObject)
    for (const owner of controllersOf(pod)) {
      if (state.owners.has(owner) && hasStatus(owner.apiVersion)) state.changes.record('MODIFIED', owner, ownerObject)
    }
  }

  function countRequest({ project }: Workload, { request }: Pod, sign: 1 | -1): void {
    if (!hasQuota(project)) return
    project.podCount += sign
    if (request.kind === 'whole' || request.kind === 'time_slicing') project.gpusRequested += sign * request.count
    state.changes.record('MODIFIED', project, quotaObject)
  }

  function addPod(workload: Workload, pod: Pod): void {
    state.pods.add(pod)
    record('ADDED', pod)
    countRequest(workload, pod, 1)
  }

  return {
    add(workload) {
      for (const owner of workload.owners) {
        state.owners.add(owner)
        state.changes.record('ADDED', owner, ownerObject)
      }
      for (const pod of workload.pods) addPod(workload, pod)
    },
    addPod,
    changed: pod => record('MODIFIED', pod),
    finished(workload, pod) {
      countRequest(workload, pod, -1)
      record('MODIFIED', pod)
    },
    removePod(workload, pod) {
      for (const owner of controllersOf(pod)) owner.pods.delete(pod)
      if (!state.pods.delete(pod)) return
      if (!isFinished(pod)) countRequest(workload, pod, -1)
      record('DELETED', pod)
    },
    removeOwners({ owners }) {
      for (const owner of owners.toReversed()) {
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
