/** A timeline of a made-up cluster: at each change both ways to know it give the identity that the expected roll-ups have. */
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { keepMetadata, type SentObject } from '../../pipeline/cluster/keep-metadata.ts'
import { keepPod } from '../../pipeline/cluster/keep-pod.ts'
import { clusterTables } from '../../pipeline/cluster/tables.ts'
import { forEachSample, type Batch } from '../../pipeline/model/batch.ts'
import { labelPairs } from '../../pipeline/model/labels.ts'
import { labelsAt } from '../../pipeline/model/layout.ts'
import { joinWorkload } from '../../processors/join-workload.ts'
import { normalize } from '../../processors/normalize.ts'
import { batchFromText, createSource } from '../support/batch-from-text.ts'
import { putPod } from '../support/cluster-objects.ts'
import { configOf } from '../support/config-of.ts'
import { sharedPath } from '../support/shared.ts'
import { testHost, type TestHost } from '../support/test-host.ts'

type Labels = Readonly<Record<string, string>>
type SentKind = SentObject & { readonly apiVersion: string; readonly kind: string }

const folder = sharedPath('conformance', 'oracle')
const STEPS = ['00', '04', '10', '12', '13', '18', '19']
const IDENTITY = ['workload_id', 'workload_name', 'workload_type', 'project', 'user', 'node', 'pod_uuid']

if (folder !== undefined) {
  describe('the identity of workloads on a timeline', () => {
    for (const step of STEPS) {
      it(`is that of the expected roll-ups at step ${step}, by the API and by kube-state-metrics`, () => {
        const { items } = JSON.parse(text('k8s', `objects.${step}.json`)) as { items: SentKind[] }
        const pods = items.filter(({ kind }) => kind === 'Pod')
        const byApi = joined(withObjects(testHost(), items), pods)
        const byMetrics = joined(withMetrics(testHost(), text('payloads', `kube-state-metrics.${step}.prom`)), pods)
        assert.equal(byApi.length, pods.length)
        assert.deepEqual(marked(byMetrics), marked(byApi))
        const expected = expectedLabels(text('api', 'expected', `${step}.prom`))
        for (const labels of expected) {
          const isShown = byApi.some(one =>
            IDENTITY.every(name => labels[name] === undefined || one[name] === labels[name]),
          )
          assert.ok(isShown, `no pod has ${JSON.stringify(labels)}`)
        }
      })
    }
  })
}

function text(...parts: string[]): string {
  const path = join(folder!, ...parts)
  return existsSync(path) ? readFileSync(path, 'utf8') : ''
}

function withObjects(host: TestHost, items: readonly SentKind[]): TestHost {
  const { owners, namespaces } = clusterTables(host.cluster)
  for (const item of items) {
    const group = item.apiVersion.includes('/') ? item.apiVersion.split('/')[0]! : ''
    const object = keepMetadata(item, { group, kind: item.kind })
    if (item.kind === 'Pod') putPod(host.cluster, keepPod(item))
    else if (item.kind === 'Namespace') namespaces.set(object.name, object)
    else if (object.uid !== '') owners.set(object.uid, object)
  }
  // What is referred to and not there cannot be read.
  for (const { metadata } of items) {
    for (const { uid } of (metadata.ownerReferences ?? []) as { uid: string }[]) {
      if (owners.entry(uid).value === undefined) owners.set(uid, 'unreadable')
    }
  }
  return host
}

function withMetrics(host: TestHost, metrics: string): TestHost {
  const processor = normalize.create(configOf(normalize, {}), host, () => {})
  processor.consume(batchFromText(metrics, { source: createSource('ksm') }))
  return host
}

function joined(host: TestHost, pods: readonly SentKind[]): Labels[] {
  const out: Batch[] = []
  const processor = joinWorkload.create(configOf(joinWorkload, {}), host, batch => void out.push(batch))
  const lines = pods.map(({ metadata }) => `a{namespace="${metadata.namespace}",pod="${metadata.name}"} 1`)
  processor.consume(batchFromText(lines.join('\n')))
  const found: Labels[] = []
  forEachSample(out[0]!, column => void found.push(Object.fromEntries(labelPairs(labelsAt(out[0]!.layout, column)))))
  return found.sort((a, b) => (a['pod']! < b['pod']! ? -1 : 1))
}

/** Without marks kube-state-metrics knows owners by name only, and their ids are others. */
function marked(all: readonly Labels[]): unknown[] {
  return all.filter(({ user }) => user !== undefined).map(labels => IDENTITY.map(name => labels[name]))
}

/** The labels of all lines that speak of a pod or a workload. */
function expectedLabels(expected: string): Labels[] {
  return expected
    .split('\n')
    .filter(line => /workload_id=|pod_uuid=/.test(line))
    .map(line => Object.fromEntries([...line.matchAll(/(\w+)="([^"]*)"/g)].map(([, name, value]) => [name, value])))
}
