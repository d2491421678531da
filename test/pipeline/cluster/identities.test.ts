import assert from 'node:assert/strict'
import {
  identities,
  identityKey,
  wantIdentities,
  writeIdentities,
  type Identified,
  type IdentityKind,
} from '../../../pipeline/cluster/identities.ts'
import { labelPairs } from '../../../pipeline/model/labels.ts'
import { trackedChanges } from '../../../pipeline/model/tracked.ts'
import { testHost } from '../../support/test-host.ts'

type Attributes = Readonly<Record<string, string>>
const thing = (attributes: Attributes): { get(name: string): string | undefined } => ({ get: name => attributes[name] })

function told(
  workloads: readonly Attributes[],
  pods: readonly Attributes[] = [],
  nodes: readonly Attributes[] = [],
): Identified {
  const byId = new Map(workloads.map(it => [it['workload_id'], thing(it)]))
  const workloadOf: Identified['workloadOf'] = pod => byId.get(pod.get('workload_id'))
  return { workloads: byId.values(), pods: pods.map(thing), nodes: nodes.map(thing), workloadOf }
}

describe('what ids stand for', () => {
  const W = { workload_id: 'w', workload_name: 'train', job_id: 'j', job_name: 'train-0', user: 'ada' }

  function written(...all: readonly Identified[]): (kind: IdentityKind, id: string) => Attributes | undefined {
    const { cluster } = testHost()
    wantIdentities(cluster)
    for (const it of all) writeIdentities(cluster, it)
    return (kind, id) => {
      const known = identities(cluster).get(identityKey(kind, id))
      return known && Object.fromEntries(labelPairs(known))
    }
  }

  it('is found by workload and by job', () => {
    const get = written(told([W]))
    assert.deepEqual(get('workload_id', 'w'), W)
    assert.deepEqual(get('job_id', 'j'), W)
    assert.equal(get('job_id', 'w'), undefined)
  })

  it('is found by pod, whose job is that of its workload', () => {
    const pod = { pod: 'a', namespace: 'ns', pod_uid: 'p', workload_id: 'w', job_id: 'another' }
    const get = written(told([W], [pod]))
    const expected = { ...W, pod: 'a', namespace: 'ns', pod_uid: 'p' }
    assert.deepEqual(get('pod_uid', 'p'), expected)
    assert.deepEqual(get('pod', 'ns/a'), expected)
  })

  it('is found by node', () => {
    const node = { node: 'n', model: 'A100', ready: 'true', schedulable: 'false' }
    assert.deepEqual(written(told([], [], [node]))('node', 'n'), node)
  })

  it('is nothing for an id that two have', () => {
    const get = written(told([W, { ...W, workload_id: 'v' }]))
    assert.equal(get('job_id', 'j'), undefined)
    assert.equal(get('workload_id', 'w')?.['job_id'], 'j')
  })

  it('is forgotten when it is gone, and known again when it is back', () => {
    assert.equal(written(told([W]), told([]))('job_id', 'j'), undefined)
    assert.deepEqual(written(told([W]), told([]), told([W]))('job_id', 'j'), W)
  })

  it('is written only when somebody wants it, and only what has changed', () => {
    const { cluster } = testHost()
    writeIdentities(cluster, told([W]))
    assert.equal(identities(cluster).size, 0)
    wantIdentities(cluster)
    writeIdentities(cluster, told([W]))
    assert.equal(identities(cluster).size, 2)
    const before = trackedChanges()
    writeIdentities(cluster, told([{ ...W }]))
    assert.equal(trackedChanges(), before)
    writeIdentities(cluster, told([{ ...W, user: 'grace' }]))
    assert.equal(trackedChanges(), before + 2)
  })
})
