import assert from 'node:assert/strict'
import { createCluster } from '../../../pipeline/cluster/cluster.ts'
import type { ObjectRule } from '../../../pipeline/cluster/object-learner.ts'
import type { SeenObject } from '../../../pipeline/cluster/seen-object.ts'
import { SEEN_DEVICES, SEEN_OBJECTS, seenOf, type SeenDevice } from '../../../pipeline/cluster/seen.ts'
import { endBatch, type Batch, type Source } from '../../../pipeline/model/batch.ts'
import { getLabel } from '../../../pipeline/model/labels.ts'
import { batchFromText, createSource } from '../../support/batch-from-text.ts'

const RULES: Readonly<Record<string, ObjectRule>> = {
  phase: { kind: 'Pod', namespace: 'namespace', name: 'pod', uid: 'uid', nonzero: true },
  started: { kind: 'Pod', namespace: 'namespace', name: 'pod', uid: 'uid' },
  capacity: { kind: 'Node', name: 'node' },
}

function setUp() {
  const cluster = createCluster()
  const seen = seenOf(cluster)
  const table = cluster.table<SeenObject>(SEEN_OBJECTS)
  return {
    table,
    devices: cluster.table<SeenDevice>(SEEN_DEVICES),
    seen,
    learn: (batch: Batch) => seen.objects(batch, name => RULES[name]),
    /** Objects as `Kind/namespace/name/uid fact=value ...`. */
    shown: () =>
      [...table.values()]
        .map(({ kind, namespace, name, uid, facts }) => {
          const told = facts.map(fact => `${getLabel(fact.labels, 'phase') ?? fact.name}=${fact.value}`)
          return [`${kind}/${namespace ?? ''}/${name}/${uid ?? ''}`, ...told].join(' ')
        })
        .sort(),
  }
}

