/** Clusters and services of others on top of Kubernetes: Ray, KServe. */
import type { WorkloadKind } from '../workload.ts'
import { buildReplicaSet } from './kubernetes.ts'
import { servingGpus, wholeGpus } from './sizes.ts'

export const rayCluster: WorkloadKind = {
  name: 'RayCluster',
  weight: 4,
  tenancies: ['kueue', 'plain', 'kai'],
  profile: 'batch',
  lasting: 'session',
  minutes: [60, 600],
  size: wholeGpus([1, 2, 3], [1, 2, 4]),
  build(draft) {
    const { name, pods } = draft
    const image = 'registry.example.com/ray/ray-ml:2.51'
    const owner = draft.owner({
      apiVersion: 'ray.io/v1',
      kind: 'RayCluster',
      name,
      labels: draft.queueLabels,
      spec: { workerGroupSpecs: [{ groupName: 'gpu', replicas: pods }] },
    })
    const labels = (type: string, group: string): Record<string, string> => ({
      'ray.io/cluster': name,
      'ray.io/group': group,
      'ray.io/is-ray-node': 'yes',
      'ray.io/node-type': type,
    })
    draft.pod({
      generateName: `${name}-head-`,
      owner,
      labels: labels('head', 'headgroup'),
      container: 'ray-head',
      image,
      request: { kind: 'none' },
      restartPolicy: 'Always',
    })
    for (let at = 0; at < pods; at++) {
      draft.pod({
        generateName: `${name}-gpu-worker-`,
        owner,
        labels: labels('worker', 'gpu'),
        container: 'ray-worker',
        image,
        request: draft.request,
        restartPolicy: 'Always',
      })
    }
  },
}

export const inferenceService: WorkloadKind = {
  name: 'InferenceService',
  weight: 4,
  tenancies: ['plain', 'kueue'],
  profile: 'inference',
  lasting: 'service',
  minutes: [300, 2880],
  size: servingGpus([1, 2]),
  build(draft) {
    const { name } = draft
    const labels = {
      app: `isvc.${name}-predictor`,
      component: 'predictor',
      'serving.kserve.io/inferenceservice': name,
    }
    const top = draft.owner({
      apiVersion: 'serving.kserve.io/v1beta1',
      kind: 'InferenceService',
      name,
      labels: draft.queueLabels,
      spec: { predictor: { minReplicas: draft.pods } },
    })
    const predictor = draft.owner({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      name: `${name}-predictor`,
      owner: top,
      labels,
      spec: { replicas: draft.pods, selector: { matchLabels: labels } },
    })
    buildReplicaSet(draft, predictor, labels, 'kserve-container')
  },
}
