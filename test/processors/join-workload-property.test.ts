import assert from 'node:assert/strict'
import fc from 'fast-check'
import { seenOf } from '../../pipeline/cluster/seen.ts'
import { clusterTables } from '../../pipeline/cluster/tables.ts'
import type { Cluster, Processor } from '../../pipeline/component.ts'
import { endBatch, type Batch } from '../../pipeline/model/batch.ts'
import { joinWorkload } from '../../processors/join-workload.ts'
import { batchFromText, createSource } from '../support/batch-from-text.ts'
import {
  objectNamed,
  podNamed,
  putNamespace,
  putNode,
  putPod,
  referenceTo,
  removePod,
} from '../support/cluster-objects.ts'
import { configOf } from '../support/config-of.ts'
import { testHost, type TestHost } from '../support/test-host.ts'
import { textFromBatch } from '../support/text-from-batch.ts'

const NAMES = ['p-0', 'p-1', 'p-2']
const UIDS = ['u-0', 'u-1', 'u-2']
const OWNERS = ['ReplicaSet.apps/r', 'Deployment.apps/d', 'Job.batch/j', 'Job.batch.volcano.sh/v'].map(text =>
  objectNamed(text),
)
const KSM = createSource('ksm')

const TEXT = NAMES.flatMap(name => [
  `a{namespace="ns",pod="${name}"} 1`,
  `b{namespace="ns",pod="${name}"} 1`,
  ...UIDS.map(uid => `c{namespace="ns",pod="${name}",pod_uid="${uid}"} 1`),
]).join('\n')

/** One change of the model. */
type Change = (cluster: Cluster) => void

const owner = fc.option(fc.integer({ min: 0, max: OWNERS.length - 1 }), { nil: undefined })
const owners = (index: number | undefined) => (index === undefined ? [] : [referenceTo(OWNERS[index]!)])
const pod = fc
  .record({
    name: fc.constantFrom(...NAMES),
    uid: fc.constantFrom(...UIDS),
    node: fc.constantFrom('', 'node-a', 'node-b'),
    owner,
    project: fc.option(fc.constantFrom('x', 'y'), { nil: undefined }),
  })
  .map(({ name, uid, node, owner: index, project }) =>
    podNamed(name, { uid, node, owners: owners(index), labels: project === undefined ? {} : { project } }),
  )

const change: fc.Arbitrary<Change> = fc.oneof(
  pod.map(one => (cluster: Cluster) => putPod(cluster, one)),
  pod.map(one => (cluster: Cluster) => removePod(cluster, one)),
  fc.constantFrom(...UIDS).map(uid => (cluster: Cluster) => clusterTables(cluster).gonePods.delete(uid)),
  fc
    .tuple(fc.constantFrom(...OWNERS), owner, fc.constantFrom('read', 'unreadable', 'gone'))
    .map(([object, above, what]) => (cluster: Cluster) => {
      const table = clusterTables(cluster).owners
      if (what === 'gone') table.delete(object.uid)
      else table.set(object.uid, what === 'unreadable' ? what : { ...object, owners: owners(above) })
    }),
  fc.constantFrom('x', 'y').map(project => (cluster: Cluster) => putNamespace(cluster, 'ns', { project })),
  fc
    .constantFrom('node-a', 'node-b')
    .map(node => (cluster: Cluster) => putNode(cluster, node, { 'runai/node-pool': node })),
  fc
    .array(
      fc.tuple(
        fc.constantFrom(...NAMES),
        fc.constantFrom(...UIDS, ''),
        fc.constantFrom('ReplicaSet', 'Job'),
        fc.nat(3),
      ),
      { maxLength: 4 },
    )
    .map(rows => (cluster: Cluster) => tell(cluster, rows)),
  fc.constant((cluster: Cluster) => seenOf(cluster).ended(KSM, 'removed')),
)

/** What kube-state-metrics tells from now on. */
function tell(cluster: Cluster, rows: readonly (readonly [string, string, string, number])[]): void {
  const lines = rows.flatMap(([name, uid, kind, time]) => [
    `kube_pod_owner{namespace="ns",pod="${name}",uid="${uid}",owner_kind="${kind}",owner_name="r",owner_is_controller="true"} 1`,
    `kube_pod_created{namespace="ns",pod="${name}",uid="${uid}"} ${time}`,
  ])
  const unique = [...new Map(lines.map(line => [line.split('} ')[0], line])).values()]
  seenOf(cluster).objects(batchFromText(unique.join('\n'), { source: KSM }), () => ({
    kind: 'Pod',
    namespace: 'namespace',
    name: 'pod',
    uid: 'uid',
  }))
}

function processorOn(host: TestHost, out: Batch[]): Processor {
  return joinWorkload.create(configOf(joinWorkload, {}), host, batch => void out.push(batch))
}

describe('join_workload after any changes of the model', () => {
  it('shows what one shows that has never seen anything else', () => {
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 25 }), changes => {
        const host = testHost()
        const out: Batch[] = []
        const processor = processorOn(host, out)
        const batch = batchFromText(TEXT)
        for (const one of changes) {
          one(host.cluster)
          processor.consume(batch)
          const fresh: Batch[] = []
          processorOn(host, fresh).consume(batch)
          assert.equal(textFromBatch(out.at(-1)!), textFromBatch(fresh[0]!))
        }
        processor.consume(endBatch(batch.source, 0, 'removed'))
      }),
      { numRuns: 100 },
    )
  })
})
