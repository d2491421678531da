/** All quotas that are known, whoever told about them. The Kubernetes API counts before kube-state-metrics, object by object. */
import type { SeenTables } from './find-pod.ts'
import { quotaFromSeen } from './keep-quota.ts'
import { quotaKey, type Quota } from './quotas.ts'
import type { ClusterTables } from './tables.ts'

export function* quotaRows(tables: ClusterTables, seen: SeenTables): Generator<Quota> {
  for (const { rows } of tables.quotas.values()) yield* rows
  for (const object of seen.objects.values()) {
    if (object.kind !== 'ResourceQuota') continue
    const key = quotaKey('resourcequota', object.namespace ?? '', object.name)
    if (tables.quotas.get(key) === undefined) yield quotaFromSeen(object)
  }
}
