/** Pods that are there and say something of a GPU. Of one that both tell of, the Kubernetes API counts. */
import type { FoundPod, PodReader } from './find-pod.ts'
import { podFromSeen } from './seen-metadata.ts'
import { isToldElsewhere } from './told-elsewhere.ts'

/** In the order in which they became known. */
export function podsMarked(reader: PodReader, mark: string): FoundPod[] {
  const { look, tables, seen } = reader
  const found: FoundPod[] = []
  for (const uid of look(tables.podMarks.entry(mark)) ?? []) {
    const pod = look(tables.pods.entry(uid))
    if (pod !== undefined) found.push({ pod, from: 'the Kubernetes API', isGone: false })
  }
  for (const key of look(seen.marks.entry(mark)) ?? []) {
    const object = look(seen.objects.at(key))
    if (object === undefined || isToldElsewhere(object, (table, one) => look(table.entry(one)), tables, seen)) continue
    found.push({ pod: podFromSeen(object), from: 'kube-state-metrics', isGone: false })
  }
  return found
}
