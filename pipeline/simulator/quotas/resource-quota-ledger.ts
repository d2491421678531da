/** What a ResourceQuota counts: pods that are not over, and the devices they request. */
import type { ClusterState } from '../cluster-state.ts'
import { quotaObject } from '../objects/quota.ts'
import { isFinished, type Pod } from '../pod.ts'
import type { Workload } from '../workload.ts'
import type { Ledger } from './ledger.ts'

export function createResourceQuotaLedger({ changes }: ClusterState): Ledger {
  const counted = new Set<Pod>()

  function count({ project }: Workload, pod: Pod, isCounted: boolean): void {
    if (counted.has(pod) === isCounted) return
    if (isCounted) counted.add(pod)
    else counted.delete(pod)
    const { request } = pod
    const sign = isCounted ? 1 : -1
    project.podCount += sign
    if (request.kind === 'whole' || request.kind === 'time_slicing') project.gpusRequested += sign * request.count
    changes.record('MODIFIED', project, quotaObject)
  }

  return {
    open() {},
    update: (workload, pod) => count(workload, pod, !isFinished(pod)),
    remove: (workload, pod) => count(workload, pod, false),
    close() {},
  }
}