describe('objects that facts tell about', () => {
  const first = `
    phase{namespace="n",pod="a",uid="1",phase="Pending"} 1
    phase{namespace="n",pod="a",uid="1",phase="Running"} 0
    started{namespace="n",pod="a",uid="1"} 17
    phase{namespace="n",pod="b",uid="2",phase="Pending"} 0
    phase{namespace="n",pod="b",uid="2",phase="Running"} 1
    capacity{node="node-a"} 8
    capacity{other="x"} 8
    unknown{namespace="n",pod="a"} 1
  `

  it('are there once, with all that was told', () => {
    const { learn, shown } = setUp()
    learn(batchFromText(first))
    assert.deepEqual(shown(), ['Node//node-a/ capacity=8', 'Pod/n/a/1 Pending=1 started=17', 'Pod/n/b/2 Running=1'])
  })

  it('are read by value, and only those whose value changed are written', () => {
    const { learn, shown, table } = setUp()
    const batch = batchFromText(first)
    learn(batch)
    const versions = () => ['Pod/n/a/1', 'Pod/n/b/2'].map(key => table.entry(key).version)
    const before = versions()
    learn({ ...batch, timeMs: 1 })
    assert.deepEqual(versions(), before)
    const values = batch.values.slice()
    values.set([0, 1])
    learn({ ...batch, values })
    assert.deepEqual(shown()[1], 'Pod/n/a/1 Running=1 started=17')
    assert.deepEqual(versions(), [before[0]! + 1, before[1]])
  })

  it('keep what was told of them when a sample is missing', () => {
    const { learn, shown } = setUp()
    const batch = batchFromText(first)
    learn(batch)
    learn({ ...batch, values: batch.values.map(() => -1), absent: Uint32Array.from(batch.values, (_, i) => i) })
    assert.deepEqual(shown()[1], 'Pod/n/a/1 Pending=1 started=17')
  })

  it('come and go with their series, and one of the same name is another', () => {
    const { learn, shown } = setUp()
    let batch = batchFromText(first)
    learn(batch)
    batch = batchFromText(
      `phase{namespace="n",pod="b",uid="2",phase="Running"} 1
       phase{namespace="n",pod="a",uid="3",phase="Pending"} 1
       capacity{node="node-a"} 8`,
      { after: batch },
    )
    learn(batch)
    assert.deepEqual(shown(), ['Node//node-a/ capacity=8', 'Pod/n/a/3 Pending=1', 'Pod/n/b/2 Running=1'])
    batch = batchFromText('phase{namespace="n",pod="c",uid="4",phase="Running"} 1', { after: batch })
    learn(batch)
    assert.deepEqual(shown(), ['Pod/n/c/4 Running=1'])
    learn(batchFromText('unknown 1', { after: batch }))
    assert.deepEqual(shown(), [])
  })

  it('lose a part of what was told when its series is gone', () => {
    const { learn, shown } = setUp()
    const batch = batchFromText(first)
    learn(batch)
    learn(batchFromText('phase{namespace="n",pod="a",uid="1",phase="Pending"} 1', { after: batch }))
    assert.deepEqual(shown(), ['Pod/n/a/1 Pending=1'])
  })

  it('stay while their source fails, and go when it is removed', () => {
    const { learn, shown, seen } = setUp()
    const batch = batchFromText('capacity{node="node-a"} 8')
    learn(batch)
    const { source } = endBatch(batch.source, 1, 'failed')
    seen.ended(source, 'failed')
    assert.equal(shown().length, 1)
    seen.ended(source, 'removed')
    assert.equal(shown().length, 0)
    learn(batch)
    assert.equal(shown().length, 1)
  })

  it('cost a look at new columns only, and leave all others of a hundred thousand alone', () => {
    const { learn, table } = setUp()
    let asked = 0
    const pods = Array.from({ length: 20_000 }, (_, i) => `started{namespace="n",pod="p${i}",uid="${i}"} ${i}`)
    const batch = batchFromText(pods.join('\n'))
    learn(batch)
    const entries = pods.map((_, i) => table.entry(`Pod/n/p${i}/${i}`))
    const versions = entries.map(entry => entry.version)
    learn(
      batchFromText([...pods.slice(0, 10_000), 'started{pod="new"} 1', ...pods.slice(10_000)].join('\n'), {
        after: batch,
      }),
    )
    entries.forEach((entry, i) => (asked += entry.version === versions[i] ? 0 : 1))
    assert.equal(asked, 0)
    assert.equal(table.size, 20_001)
  })
})

describe('devices that sources show', () => {
  const device = (source: Source, id: string, ...pods: string[]): SeenDevice => ({
    id,
    part: undefined,
    profile: undefined,
    index: '0',
    model: 'A100',
    host: 'node-a',
    source,
    holders: pods.map(pod => ({
      pod,
      namespace: 'n',
      container: undefined,
      podUid: undefined,
      job: undefined,
      replicas: undefined,
    })),
  })

  it('are there while a source shows them', () => {
    const { seen, devices } = setUp()
    const source = createSource()
    seen.devices(source, [device(source, 'GPU-1', 'a'), device(source, 'GPU-2')])
    const { version } = devices.entry('GPU-1')
    seen.devices(source, [device(source, 'GPU-1', 'a')])
    assert.deepEqual([...devices.values()], [device(source, 'GPU-1', 'a')])
    assert.equal(devices.entry('GPU-1').version, version)
    seen.devices(source, [device(source, 'GPU-1', 'a', 'b')])
    assert.equal(devices.entry('GPU-1').value!.holders.length, 2)
    seen.ended(source, 'failed')
    assert.equal(devices.size, 1)
    seen.ended(source, 'removed')
    assert.equal(devices.size, 0)
  })

  it('are shown by whoever can be read', () => {
    const { seen, devices } = setUp()
    const [one, other] = [createSource('one'), createSource('other')]
    seen.devices(one, [device(one, 'GPU-1', 'a')])
    seen.devices(other, [device(other, 'GPU-1', 'b')])
    seen.ended(other, 'failed')
    assert.equal(devices.entry('GPU-1').value!.holders[0]!.pod, 'a')
  })
})
