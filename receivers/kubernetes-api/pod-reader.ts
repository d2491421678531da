/** Reads pods that own other pods: the leader of a group, the driver of an application. All pods are read anyway. */
import type { Pod } from '../../pipeline/cluster/objects.ts'
import type { Clock } from '../../pipeline/component.ts'
import type { OwnerReader, Owners } from './owners.ts'

export type PodReader = OwnerReader & {
  put(pod: Pod): void
  /** All pods that there are have been put. */
  synced(): void
  stop(): void
}

/** A list is sorted by name: a pod may come before the one that owns it. */
const LAG_MS = 5000

/** `find` looks among the pods that have been put. */
export function createPodReader(
  clock: Clock,
  find: (uid: string) => Pod | undefined,
  found: Owners['found'],
): PodReader {
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
      const pod = find(uid)
      if (pod !== undefined) found(uid, pod)
      else if (!areRead) waiting.set(uid, () => {})
      else
        waiting.set(
          uid,
          // In a config test all that has happened is told at once.
          clock.after(clock.aligned === true ? 0 : LAG_MS, () => giveUp(uid)),
        )
    },
    release({ reference: { uid } }) {
      wanted.delete(uid)
      stopWaiting(uid)
    },
    put(pod) {
      if (!wanted.has(pod.uid)) return
      stopWaiting(pod.uid)
      found(pod.uid, pod)
    },
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
