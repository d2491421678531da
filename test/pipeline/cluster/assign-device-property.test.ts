import assert from 'node:assert/strict'
import fc from 'fast-check'
import { assignDevice } from '../../../pipeline/cluster/assign-device.ts'
import { assignmentRules } from '../../../pipeline/cluster/assignment-rules.ts'
import type { Assignment } from '../../../pipeline/cluster/assignment.ts'
import { createCluster } from '../../../pipeline/cluster/cluster.ts'
import { seenTables, type PodReader } from '../../../pipeline/cluster/find-pod.ts'
import type { Pod } from '../../../pipeline/cluster/objects.ts'
import type { Holder, SeenDevice } from '../../../pipeline/cluster/seen.ts'
import { clusterTables } from '../../../pipeline/cluster/tables.ts'
import type { Cluster } from '../../../pipeline/component.ts'
import { normalize } from '../../../processors/normalize.ts'
import { batchFromText, createSource } from '../../support/batch-from-text.ts'
import { podNamed, putNode, putPod } from '../../support/cluster-objects.ts'
import { configOf } from '../../support/config-of.ts'
import { metricsOfNode, metricsOfPod } from '../../support/metrics-of.ts'
import { testHost } from '../../support/test-host.ts'

const NODES = ['node-a', 'node-b']
const GROUPS = ['G-1', 'g-2']
const NAMES = ['a', 'b', 'c', 'd', 'e', 'f']
const rules = assignmentRules()

const pod = fc
  .record({
    name: fc.constantFrom(...NAMES),
    namespace: fc.constantFrom('ns', 'ns', 'runai-reservation'),
    node: fc.constantFrom(...NODES, ''),
    phase: fc.constantFrom('Running', 'Pending', 'Succeeded', 'Failed'),
    groups: fc.subarray(GROUPS),
    isInSeveral: fc.boolean(),
    annotations: fc.record(
      {
        'gpu-fraction': fc.constantFrom('0.1', '0.25', '0.3', '0.6', '1', 'x', '-1'),
        'gpu-memory': fc.constantFrom('1000', '30000', '90000'),
        'run.ai/reserve_for_gpu_index': fc.constantFrom('GPU-0', 'GPU-1'),
        'runai-mig-device': fc.constantFrom('{"gpuindex":0,"gpuinstanceid":1}', '{}', 'no'),
      },
      { requiredKeys: [] },
    ),
  })
  .map(({ name, namespace, node, phase, groups, isInSeveral, annotations }): Pod => {
    const labels = groups.map(group =>
      isInSeveral ? [`runai-gpu-group/${group}`, 'x'] : ['runai-gpu-group', group],
    ) as [string, string][]
    const parts = { namespace, node, phase: phase as Pod['phase'], annotations, labels: Object.fromEntries(labels) }
    return podNamed(name, { ...parts, uid: `${namespace}-${name}` })
  })

const holder = fc
  .record({
    pod: fc.constantFrom(...NAMES, 'unknown', undefined),
    namespace: fc.constantFrom('ns', 'ns', 'runai-reservation'),
    container: fc.constantFrom('x', 'y'),
    job: fc.constantFrom(undefined, undefined, undefined, '17', '18'),
    replicas: fc.constantFrom(undefined, undefined, 1, 2, 7),
  })
  .map((parts): Holder => ({ ...parts, podUid: undefined }))

const device = fc
  .record({
    id: fc.constantFrom('GPU-0', 'GPU-1'),
    part: fc.constantFrom(undefined, undefined, '1'),
    profile: fc.constantFrom(undefined, '1g.5gb', '3g.20gb', '7g.40gb'),
    model: fc.constantFrom(undefined, 'NVIDIA A100', 'NVIDIA A30'),
    host: fc.constantFrom(...NODES, 'elsewhere', undefined),
    holders: fc.array(holder, { maxLength: 5 }),
  })
  .map((parts): SeenDevice => ({ ...parts, index: '0', source: createSource('test') }))

