/** All pods and all nodes that there are now, whoever told about them. The Kubernetes API counts before kube-state-metrics. */
import type { FoundPod, SeenTables } from './find-pod.ts'
import type { Node } from './objects.ts'
import { nodeFromSeen, podFromSeen } from './seen-metadata.ts'
import type { ClusterTables } from './tables.ts'
import { isToldElsewhere, type Read } from './told-elsewhere.ts'

/** Who walks over all comes again anyway. */
const get: Read = (table, key) => table.get(key)

/** Each pod once, finished ones included. A pod that the API knows to be gone is not there, whatever series still show. */
export function* livePods(tables: ClusterTables, seen: SeenTables): Generator<FoundPod> {
  for (const pod of tables.pods.values()) yield { pod, from: 'the Kubernetes API', isGone: false }
  for (const object of seen.objects.values()) {
    if (object.kind !== 'Pod' || isToldElsewhere(object, get, tables, seen)) continue
    yield { pod: podFromSeen(object), from: 'kube-state-metrics', isGone: false }
  }
}

/** Who may read nodes of the API reads all of them: one that only series show is then gone. */
export function* liveNodes(tables: ClusterTables, seen: SeenTables): Generator<Node> {
  if (tables.nodes.size > 0) return yield* tables.nodes.values()
  for (const object of seen.objects.values()) if (object.kind === 'Node') yield nodeFromSeen(object)
}
