/** How Kueue keeps account: a workload is admitted with all it asks for, and counts until it is over. */
import type { ClusterState } from '../cluster-state.ts'
import { clusterQueueObject, kueueWorkloadObject, localQueueObject } from '../objects/kueue.ts'
import { isFinished, type Owner, type Pod } from '../pod.ts'
import type { Workload } from '../workload.ts'
import { addTo, amountsOf } from './amounts.ts'
import type { Flavor, FlavorAmounts, LocalQueue } from './kueue.ts'
import type { Ledger } from './ledger.ts'

/** What Kueue makes of a job. */
export type KueueWorkload = {
  readonly uid: string
  readonly owner: Owner
  readonly queue: LocalQueue
  readonly pods: number
  readonly amounts: FlavorAmounts
  readonly createdMs: number
  /** How it ended, if it did. */
  end?: End
  version: number
}

type End = { readonly reason: 'Succeeded' | 'Failed'; readonly timeMs: number }

export function createKueueLedger(state: ClusterState): Ledger {
  const { changes } = state
  const workloads = new Map<Workload, KueueWorkload>()
  const queues = new Map(state.kueue.localQueues.map(queue => [queue.namespace, queue]))

  function book({ queue, amounts }: KueueWorkload, sign: 1 | -1): void {
    for (const account of [queue, queue.clusterQueue]) {
      account.admitted += sign
      for (const [flavor, some] of Object.entries(amounts)) addTo((account.usage[flavor] ??= {}), some, sign)
    }
    changes.record('MODIFIED', queue, localQueueObject)
    changes.record('MODIFIED', queue.clusterQueue, clusterQueueObject)
  }

  return {
    open(workload) {
      const [owner] = workload.owners as [Owner]
      const admitted: KueueWorkload = {
        uid: workload.random.uuid(),
        owner,
        queue: queues.get(owner.namespace)!,
        pods: workload.pods.size,
        amounts: flavorAmounts(workload.pods),
        createdMs: owner.createdMs,
        version: 0,
      }
      workloads.set(workload, admitted)
      state.kueueWorkloads.add(admitted)
      changes.record('ADDED', admitted, kueueWorkloadObject)
      book(admitted, 1)
    },
    update(workload) {
      const admitted = workloads.get(workload)!
      if (admitted.end !== undefined) return
      const end = endOf(workload)
      if (end === undefined) return
      admitted.end = end
      changes.record('MODIFIED', admitted, kueueWorkloadObject)
      book(admitted, -1)
    },
    remove() {},
    close(workload) {
      const admitted = workloads.get(workload)!
      workloads.delete(workload)
      state.kueueWorkloads.delete(admitted)
      changes.record('DELETED', admitted, kueueWorkloadObject)
      if (admitted.end === undefined) book(admitted, -1)
    },
  }
}

/** Nothing while a pod is left, or comes back. */
function endOf({ pods, retriesLeft }: Workload): End | undefined {
  let reason: End['reason'] = 'Succeeded'
  let timeMs = 0
  for (const pod of pods) {
    if (!isFinished(pod)) return undefined
    if (pod.phase === 'Failed') reason = 'Failed'
    timeMs = Math.max(timeMs, pod.termination!.finishedMs)
  }
  return reason === 'Failed' && retriesLeft > 0 ? undefined : { reason, timeMs }
}

function flavorAmounts(pods: Iterable<Pod>): FlavorAmounts {
  const sums: Record<string, Record<string, number>> = {}
  for (const pod of pods) {
    for (const [resource, amount] of Object.entries(amountsOf(pod))) {
      addTo((sums[flavorOf(pod, resource)] ??= {}), { [resource]: amount }, 1)
    }
  }
  return sums
}

function flavorOf({ request }: Pod, resource: string): Flavor {
  if (resource.startsWith('nvidia.com/mig-')) return 'mig'
  return request.kind === 'time_slicing' ? 'shared' : 'exclusive'
}
