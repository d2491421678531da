/** A cluster for the benchmarks of roll-ups: put into the model directly, with batches of facts as `normalize` would make them. */
import { SEEN_DEVICES, type Holder, type SeenDevice } from '../../pipeline/cluster/seen.ts'
import type { Pod } from '../../pipeline/cluster/objects.ts'
import type { Cluster } from '../../pipeline/component.ts'
import type { Batch, Source } from '../../pipeline/model/batch.ts'
import { EMPTY_LABELS, labelsFrom, type Labels } from '../../pipeline/model/labels.ts'
import { layoutFromSeries } from '../../pipeline/model/layout.ts'
import { metricFrom } from '../../pipeline/model/series.ts'
import { containerWith, podNamed, putNode, putPod } from '../support/cluster-objects.ts'

export type ClusterSize = { readonly gpus: number; readonly pods: number; readonly projects: number }

export const GPUS_PER_NODE = 8
const CPUS_PER_NODE = 8
const MODEL = 'NVIDIA H100 80GB HBM3'
const CREATED_MS = 1_699_999_000_000

/** Pods have a GPU each; those beyond the number of GPUs share one with another. A pod is a workload of its own. */
export function putCluster(cluster: Cluster, size: ClusterSize): void {
  for (let node = 0; node < nodesOf(size); node++) {
    putNode(cluster, nodeName(node), { 'nvidia.com/gpu.count': String(GPUS_PER_NODE) })
  }
  for (let pod = 0; pod < size.pods; pod++) putPod(cluster, podOf(pod, pod, size))
  const devices = cluster.table<SeenDevice>(SEEN_DEVICES)
  for (let gpu = 0; gpu < size.gpus; gpu++) devices.set(uuidOf(gpu), deviceOf(gpu, size))
}

export function nodesOf({ gpus }: ClusterSize): number {
  return Math.ceil(gpus / GPUS_PER_NODE)
}

/** A pod as part of some workload. */
export function podOf(pod: number, workload: number, size: ClusterSize): Pod {
  const times = { createdMs: CREATED_MS, scheduledMs: CREATED_MS + 1000, startedMs: CREATED_MS + 2000 }
  return {
    ...podNamed(`pod-${pod}`, {
      namespace: `team-${pod % size.projects}`,
      uid: uidOf(pod),
      labels: {
        project: `team-${pod % size.projects}`,
        workloadName: `train-${workload}`,
        workloadKind: 'TrainingWorkload',
      },
      annotations: { workloadId: `workload-${workload}`, user: `user-${pod % 1000}` },
      node: nodeName(nodeOfGpu(gpuOfPod(pod, size))),
      containers: [containerWith({ 'nvidia.com/gpu': 1, cpu: 8, memory: 64e9 })],
    }),
    ...times,
  }
}

function uidOf(pod: number): string {
  return `${String(pod).padStart(8, '0')}-7c4f-4c6e-9d0a-0b6c1c6f7a11`
}

function uuidOf(gpu: number): string {
  return `GPU-${String(gpu).padStart(8, '0')}-2d47-8a3b-55f1-9f2a3c4d5e6f`
}

function nodeName(node: number): string {
  return `node-${node}`
}

function nodeOfGpu(gpu: number): number {
  return Math.floor(gpu / GPUS_PER_NODE)
}

function sharing({ gpus, pods }: ClusterSize): number {
  return Math.floor(gpus / Math.max(1, pods - gpus))
}

function gpuOfPod(pod: number, size: ClusterSize): number {
  return pod < size.gpus ? pod : (pod - size.gpus) * sharing(size)
}

function podsOfGpu(gpu: number, size: ClusterSize): number[] {
  const second = size.pods > size.gpus && gpu % sharing(size) === 0 ? size.gpus + gpu / sharing(size) : size.pods
  return [gpu, second].filter(pod => pod < size.pods)
}

function deviceOf(gpu: number, size: ClusterSize): SeenDevice {
  const node = nodeName(nodeOfGpu(gpu))
  return {
    id: uuidOf(gpu),
    part: undefined,
    profile: undefined,
    index: String(gpu % GPUS_PER_NODE),
    model: MODEL,
    host: node,
    source: { component: 'dcgm', name: `http://${node}:9400/metrics`, labels: EMPTY_LABELS, node },
    holders: podsOfGpu(gpu, size).map((pod): Holder => ({
      pod: `pod-${pod}`,
      namespace: `team-${pod % size.projects}`,
      container: 'main',
      podUid: undefined,
      job: undefined,
      replicas: undefined,
    })),
  }
}

/** The GPUs of each node, every one with all of these facts. */
export function gpuBatches(size: ClusterSize, facts: readonly string[]): Batch[] {
  return perNode(size, 9400, node =>
    Array.from({ length: GPUS_PER_NODE }, (_, i) => node * GPUS_PER_NODE + i).flatMap(gpu => {
      const [pod] = podsOfGpu(gpu, size)
      const labels = labelsFrom([
        ['gpu', String(gpu % GPUS_PER_NODE)],
        ['UUID', uuidOf(gpu)],
        ['Hostname', nodeName(node)],
        ['modelName', MODEL],
        ['namespace', `team-${pod! % size.projects}`],
        ['pod', `pod-${pod}`],
      ])
      return facts.map(fact => ({ fact, labels }))
    }),
  )
}

/** The containers of the pods of each node, as the kubelet shows them. */
export function containerBatches(size: ClusterSize): Batch[] {
  return perNode(size, 10250, node =>
    Array.from({ length: GPUS_PER_NODE }, (_, i) => node * GPUS_PER_NODE + i)
      .flatMap(gpu => podsOfGpu(gpu, size))
      .flatMap(pod => {
        const labels = labelsFrom([
          ['namespace', `team-${pod % size.projects}`],
          ['pod', `pod-${pod}`],
          ['container', 'main'],
        ])
        return ['container.cpu.time', 'container.memory.working_set'].map(fact => ({ fact, labels }))
      }),
  )
}

/** CPUs and memory of each node. */
export function hostBatches(size: ClusterSize): Batch[] {
  return perNode(size, 9100, () => [
    ...Array.from({ length: CPUS_PER_NODE }, (_, cpu) => ({
      fact: 'system.cpu.time',
      labels: labelsFrom([
        ['cpu', String(cpu)],
        ['mode', 'idle'],
      ]),
    })),
    { fact: 'system.memory.limit', labels: EMPTY_LABELS },
    { fact: 'system.linux.memory.available', labels: EMPTY_LABELS },
  ])
}

function perNode(
  size: ClusterSize,
  port: number,
  seriesOf: (node: number) => { readonly fact: string; readonly labels: Labels }[],
): Batch[] {
  return Array.from({ length: nodesOf(size) }, (_, node) => {
    const name = nodeName(node)
    const source: Source = {
      component: 'bench',
      name: `http://${name}:${port}/metrics`,
      labels: EMPTY_LABELS,
      node: name,
    }
    const series = seriesOf(node).map(({ fact, labels }) => ({ metric: metricFrom({ name: fact }), labels }))
    const values = Float64Array.from(series, (_, i) => ((i * 7 + node) % 100) / 100)
    return { source, timeMs: 0, outcome: 'ok', layout: layoutFromSeries(series), values }
  })
}
