/**
 * The cluster of the whole-path benchmark: nodes with eight GPUs, pods on them, jobs that own the pods, as many as asked for.
 *
 * Of four nodes one has a pod with all eight GPUs, the others have one with four, one with three, and a GPU that is free. A job has
 * the pods of two nodes. All names are equally long, so that one text with gaps serves for every node.
 */
import type { GivenObject } from '../../../pipeline/simulator/kubernetes-api/object-identity.ts'
import { dcgmLabels, dcgmText } from '../payloads.ts'

const PROJECTS = 40
const NODES_PER_JOB = 2
/** So many texts with different values are served in turn. */
const TEXTS = 6
const CREATED = '2023-11-14T22:13:20Z'

/** Gaps in the text of a node, each as long as what takes its place. */
const NODE = '@node'
const JOB = '@jobs'
const PROJECT = '@p'

type Template = { readonly bytes: Buffer; readonly gaps: ReadonlyMap<string, Uint32Array> }

const templates = ['one pod', 'two pods'].map((_, kind) =>
  Array.from({ length: TEXTS }, (_, text) => templateFrom(textOf(kind === 0, kind * TEXTS + text + 1))),
)

/** What the exporter of a node answers to its nth scrape. */
export function nodePayload(node: number, scrape: number): Buffer {
  const { bytes, gaps } = templates[hasOnePod(node) ? 0 : 1]![(node + scrape) % TEXTS]!
  const payload = Buffer.from(bytes)
  fill(payload, gaps.get(NODE)!, nodeNumber(node))
  fill(payload, gaps.get(JOB)!, jobNumber(node))
  fill(payload, gaps.get(PROJECT)!, projectNumber(node))
  return payload
}

function fill(payload: Buffer, offsets: Uint32Array, text: string): void {
  const codes = Buffer.from(text)
  for (const offset of offsets) for (let i = 0; i < codes.length; i++) payload[offset + i] = codes[i]!
}

function templateFrom(text: string): Template {
  const offsetsOf = (gap: string): Uint32Array => Uint32Array.from(text.matchAll(new RegExp(gap, 'g')), at => at.index)
  return { bytes: Buffer.from(text), gaps: new Map([NODE, JOB, PROJECT].map(gap => [gap, offsetsOf(gap)])) }
}

function textOf(onePod: boolean, seed: number): string {
  const labels = Array.from({ length: 8 }, (_, gpu) => {
    const pod = podOfGpu(onePod, gpu)
    const holder =
      pod === undefined ? '' : `,container="main",namespace="team-${PROJECT}",pod="${podName(JOB, NODE, pod)}"`
    return dcgmLabels(gpu, `00000${NODE}-${gpu}`, NODE, holder)
  })
  return dcgmText(labels, seed)
}

function podOfGpu(onePod: boolean, gpu: number): number | undefined {
  if (onePod) return 0
  return gpu < 4 ? 0 : gpu < 7 ? 1 : undefined
}

/** What the Kubernetes API says of so many nodes. */
export function kubernetesObjects(nodes: number): GivenObject[] {
  const objects: object[] = []
  for (let project = 0; project < PROJECTS; project++) {
    objects.push({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: `team-${twoDigits(project)}` } })
  }
  for (let node = 0; node < nodes; node++) {
    objects.push(nodeObject(node))
    if (node % NODES_PER_JOB === 0) objects.push(jobObject(node))
    const pods = hasOnePod(node) ? [8] : [4, 3]
    pods.forEach((gpus, pod) => objects.push(podObject(node, pod, gpus)))
  }
  return objects as GivenObject[]
}

function nodeObject(node: number): object {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: nodeName(node), labels: { 'nvidia.com/gpu.count': '8' } },
    status: {
      capacity: { cpu: '96', memory: '1024Gi', 'nvidia.com/gpu': '8' },
      allocatable: { cpu: '95', memory: '1000Gi', 'nvidia.com/gpu': '8' },
      conditions: [{ type: 'Ready', status: 'True' }],
    },
  }
}

function jobObject(node: number): object {
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { ...named(node, `train-${jobNumber(node)}`), uid: jobUid(node) },
    spec: {},
  }
}

function podObject(node: number, pod: number, gpus: number): object {
  const owner = {
    apiVersion: 'batch/v1',
    kind: 'Job',
    name: `train-${jobNumber(node)}`,
    uid: jobUid(node),
    controller: true,
  }
  const requests = { cpu: '8', memory: '64Gi', 'nvidia.com/gpu': String(gpus) }
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      ...named(node, podName(jobNumber(node), nodeNumber(node), pod)),
      uid: `0b6c1c6f-7a11-4c6e-9d0${pod}-0000000${nodeNumber(node)}`,
      ownerReferences: [owner],
    },
    spec: {
      nodeName: nodeName(node),
      containers: [{ name: 'main', image: 'train:1', resources: { requests, limits: requests } }],
    },
    status: {
      phase: 'Running',
      startTime: CREATED,
      conditions: [{ type: 'PodScheduled', status: 'True', lastTransitionTime: CREATED }],
      containerStatuses: [{ name: 'main', ready: true, restartCount: 0, state: { running: { startedAt: CREATED } } }],
    },
  }
}

function named(node: number, name: string): object {
  return { name, namespace: `team-${projectNumber(node)}`, creationTimestamp: CREATED }
}

function hasOnePod(node: number): boolean {
  return node % 4 === 0
}

function nodeName(node: number): string {
  return `gpu-node-${nodeNumber(node)}.cluster.local`
}

function podName(job: string, node: string, pod: number): string {
  return `train-${job}-${node}-${pod}`
}

function jobUid(node: number): string {
  return `5d0f9b1e-2c7a-4d8e-8b1f-0000000${jobNumber(node)}`
}

function nodeNumber(node: number): string {
  return String(node).padStart(NODE.length, '0')
}

function jobNumber(node: number): string {
  return String(Math.floor(node / NODES_PER_JOB)).padStart(JOB.length, '0')
}

function projectNumber(node: number): string {
  return twoDigits(Math.floor(node / NODES_PER_JOB) % PROJECTS)
}

function twoDigits(number: number): string {
  return String(number).padStart(PROJECT.length, '0')
}
