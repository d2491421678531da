/** Pods and nodes of real clusters with Run:ai, told by the Kubernetes API and as kube-state-metrics would tell of them. */
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { assignDevice } from '../../../pipeline/cluster/assign-device.ts'
import { assignmentRules, isReservation } from '../../../pipeline/cluster/assignment-rules.ts'
import type { Assignment } from '../../../pipeline/cluster/assignment.ts'
import { seenTables, type PodReader } from '../../../pipeline/cluster/find-pod.ts'
import type { SentObject } from '../../../pipeline/cluster/keep-metadata.ts'
import { keepNode, type KeptNode } from '../../../pipeline/cluster/keep-node.ts'
import { keepPod, type KeptPod } from '../../../pipeline/cluster/keep-pod.ts'
import { askedGpus } from '../../../pipeline/cluster/pod-gpus.ts'
import { clusterTables } from '../../../pipeline/cluster/tables.ts'
import { normalize } from '../../../processors/normalize.ts'
import { batchFromText, createSource } from '../../support/batch-from-text.ts'
import { putPod } from '../../support/cluster-objects.ts'
import { configOf } from '../../support/config-of.ts'
import { metricsOfNode, metricsOfPod } from '../../support/metrics-of.ts'
import { sharedPath } from '../../support/shared.ts'
import { testHost, type TestHost } from '../../support/test-host.ts'

const folder = sharedPath('captures')
const RULES = assignmentRules()

type Objects = { readonly pods?: readonly KeptPod[]; readonly nodes?: readonly KeptNode[] }

if (folder !== undefined) {
  describe('who has which GPU on real clusters', () => {
    const frac = keepPod(object('runai_2.17_fractional_pod.yaml'))
    const reservation = keepPod(object('runai_2.17_fractional_pod_reservation.yaml'))
    const mig = keepPod(object('runai_g_2.9_mig_pod_7g-5gb.yaml'))
    const migNode = keepNode(object('runai_g_2.9_mig_node_7g-40gb.yaml'))
    const row = `gpu="0",UUID="GPU-8983c66a-23df-e63b-4c2f-afcae9ec79b3",Hostname="i-0b498db53280b86a6"`
    const named = `${row},pod="${reservation.name}",namespace="${reservation.namespace}",container="c"`

    for (const [name, labels] of [
      ['names the reservation pod', named],
      ['names nobody', row],
    ] as const) {
      it(`is half of a GPU for a pod of a gpu group where the exporter ${name}`, () => {
        for (const assigned of byBoth({ pods: [frac, reservation] }, `DCGM_FI_DEV_GPU_UTIL{${labels}} 7`)) {
          assert.deepEqual(assigned, ['0 frac-1-0-0=0.5 share_left=0.5 weight=1 shared'])
        }
      })
    }

    it('is nobody for a GPU whose reservation pod is not there any more', () => {
      for (const assigned of byBoth({ pods: [frac] }, `DCGM_FI_DEV_GPU_UTIL{${named}} 7`)) {
        assert.deepEqual(assigned, ['0 unknown_pod=1 weight=1'])
      }
    })

    it('is what the annotation of a pod with dynamic MIG says', () => {
      const instance = 'gpu="0",UUID="GPU-1",modelName="NVIDIA A100-SXM4-40GB",GPU_I_ID="0",GPU_I_PROFILE="7g.40gb"'
      const text = `DCGM_FI_DEV_FB_USED{${instance},Hostname="nvidia-dcgm-exporter-x",pod="",namespace=""} 7`
      for (const assigned of byBoth({ pods: [mig], nodes: [migNode] }, text)) {
        assert.deepEqual(assigned, ['0/0 job-969475a25a51-0-0=1 weight=1'])
      }
    })

    it('is nobody where nothing tells the number of the instance', () => {
      const pod = keepPod(object('runai_l2.9_mig_pod_1g-5gb.yaml'))
      const node = keepNode(object('runai_l2.9_mig_node_4_instances.yaml'))
      const text = readFileSync(join(folder, 'dcgm', 'runai_lt2.9_mig_4_workloads_A100-40GB.txt'), 'utf8')
      for (const assigned of byBoth({ pods: [pod], nodes: [node] }, text)) {
        assert.deepEqual(assigned.sort(), [
          `0/5 free=1 weight=${2 / 7}`,
          ...['7', '8', '9'].map(part => `0/${part} free=1 weight=${1 / 7}`),
        ])
      }
    })

    it('is what pods ask for', () => {
      assert.equal(askedGpus(frac, undefined, RULES)?.gpus, 0.5)
      assert.equal(askedGpus(mig, migNode, RULES)?.gpus, 7)
      assert.equal(askedGpus(mig, migNode, assignmentRules({ mig_counts: 'share' }))?.gpus, 1)
      assert.deepEqual(
        [frac, reservation].map(pod => isReservation(pod, RULES)),
        [false, true],
      )
    })
  })
}

function object(name: string): SentObject {
  const path = join(folder!, 'k8s-objects', name)
  assert.ok(existsSync(path), path)
  return parse(readFileSync(path, 'utf8')) as SentObject
}

/** What comes out by the Kubernetes API, and by kube-state-metrics. The target is at the address of the first node. */
function byBoth({ pods = [], nodes = [] }: Objects, devices: string): string[][] {
  const byApi = testHost()
  for (const pod of pods) putPod(byApi.cluster, pod)
  for (const node of nodes) clusterTables(byApi.cluster).nodes.set(node.name, node)
  const byMetrics = testHost()
  show(byMetrics, [...pods.map(metricsOfPod), ...nodes.map(metricsOfNode)].join(''), 'ksm')
  return [byApi, byMetrics].map(host => {
    show(host, devices, `http://${nodes[0]?.addresses[0] ?? '10.9.9.9'}:9400/metrics`)
    return assigned(host)
  })
}

function show(host: TestHost, text: string, url: string): void {
  const processor = normalize.create(configOf(normalize, {}), host, () => {})
  processor.consume(batchFromText(text, { source: createSource(url) }))
}

function assigned({ cluster }: TestHost): string[] {
  const reader: PodReader = { look: entry => entry.value, tables: clusterTables(cluster), seen: seenTables(cluster) }
  return Array.from(reader.seen.devices.values(), device => summary(assignDevice(reader, device, RULES)))
}

function summary({ device, holdings, rest, weight, isShared }: Assignment): string {
  return [
    [device.index, ...(device.part === undefined ? [] : [device.part])].join('/'),
    ...holdings.map(({ pod, share }) => `${pod!.pod.name}=${share}`),
    ...(rest.share > 0 ? [`${rest.reason}=${rest.share}`] : []),
    `weight=${weight}`,
    ...(isShared ? ['shared'] : []),
  ].join(' ')
}
