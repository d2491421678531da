/** Workloads of Run:ai, with its marks on every pod. */
import type { Draft, OwnerTemplate, WorkloadKind } from '../workload.ts'
import type { Owner } from '../pod.ts'
import { buildReplicaSet } from './kubernetes.ts'
import { anyOf, fraction, fractionOfGpu, migInstance, noGpus, servingGpus, wholeGpus } from './sizes.ts'

export const training: WorkloadKind = {
  name: 'TrainingWorkload',
  weight: 16,
  tenancies: ['runai'],
  profile: 'training',
  lasting: 'task',
  minutes: [15, 420],
  retry: 'recreate',
  size: anyOf(
    { weight: 3, size: wholeGpus([1, 1, 2, 4], [1, 2, 4, 8]) },
    { weight: 1, size: fractionOfGpu('runai', [0.5]) },
    { weight: 0.3, size: noGpus([1]) },
  ),
  examples: [{ pods: 1, request: { kind: 'none' } }],
  build: draft => buildRunaiJob(draft, 'TrainingWorkload'),
}

export const interactive: WorkloadKind = {
  name: 'InteractiveWorkload',
  weight: 24,
  tenancies: ['runai'],
  profile: 'notebook',
  lasting: 'session',
  minutes: [60, 720],
  size: anyOf({ weight: 1, size: migInstance }, { weight: 1, size: fractionOfGpu('runai', [0.2, 0.25, 0.5]) }),
  examples: [
    fraction('runai', { fraction: 0.25 }),
    fraction('runai', { fraction: 0.25 }, 2),
    fraction('runai', { memoryMiB: 8192 }),
  ],
  build: draft => buildRunaiJob(draft, 'InteractiveWorkload'),
}

export const inference: WorkloadKind = {
  name: 'InferenceWorkload',
  weight: 4,
  tenancies: ['runai'],
  profile: 'inference',
  lasting: 'service',
  minutes: [300, 2880],
  size: anyOf({ weight: 1, size: servingGpus([1, 2]) }, { weight: 1, size: fractionOfGpu('runai', [0.25, 0.5]) }),
  build(draft) {
    const { name } = draft
    const top = draft.owner({ ...workload(draft, 'InferenceWorkload'), labels: runaiLabels(draft) })
    const marks = podMarks(draft, top, 'InferenceWorkload')
    const labels = {
      ...marks,
      'serving.knative.dev/service': name,
      'serving.knative.dev/configuration': name,
      'serving.knative.dev/revision': `${name}-00001`,
    }
    const knative = { apiVersion: 'serving.knative.dev/v1', labels }
    const service = draft.owner({ ...knative, kind: 'Service', name, owner: top })
    const configuration = draft.owner({ ...knative, kind: 'Configuration', name, owner: service })
    const revision = draft.owner({ ...knative, kind: 'Revision', name: `${name}-00001`, owner: configuration })
    const deployment = draft.owner({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      name: `${name}-00001-deployment`,
      owner: revision,
      labels,
      spec: { replicas: draft.pods },
    })
    draft.annotatePods(podAnnotations(draft, top, deployment))
    buildReplicaSet(draft, deployment, labels, 'user-container')
  },
}

function buildRunaiJob(draft: Draft, kind: string): void {
  const { name, pods, request } = draft
  const top = draft.owner({ ...workload(draft, kind), labels: runaiLabels(draft) })
  const job = draft.owner({
    apiVersion: 'run.ai/v1',
    kind: 'RunaiJob',
    name,
    owner: top,
    labels: { ...runaiLabels(draft), release: name, workloadKind: kind, workloadName: name },
    annotations: { user: draft.user },
    spec: { parallelism: pods, completions: pods },
  })
  draft.annotatePods(podAnnotations(draft, top, job))
  for (let at = 0; at < pods; at++) {
    draft.pod({
      name: `${name}-0-${at}`,
      generateName: `${name}-`,
      owner: job,
      labels: {
        ...podMarks(draft, top, kind),
        app: 'runaijob',
        'controller-uid': job.uid,
        createdBy: 'RunaiJob',
        release: name,
        'runai/pod-index': `0-${at}`,
      },
      container: name,
      image: 'registry.example.com/runai/workspace:2.17',
      request,
    })
  }
}

function workload({ name, user }: Draft, kind: string): OwnerTemplate {
  return {
    apiVersion: 'run.ai/v2alpha1',
    kind,
    name,
    annotations: { user },
    spec: { name: { value: name }, username: { value: user } },
  }
}

function runaiLabels({ project }: Draft): Record<string, string> {
  return { project: project.name, 'runai/queue': project.name }
}

function podMarks({ name, project, nodePool }: Draft, top: Owner, kind: string): Record<string, string> {
  return {
    project: project.name,
    'run.ai/top-owner-uid': top.uid,
    'runai/node-pool': nodePool,
    'runai/queue': project.name,
    workloadKind: kind,
    workloadName: name,
  }
}

function podAnnotations(draft: Draft, top: Owner, controller: Owner): Record<string, string> {
  return {
    user: draft.user,
    workloadId: top.uid,
    'runai-job-id': controller.uid,
    'pod-group-name': `pg-${draft.name}-0-${controller.uid}`,
    'runai-calculated-status': 'Pending',
  }
}
