import assert from 'node:assert/strict'
import { createCluster } from '../../../pipeline/cluster/cluster.ts'
import { isSamePod, keepPod, type KeptPod } from '../../../pipeline/cluster/keep-pod.ts'
import { clusterTables } from '../../../pipeline/cluster/tables.ts'
import type { ApiObject } from '../../../pipeline/kubernetes/api-object.ts'
import { createObjectTable } from '../../../pipeline/kubernetes/object-table.ts'
import { createSimulatedCluster } from '../../../pipeline/simulator/cluster.ts'
import { createPodTables } from '../../../receivers/kubernetes-api/pods.ts'
import { heapBytes } from '../../support/garbage.ts'
import { TEST_START_MS, testHost } from '../../support/test-host.ts'

const PODS = 5000

describe('the pods of the model', function () {
  this.timeout(60_000)

  it('cost at most 2 KB each', async () => {
    const texts = podTexts()
    const { clock } = testHost()
    const before = await heapBytes()
    const tables = clusterTables(createCluster())
    const podTables = createPodTables(tables, clock, 60_000, () => {})
    const known = createObjectTable<KeptPod>(keepPod, isSamePod, {
      added: pod => podTables.put(pod),
      changed: pod => podTables.put(pod),
      removed: pod => podTables.remove(pod),
    })
    for (let i = 0; i < PODS; i++) known.put(nth(texts, i))
    const each = ((await heapBytes()) - before) / PODS
    assert.equal(tables.pods.size, PODS)
    assert.ok(each < 2048, `${Math.round(each)} bytes`)
    known.clear()
  })
})

function podTexts(): string[] {
  const cluster = createSimulatedCluster({ seed: 7, nodes: 60, gpusPerNode: 8, startMs: TEST_START_MS })
  return Array.from(cluster.objects(), object => (object.kind === 'Pod' ? JSON.stringify(object) : '')).filter(Boolean)
}

/** As if it had come from the API: with texts of its own, and marks that no other pod has. */
function nth(texts: readonly string[], i: number): ApiObject {
  const pod = JSON.parse(texts[i % texts.length]!) as ApiObject
  const { name, uid, labels, annotations } = pod.metadata
  const metadata = {
    ...pod.metadata,
    name: `${name}-${i}`,
    uid: `${i}-${uid}`,
    resourceVersion: `${i + 1}`,
    labels: { ...labels, 'apps.kubernetes.io/pod-index': `${i}` },
    annotations: { ...annotations, workloadId: `${i}-${uid}` },
  }
  return { ...pod, metadata }
}
