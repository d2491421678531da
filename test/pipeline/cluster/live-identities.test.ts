import assert from 'node:assert/strict'
import { usualWorkloadRules } from '../../../pipeline/catalog/workload-rules.ts'
import { identities, identityKey, type IdentityKind } from '../../../pipeline/cluster/identities.ts'
import { createLiveIdentities } from '../../../pipeline/cluster/live-identities.ts'
import type { Pod } from '../../../pipeline/cluster/objects.ts'
import { clusterTables } from '../../../pipeline/cluster/tables.ts'
import type { Clock, Cluster } from '../../../pipeline/component.ts'
import { EMPTY_LABELS, labelPairs } from '../../../pipeline/model/labels.ts'
import { objectNamed, podNamed, putPod, referenceTo, removePod } from '../../support/cluster-objects.ts'
import { testHost } from '../../support/test-host.ts'

function setUp(isAligned = false) {
  const { cluster, catalogs } = testHost()
  let nowMs = 0
  const clock = { monotonic: () => nowMs, now: () => nowMs, aligned: isAligned } as unknown as Clock
  const rules = usualWorkloadRules(catalogs)
  const live = createLiveIdentities(cluster, () => rules, clock)
  return {
    cluster,
    live,
    pass: (ms: number) => void (nowMs += ms),
    find(kind: IdentityKind, id: string) {
      const known = live.find(kind, id, entry => entry.value)
      return known && Object.fromEntries(labelPairs(known))
    },
  }
}

const SET = objectNamed('StatefulSet.apps/web', { uid: 's' })

/** A pod of the set. */
function putPodOf(
  cluster: Cluster,
  uid: string,
  job: string | undefined,
  createdMs: number,
  phase: Pod['phase'],
): void {
  clusterTables(cluster).owners.set(SET.uid, SET)
  const annotations = job === undefined ? {} : { 'runai-job-id': job }
  const pod = podNamed(`web-${uid}`, { uid, phase, annotations, owners: [referenceTo(SET)] })
  putPod(cluster, { ...pod, createdMs })
}

describe('ids that are looked up in the model of the cluster', () => {
  it('are those of pods, their jobs and their workloads, when somebody asks', () => {
    const { cluster, find } = setUp()
    putPodOf(cluster, 'p', undefined, 1, 'Running')
    const { workload_id, workload_name, job_id } = find('pod_uid', 'p')!
    assert.deepEqual([workload_id, workload_name, job_id], ['s', 'web', 's'])
    assert.equal(find('job_id', 's')?.['workload_id'], 's')
    assert.equal(find('pod', 'ns/web-p')?.['pod_uid'], 'p')
    assert.equal(find('job_id', 'nobody'), undefined)
  })

  it('take after the oldest pod of a workload that has not finished', () => {
    const { cluster, find } = setUp()
    putPodOf(cluster, '1', 'job-1', 1, 'Succeeded')
    putPodOf(cluster, '3', 'job-3', 3, 'Running')
    putPodOf(cluster, '2', 'job-2', 2, 'Running')
    assert.equal(find('workload_id', 's')?.['job_id'], 'job-2')
  })

  it('are brought up to date every few seconds, and at once on a virtual clock', () => {
    for (const isAligned of [false, true]) {
      const { cluster, live, find, pass } = setUp(isAligned)
      const first = podNamed('a', { uid: 'a' })
      putPod(cluster, first)
      assert.ok(find('pod_uid', 'a'))
      removePod(cluster, first)
      putPod(cluster, podNamed('b', { uid: 'b' }))
      assert.equal(find('pod_uid', 'b') !== undefined, isAligned)
      pass(5000)
      live.check()
      assert.deepEqual([find('pod_uid', 'a'), find('pod_uid', 'b') !== undefined], [undefined, true])
    }
  })

  it('are those of a roll-up as soon as it tells of all that there are', () => {
    const { cluster, live, find } = setUp()
    putPod(cluster, podNamed('a', { uid: 'a' }))
    assert.ok(find('pod_uid', 'a'))
    identities(cluster).set(identityKey('job_id', 'j'), EMPTY_LABELS)
    live.check()
    assert.deepEqual([find('pod_uid', 'a'), live.size], [undefined, 0])
  })
})
