/** A timeline of a made-up cluster: at each step both ways to know it give the pairs that the expected roll-ups have. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { assignDevice } from '../../../pipeline/cluster/assign-device.ts'
import { assignmentRules, isReservation } from '../../../pipeline/cluster/assignment-rules.ts'
import type { Assignment } from '../../../pipeline/cluster/assignment.ts'
import { nodeOf } from '../../../pipeline/cluster/find-node.ts'
import { seenTables, type PodReader } from '../../../pipeline/cluster/find-pod.ts'
import type { SentObject } from '../../../pipeline/cluster/keep-metadata.ts'
import { keepNode } from '../../../pipeline/cluster/keep-node.ts'
import { keepPod } from '../../../pipeline/cluster/keep-pod.ts'
import { livePods } from '../../../pipeline/cluster/live-pods.ts'
import { askedGpus } from '../../../pipeline/cluster/pod-gpus.ts'
import { isBound } from '../../../pipeline/cluster/pod-state.ts'
import { clusterTables } from '../../../pipeline/cluster/tables.ts'
import { normalize } from '../../../processors/normalize.ts'
import { batchFromText, createSource } from '../../support/batch-from-text.ts'
import { putPod } from '../../support/cluster-objects.ts'
import { configOf } from '../../support/config-of.ts'
import { sharedPath } from '../../support/shared.ts'
import { testHost, type TestHost } from '../../support/test-host.ts'

type Step = {
  readonly step: number
  readonly targets: Readonly<Record<string, string>>
  readonly kubernetes_objects: string
}
type SentKind = SentObject & { readonly kind: string }

const folder = sharedPath('conformance', 'oracle')
const RULES = assignmentRules()

if (folder !== undefined) {
  describe('who has which GPU on a timeline', () => {
    const { steps } = JSON.parse(text('timeline.json')) as { steps: readonly Step[] }
    for (const { step, targets, kubernetes_objects: objects } of steps) {
      it(`is the same by the API and by kube-state-metrics at step ${step}, and that of the expected roll-ups`, () => {
        const byApi = withDevices(withObjects(testHost(), text(objects)), targets)
        const byMetrics = withDevices(withMetrics(testHost(), text(targets['kube-state-metrics']!)), targets)
        assert.deepEqual(assigned(byApi).map(summary), assigned(byMetrics).map(summary))
        assert.deepEqual(allocated(byApi), allocated(byMetrics))
        const expected = text('api', 'expected', `${`${step}`.padStart(2, '0')}.prom`)
        assert.deepEqual(pairs(assigned(byApi)), expectedPairs(expected))
        assert.deepEqual(allocated(byApi), expectedAllocations(expected))
      })
    }
  })
}

function text(...parts: string[]): string {
  return readFileSync(join(folder!, ...parts), 'utf8')
}

function withObjects(host: TestHost, list: string): TestHost {
  const { nodes } = clusterTables(host.cluster)
  for (const item of (JSON.parse(list) as { items: SentKind[] }).items) {
    if (item.kind === 'Pod') putPod(host.cluster, keepPod(item))
    if (item.kind === 'Node') nodes.set(item.metadata.name, keepNode(item))
  }
  return host
}

function withMetrics(host: TestHost, metrics: string, url = 'http://ksm:8080/metrics'): TestHost {
  const processor = normalize.create(configOf(normalize, {}), host, () => {})
  processor.consume(batchFromText(metrics, { source: createSource(url) }))
  return host
}

function withDevices(host: TestHost, targets: Step['targets']): TestHost {
  for (const node of ['node-a', 'node-b']) {
    withMetrics(host, text(targets[`dcgm-${node}`]!), `http://${node}:9400/metrics`)
  }
  return host
}

function reader({ cluster }: TestHost): PodReader {
  return { look: entry => entry.value, tables: clusterTables(cluster), seen: seenTables(cluster) }
}

function assigned(host: TestHost): Assignment[] {
  return Array.from(seenTables(host.cluster).devices.values(), device => assignDevice(reader(host), device, RULES))
}

function summary({ device, node, weight, isShared, holdings, rest }: Assignment): unknown {
  const held = holdings.map(({ pod, share }) => `${pod!.pod.uid} ${share}`)
  return [device.id, node, weight, isShared, held, rest]
}

function pairs(assignments: readonly Assignment[]): string[] {
  return assignments
    .flatMap(({ device, node, holdings }) => holdings.map(({ pod }) => `${pod!.pod.uid} ${node} ${device.index}`))
    .sort()
}

function expectedPairs(expected: string): string[] {
  return rows(expected, 'runai_gpu_utilization_per_pod_per_gpu')
    .map(({ labels }) => `${labels['pod_uuid']} ${labels['node']} ${labels['gpu']}`)
    .sort()
}

/** GPUs of bound pods, by uid. */
function allocated(host: TestHost): Record<string, number> {
  const { tables, seen } = reader(host)
  const entries: [string, number][] = []
  for (const { pod } of livePods(tables, seen)) {
    const asked = askedGpus(pod, nodeOf(reader(host), pod.node), RULES)
    if (asked?.gpus !== undefined && isBound(pod) && !isReservation(pod, RULES)) entries.push([pod.uid, asked.gpus])
  }
  return Object.fromEntries(entries)
}

function expectedAllocations(expected: string): Record<string, number> {
  const found = rows(expected, 'runai_allocated_gpu_count_per_pod')
  return Object.fromEntries(found.map(({ labels, value }) => [labels['pod_uuid']!, value]))
}

function rows(expected: string, name: string): { labels: Record<string, string>; value: number }[] {
  return expected
    .split('\n')
    .filter(line => line.startsWith(`${name}{`))
    .map(line => ({
      labels: Object.fromEntries([...line.matchAll(/(\w+)="([^"]*)"/g)].map(([, label, value]) => [label, value])),
      value: Number(line.slice(line.lastIndexOf(' '))),
    }))
}
