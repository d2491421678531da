/** Reads pods that own other pods: the leader of a group, the driver of an application. All pods are read anyway. */
import type { KeptPod } from '../../pipeline/cluster/keep-pod.ts'
import type { Clock } from '../../pipeline/component.ts'
import type { OwnerReader, Owners } from './owners.ts'

export type PodReader = OwnerReader & {
  put(pod: KeptPod): void
  removed(pod: KeptPod): void
  /** All pods that there are have been put. */
  synced(): void
  stop(): void
}

/** A list is sorted by name: a pod may come before the one that owns it. */
const LAG_MS = 5000

export function createPodReader(clock: Clock, found: Owners['found']): PodReader {
  const pods = new Map<string, KeptPod>()
  const wanted = new Set<string>()
  const waiting = new Map<string, () => void>()
  let areRead = false

  function giveUp(uid: string): void {
    stopWaiting(uid)
    found(uid, 'unreadable')
  }

  function stopWaiting(uid: string): void {
    waiting.get(uid)?.()
    waiting.delete(uid)
  }

  return {
    want({ reference: { uid } }) {
      wanted.add(uid)
      const pod = pods.get(uid)
      if (pod !== undefined) found(uid, pod)
      else if (!areRead) waiting.set(uid, () => {})
      else
        waiting.set(
          uid,
          clock.after(LAG_MS, () => giveUp(uid)),
        )
    },
    release({ reference: { uid } }) {
      wanted.delete(uid)
      stopWaiting(uid)
    },
    put(pod) {
      pods.set(pod.uid, pod)
      if (!wanted.has(pod.uid)) return
      stopWaiting(pod.uid)
      found(pod.uid, pod)
    },
    removed: pod => void pods.delete(pod.uid),
    synced() {
      if (areRead) return
      areRead = true
      for (const uid of waiting.keys()) giveUp(uid)
    },
    stop() {
      for (const cancel of waiting.values()) cancel()
      waiting.clear()
    },
  }
}