const nodeLabels = fc.record(
  { 'nvidia.com/gpu.replicas': fc.constantFrom('1', '4'), 'nvidia.com/gpu.memory': fc.constant('40960') },
  { requiredKeys: [] },
) as fc.Arbitrary<Record<string, string>>

const cases = [nodeLabels, fc.array(pod, { maxLength: 8 }), fc.array(device, { minLength: 1, maxLength: 4 })] as const

function reader(cluster: Cluster): PodReader {
  return { look: entry => entry.value, tables: clusterTables(cluster), seen: seenTables(cluster) }
}

function byApi(labels: Readonly<Record<string, string>>, pods: readonly Pod[]): Cluster {
  const cluster = createCluster()
  for (const name of NODES) putNode(cluster, name, labels)
  for (const one of pods) putPod(cluster, one)
  return cluster
}

/** What the API shows, told by series. */
function byMetrics(api: Cluster): Cluster {
  const { pods, nodes } = clusterTables(api)
  const cluster = createCluster()
  const processor = normalize.create(configOf(normalize, {}), { ...testHost(), cluster }, () => {})
  const text = [...Array.from(pods.values(), metricsOfPod), ...Array.from(nodes.values(), metricsOfNode)].join('')
  processor.consume(batchFromText(text, { source: createSource('ksm') }))
  return cluster
}

function summary({ holdings, rest, isShared, weight, node }: Assignment): unknown {
  const held = holdings.map(({ pod: found, job, share }) => [found?.pod.uid, job, share])
  return { held, rest, isShared, weight, node }
}

describe('who has which part of a device, for random pods and devices', () => {
  it('adds up to the device, names each once and gives nobody nothing', () => {
    fc.assert(
      fc.property(...cases, (labels, pods, devices) => {
        const cluster = byApi(labels, pods)
        for (const one of devices) {
          const { holdings, rest, isShared, weight } = assignDevice(reader(cluster), one, rules)
          assert.equal(
            [...holdings, rest].reduce((sum, { share }) => sum + share, 0),
            1,
          )
          assert.ok(rest.share >= 0 && holdings.every(({ share }) => share > 0))
          assert.ok(weight > 0 && weight <= 1)
          const keys = holdings.map(({ pod: found, job }) => job ?? found!.pod.uid)
          assert.equal(new Set(keys).size, keys.length)
          assert.ok(holdings.length < 2 || isShared)
          assert.equal(rest.reason === 'share_left', holdings.length > 0)
          for (const { pod: found } of holdings) {
            assert.ok(found === undefined || (found.pod.node !== '' && !/Succeeded|Failed/.test(found.pod.phase!)))
            assert.notEqual(found?.pod.namespace, 'runai-reservation')
          }
        }
      }),
      { numRuns: 500 },
    )
  })

  it('is the same by the Kubernetes API and by kube-state-metrics', () => {
    fc.assert(
      fc.property(...cases, (labels, pods, devices) => {
        const api = byApi(labels, pods)
        const metrics = byMetrics(api)
        for (const one of devices) {
          const [left, right] = [api, metrics].map(cluster => summary(assignDevice(reader(cluster), one, rules)))
          assert.deepEqual(left, right)
        }
      }),
      { numRuns: 100 },
    )
  })

  it('is what it was before, when all that came since is gone again', () => {
    fc.assert(
      fc.property(...cases, fc.array(pod, { maxLength: 8 }), (labels, before, devices, since) => {
        const cluster = byApi(labels, before)
        const { pods } = clusterTables(cluster)
        const known = [...pods.values()]
        const all = () => devices.map(one => summary(assignDevice(reader(cluster), one, rules)))
        const first = all()
        for (const one of since) putPod(cluster, one)
        for (const one of pods.values()) if (!known.some(({ uid }) => uid === one.uid)) pods.delete(one.uid)
        for (const one of known) putPod(cluster, one)
        for (const { namespace, name, uid } of since) {
          if (pods.get(uid) === undefined) clusterTables(cluster).podNames.delete(`${namespace}/${name}`)
        }
        assert.deepEqual(all(), first)
      }),
      { numRuns: 200 },
    )
  })
})
