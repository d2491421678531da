/** Where a pod stands in its life, and where it can be reached. */
import { BY_NOTHING } from './indexed.ts'
import type { KeptPod } from './keep-pod.ts'
import type { Pod } from './objects.ts'

export function isFinished({ phase }: Pod): boolean {
  return phase === 'Succeeded' || phase === 'Failed'
}

/** Which of two pods a workload takes after: one that has not finished, then the older one. */
export function countsBefore(a: Pod, b: Pod): boolean {
  if (isFinished(a) !== isFinished(b)) return isFinished(b)
  const [createdA, createdB] = [a.createdMs ?? Infinity, b.createdMs ?? Infinity]
  if (createdA !== createdB) return createdA < createdB
  return a.uid < b.uid
}

/** Whether it has what it asked for: from the time it is bound to a node, also while it starts or is being deleted. */
export function isBound(pod: Pod): boolean {
  return pod.node !== '' && !isFinished(pod)
}

/** The address that is its own. One that it shares with its node is that of the node, one of a finished pod may have another now. */
export function addressesOf(pod: Pod & Partial<Pick<KeptPod, 'hostNetwork'>>): readonly string[] {
  return pod.podIp === '' || pod.hostNetwork === true || isFinished(pod) ? BY_NOTHING : [pod.podIp]
}
