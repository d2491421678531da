/** The pods of the model: those that are there, the uid that has a name now, and for a while those that are gone. */
import type { KeptPod } from '../../pipeline/cluster/keep-pod.ts'
import { podNameKey, type ClusterTables } from '../../pipeline/cluster/tables.ts'
import type { Clock } from '../../pipeline/component.ts'

export type PodTables = {
  put(pod: KeptPod): void
  remove(pod: KeptPod): void
  /** Takes out these and all that are gone, but not what somebody else has put in since. */
  close(present: Iterable<KeptPod>): void
}

/** `forgotten` is called when the grace time of a pod is over: until then its owners are needed. */
export function createPodTables(
  { pods, gonePods, podNames }: ClusterTables,
  clock: Clock,
  graceMs: number,
  forgotten: (pod: KeptPod) => void,
): PodTables {
  // In the order in which they went.
  const gone = new Map<string, { readonly pod: KeptPod; readonly untilMs: number }>()
  let cancelSweep: (() => void) | undefined

  function forget(pod: KeptPod): void {
    gone.delete(pod.uid)
    if (gonePods.get(pod.uid) === pod) gonePods.delete(pod.uid)
    freeName(pod)
    forgotten(pod)
  }

  function freeName({ namespace, name, uid }: KeptPod): void {
    const key = podNameKey(namespace, name)
    if (podNames.get(key) === uid) podNames.delete(key)
  }

  function sweep(): void {
    cancelSweep = undefined
    for (const { pod, untilMs } of gone.values()) {
      if (untilMs > clock.monotonic()) break
      forget(pod)
    }
    planSweep()
  }

  function planSweep(): void {
    const [oldest] = gone.values()
    if (oldest === undefined || cancelSweep !== undefined) return
    cancelSweep = clock.after(Math.max(0, oldest.untilMs - clock.monotonic()), sweep)
  }

  return {
    put(pod) {
      // A server that lost its store may bring back what was gone.
      const returned = gone.get(pod.uid)
      pods.set(pod.uid, pod)
      podNames.set(podNameKey(pod.namespace, pod.name), pod.uid)
      if (returned === undefined) return
      gone.delete(pod.uid)
      gonePods.delete(pod.uid)
      forgotten(returned.pod)
    },
    remove(pod) {
      if (pods.get(pod.uid) === pod) pods.delete(pod.uid)
      gonePods.set(pod.uid, pod)
      gone.set(pod.uid, { pod, untilMs: clock.monotonic() + graceMs })
      planSweep()
    },
    close(present) {
      cancelSweep?.()
      for (const { pod } of gone.values()) forget(pod)
      for (const pod of present) {
        if (pods.get(pod.uid) !== pod) continue
        pods.delete(pod.uid)
        freeName(pod)
      }
    },
  }
}
