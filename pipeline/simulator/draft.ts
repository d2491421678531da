/** Makes workloads: gives a kind what it builds with, and collects what it built. */
import type { GpuRequest, Owner, Pod } from './pod.ts'
import { isPod } from './pod.ts'
import type { Random } from './random.ts'
import type { Project, Tenancy } from './tenants.ts'
import { makeProfile } from './utilisation.ts'
import type { Draft, PodTemplate, Size, Workload, WorkloadKind } from './workload.ts'

const NAMES: Readonly<Record<WorkloadKind['profile'], readonly string[]>> = {
  training: ['llama-tune', 'resnet-train', 'bert-pretrain', 'diffusion-train', 'whisper-train', 'rl-policy'],
  inference: ['chat-api', 'embedder', 'reranker', 'image-gen', 'transcribe', 'vision-api'],
  notebook: ['notebook', 'workspace', 'explore', 'debug'],
  batch: ['tokenize', 'evaluate', 'distill', 'featurize', 'render', 'index-build'],
}

export type WorkloadOptions = Size & {
  readonly kind: WorkloadKind
  readonly project: Project
  readonly random: Random
  /** Makes the name different from all others. */
  readonly number: number
  readonly createdMs: number
  readonly nodePool: string
  readonly name?: string
  readonly parent?: Owner
}

export function makeWorkload(options: WorkloadOptions): Workload {
  const { kind, project, random, createdMs, parent } = options
  const name = options.name ?? `${random.pick(NAMES[kind.profile])}-${options.number}`
  const workload: Workload = {
    kind,
    name,
    project,
    random,
    profile: makeProfile(kind.profile, random),
    owners: [],
    templates: new Map(),
    pods: new Set(),
    durationMs: 1000 * secondsBetween(random, kind.minutes),
    retriesLeft: kind.retry === undefined ? 0 : 2,
    startedPods: 0,
    restPlanned: false,
  }
  let annotations: Readonly<Record<string, string>> = {}
  const user = random.pick(project.users)
  const podQueueLabels = podQueueLabelsOf(project, user)
  const draft: Draft = {
    name,
    project,
    user,
    random,
    createdMs,
    nodePool: options.nodePool,
    pods: options.pods,
    request: options.request,
    queueLabels: queueLabelsOf(project),
    ...(parent && { parent }),
    owner(template) {
      const owner: Owner = {
        labels: {},
        annotations: {},
        spec: {},
        ...template,
        namespace: project.namespace,
        uid: random.uuid(),
        createdMs,
        pods: new Set(),
        version: 0,
      }
      workload.owners.push(owner)
      return owner
    },
    annotatePods(more) {
      annotations = more
    },
    pod(template) {
      const labels = { ...podQueueLabels, ...template.labels }
      const [top] = workload.owners
      const own = { ...requestAnnotations(template.request), ...groupAnnotations(project, top) }
      return addPod(
        workload,
        { ...template, labels, annotations: { ...own, ...annotations, ...template.annotations } },
        createdMs,
      )
    },
  }
  kind.build(draft)
  return workload
}

/** One more pod of a workload, from the template of its first ones or of one that it replaces. */
export function addPod(workload: Workload, template: PodTemplate, createdMs: number): Pod {
  const { random, project } = workload
  const pod: Pod = {
    name: template.name ?? template.generateName! + random.suffix(5),
    namespace: project.namespace,
    uid: random.uuid(),
    ...(template.owner && { owner: template.owner }),
    ...(template.generateName !== undefined && { generateName: template.generateName }),
    labels: template.labels ?? {},
    annotations: template.annotations ?? {},
    container: template.container ?? 'main',
    image: template.image,
    schedulerName: SCHEDULERS[project.tenancy],
    restartPolicy: template.restartPolicy ?? 'Never',
    request: template.request,
    cpuMillis: 1000 * gpusWorth(template.request) * (1 + random.below(8)),
    memoryMiB: 4096 * gpusWorth(template.request) * (1 + random.below(8)),
    createdMs,
    phase: 'Pending',
    claims: [],
    runningMs: undefined,
    restarts: 0,
    version: 0,
  }
  workload.templates.set(pod, template)
  workload.pods.add(pod)
  for (const owner of controllersOf(pod)) owner.pods.add(pod)
  return pod
}

/** How many GPUs' worth of CPUs and memory go with a request: so little with a part of one that a node has room for all parts. */
function gpusWorth(request: GpuRequest): number {
  return request.kind === 'whole' ? request.count : 0.125
}

/** The owners of a pod from the bottom up, as far as they are not pods themselves. */
export function* controllersOf(pod: Pod): Iterable<Owner> {
  for (let owner = pod.owner; owner !== undefined && !isPod(owner); owner = owner.owner) yield owner
}

/** Short ones are more frequent than long ones: every doubling of the length is equally likely. */
function secondsBetween(random: Random, [shortest, longest]: readonly [number, number]): number {
  return Math.round(60 * shortest * (longest / shortest) ** random.next())
}

const SCHEDULERS: Readonly<Record<Tenancy, string>> = {
  runai: 'runai-scheduler',
  kai: 'kai-scheduler',
  kueue: 'default-scheduler',
  plain: 'default-scheduler',
}

function queueLabelsOf({ tenancy, name }: Project): Record<string, string> {
  if (tenancy === 'kai') return { 'kai.scheduler/queue': name }
  return tenancy === 'kueue' ? { 'kueue.x-k8s.io/queue-name': `${name}-queue` } : {}
}

function podQueueLabelsOf(project: Project, user: string): Record<string, string> {
  if (project.tenancy === 'kai') return { ...queueLabelsOf(project), user: user.slice(0, user.indexOf('@')) }
  if (project.tenancy !== 'kueue') return {}
  return {
    'kueue.x-k8s.io/local-queue-name': `${project.name}-queue`,
    'kueue.x-k8s.io/cluster-queue-name': project.department,
    'kueue.x-k8s.io/podset': 'main',
  }
}

/** A part of a GPU is no resource of Kubernetes: it is asked for in annotations. */
function requestAnnotations(request: GpuRequest): Record<string, string> {
  if (request.kind !== 'fraction') return {}
  const { part, devices } = request
  return {
    ...('fraction' in part ? { 'gpu-fraction': String(part.fraction) } : { 'gpu-memory': String(part.memoryMiB) }),
    ...(devices > 1 && { 'gpu-fraction-num-devices': String(devices) }),
  }
}

/** KAI groups pods by the object at the top; Run:ai's kinds name their groups themselves. */
function groupAnnotations({ tenancy }: Project, top: Owner | undefined): Record<string, string> {
  return tenancy === 'kai' && top !== undefined ? { 'pod-group-name': `pg-${top.name}-${top.uid}` } : {}
}
