/** What Kubernetes itself brings: Deployment, Job and the jobs of a CronJob. */
import type { Draft, WorkloadKind } from '../workload.ts'
import type { Owner } from '../pod.ts'
import { anyOf, migInstance, noGpus, servingGpus, wholeGpus } from './sizes.ts'

export const deployment: WorkloadKind = {
  name: 'Deployment',
  weight: 6,
  tenancies: ['plain', 'kueue', 'kai'],
  profile: 'inference',
  lasting: 'service',
  minutes: [240, 2880],
  size: servingGpus([1, 1, 2, 3]),
  build(draft) {
    const { name, queueLabels } = draft
    const top = draft.owner({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      name,
      labels: { app: name, ...queueLabels },
      spec: { replicas: draft.pods, selector: { matchLabels: { app: name } } },
    })
    buildReplicaSet(draft, top, { app: name }, 'server')
  },
}

/** The part below a Deployment, also where something else made that. */
export function buildReplicaSet(
  draft: Draft,
  deployment: Owner,
  labels: Readonly<Record<string, string>>,
  container: string,
): void {
  const hash = draft.random.suffix(10)
  const podLabels = { ...labels, 'pod-template-hash': hash }
  const replicaSet = draft.owner({
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    name: `${deployment.name}-${hash}`,
    owner: deployment,
    labels: podLabels,
    spec: { replicas: draft.pods, selector: { matchLabels: podLabels } },
  })
  for (let at = 0; at < draft.pods; at++) {
    draft.pod({
      generateName: `${replicaSet.name}-`,
      owner: replicaSet,
      labels: podLabels,
      container,
      image: 'registry.example.com/serving/model-server:2.4',
      request: draft.request,
      restartPolicy: 'Always',
    })
  }
}

export const job: WorkloadKind = {
  name: 'Job',
  weight: 22,
  tenancies: ['plain', 'kueue', 'kai'],
  profile: 'batch',
  lasting: 'task',
  minutes: [4, 50],
  retry: 'replace',
  size: anyOf(
    { weight: 3, size: wholeGpus([1, 1, 2], [1, 1, 2]) },
    { weight: 1, size: migInstance },
    { weight: 0.5, size: noGpus([1, 2]) },
  ),
  build(draft) {
    buildJob(draft, draft.name, undefined, draft.pods, draft.queueLabels)
  },
}

export const cronJob: WorkloadKind = {
  name: 'CronJob',
  weight: 0,
  tenancies: ['plain', 'kueue'],
  profile: 'batch',
  lasting: 'task',
  minutes: [2, 8],
  size: wholeGpus([1], [1]),
  build(draft) {
    buildJob(draft, draft.name, draft.parent, 1, draft.queueLabels)
  },
}

/** A Job and its pods; labels are for the Job. */
export function buildJob(
  draft: Draft,
  name: string,
  owner: Owner | undefined,
  pods: number,
  labels: Readonly<Record<string, string>>,
  podLabels: Readonly<Record<string, string>> = {},
): Owner {
  const job = draft.owner({
    apiVersion: 'batch/v1',
    kind: 'Job',
    name,
    ...(owner && { owner }),
    labels: { ...labels, ...podLabels },
    spec: { parallelism: pods, completions: pods, backoffLimit: 3 },
  })
  for (let at = 0; at < pods; at++) {
    draft.pod({
      generateName: `${name}-`,
      owner: job,
      labels: { ...podLabels, ...jobLabels(job) },
      image: 'registry.example.com/batch/runner:1.9',
      request: draft.request,
    })
  }
  return job
}

export function jobLabels(job: Owner): Record<string, string> {
  return {
    'batch.kubernetes.io/controller-uid': job.uid,
    'batch.kubernetes.io/job-name': job.name,
    'controller-uid': job.uid,
    'job-name': job.name,
  }
}
