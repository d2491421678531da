/** Groups of groups: JobSet and LeaderWorkerSet. */
import type { WorkloadKind } from '../workload.ts'
import { buildJob } from './kubernetes.ts'
import { wholeGpus } from './sizes.ts'

export const jobSet: WorkloadKind = {
  name: 'JobSet',
  weight: 5,
  tenancies: ['kueue', 'plain', 'kai'],
  profile: 'training',
  lasting: 'task',
  minutes: [15, 300],
  size: wholeGpus([2, 2, 4], [1, 2, 8]),
  build(draft) {
    const { name, pods } = draft
    const top = draft.owner({
      apiVersion: 'jobset.x-k8s.io/v1alpha2',
      kind: 'JobSet',
      name,
      labels: draft.queueLabels,
      spec: { replicatedJobs: [{ name: 'workers', replicas: pods }] },
    })
    for (let at = 0; at < pods; at++) {
      buildJob(
        draft,
        `${name}-workers-${at}`,
        top,
        1,
        {},
        {
          'jobset.sigs.k8s.io/jobset-name': name,
          'jobset.sigs.k8s.io/jobset-uid': top.uid,
          'jobset.sigs.k8s.io/replicatedjob-name': 'workers',
          'jobset.sigs.k8s.io/job-index': String(at),
          'jobset.sigs.k8s.io/job-global-index': String(at),
        },
      )
    }
  },
}

export const leaderWorkerSet: WorkloadKind = {
  name: 'LeaderWorkerSet',
  weight: 2,
  tenancies: ['plain', 'kueue'],
  profile: 'inference',
  lasting: 'service',
  minutes: [240, 1440],
  size: wholeGpus([2, 2, 4], [1, 4, 8]),
  build(draft) {
    const { name, pods, request } = draft
    const image = 'registry.example.com/serving/multi-node:0.14'
    const top = draft.owner({
      apiVersion: 'leaderworkerset.x-k8s.io/v1',
      kind: 'LeaderWorkerSet',
      name,
      labels: draft.queueLabels,
      spec: { replicas: 1, leaderWorkerTemplate: { size: pods } },
    })
    const labels = (worker: number): Record<string, string> => ({
      'leaderworkerset.sigs.k8s.io/name': name,
      'leaderworkerset.sigs.k8s.io/group-index': '0',
      'leaderworkerset.sigs.k8s.io/worker-index': String(worker),
    })
    const leaders = draft.owner({ apiVersion: 'apps/v1', kind: 'StatefulSet', name, owner: top, spec: { replicas: 1 } })
    const leader = draft.pod({
      name: `${name}-0`,
      owner: leaders,
      labels: labels(0),
      image,
      request,
      restartPolicy: 'Always',
    })
    if (pods === 1) return
    // The workers' StatefulSet belongs to a pod, the leader.
    const workers = draft.owner({
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      name: `${name}-0`,
      owner: leader,
      spec: { replicas: pods - 1 },
    })
    for (let at = 1; at < pods; at++) {
      draft.pod({
        name: `${name}-0-${at}`,
        owner: workers,
        labels: labels(at),
        image,
        request,
        restartPolicy: 'Always',
      })
    }
  },
}
