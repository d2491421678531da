/** Jobs of the Kubeflow training operators, and notebooks. */
import type { WorkloadKind } from '../workload.ts'
import { jobLabels } from './kubernetes.ts'
import { fraction, fractionOfGpu, wholeGpus } from './sizes.ts'

function trainingLabels(jobName: string, operator: string, role: string, index: number): Record<string, string> {
  return {
    'training.kubeflow.org/job-name': jobName,
    'training.kubeflow.org/job-role': role,
    'training.kubeflow.org/operator-name': operator,
    'training.kubeflow.org/replica-index': String(index),
    'training.kubeflow.org/replica-type': role,
  }
}

export const pyTorchJob: WorkloadKind = {
  name: 'PyTorchJob',
  weight: 16,
  tenancies: ['plain', 'kueue', 'kai'],
  profile: 'training',
  lasting: 'task',
  minutes: [20, 480],
  retry: 'recreate',
  size: wholeGpus([1, 2, 2, 4], [1, 2, 4, 8]),
  build(draft) {
    const { name, pods, request } = draft
    const replicas = { Master: { replicas: 1 }, ...(pods > 1 && { Worker: { replicas: pods - 1 } }) }
    const owner = draft.owner({
      apiVersion: 'kubeflow.org/v1',
      kind: 'PyTorchJob',
      name,
      labels: draft.queueLabels,
      spec: { pytorchReplicaSpecs: replicas },
    })
    for (let at = 0; at < pods; at++) {
      const [role, index] = at === 0 ? (['master', 0] as const) : (['worker', at - 1] as const)
      draft.pod({
        name: `${name}-${role}-${index}`,
        owner,
        labels: trainingLabels(name, 'pytorchjob-controller', role, index),
        container: 'pytorch',
        image: 'registry.example.com/training/pytorch:2.9',
        request,
      })
    }
  },
}

export const mpiJob: WorkloadKind = {
  name: 'MPIJob',
  weight: 4,
  tenancies: ['plain', 'kueue'],
  profile: 'training',
  lasting: 'task',
  minutes: [20, 240],
  size: wholeGpus([2, 4], [1, 4, 8]),
  build(draft) {
    const { name, pods, request } = draft
    const image = 'registry.example.com/training/mpi:5.0'
    const owner = draft.owner({
      apiVersion: 'kubeflow.org/v2beta1',
      kind: 'MPIJob',
      name,
      labels: draft.queueLabels,
      spec: { slotsPerWorker: 1, mpiReplicaSpecs: { Launcher: { replicas: 1 }, Worker: { replicas: pods } } },
    })
    for (let at = 0; at < pods; at++) {
      draft.pod({
        name: `${name}-worker-${at}`,
        owner,
        labels: trainingLabels(name, 'mpi-operator', 'worker', at),
        image,
        request,
      })
    }
    // The launcher holds no GPU; it belongs to a Job in between.
    const launcher = draft.owner({
      apiVersion: 'batch/v1',
      kind: 'Job',
      name: `${name}-launcher`,
      owner,
      spec: { completions: 1 },
    })
    draft.pod({
      generateName: `${launcher.name}-`,
      owner: launcher,
      labels: { ...trainingLabels(name, 'mpi-operator', 'launcher', 0), ...jobLabels(launcher) },
      image,
      request: { kind: 'none' },
    })
  },
}

/** Shares GPUs by way of KAI, where Run:ai's interactive workloads do so by Run:ai. */
export const notebook: WorkloadKind = {
  name: 'Notebook',
  weight: 8,
  tenancies: ['kai'],
  profile: 'notebook',
  lasting: 'session',
  minutes: [60, 720],
  size: fractionOfGpu('kai', [0.25, 0.5]),
  examples: [fraction('kai', { fraction: 0.5 }), fraction('kai', { memoryMiB: 20_000 })],
  build(draft) {
    const { name, queueLabels } = draft
    const owner = draft.owner({ apiVersion: 'kubeflow.org/v1', kind: 'Notebook', name, labels: queueLabels })
    const statefulSet = draft.owner({ apiVersion: 'apps/v1', kind: 'StatefulSet', name, owner, spec: { replicas: 1 } })
    draft.pod({
      name: `${name}-0`,
      owner: statefulSet,
      labels: { app: name, 'notebook-name': name, statefulset: name },
      container: name,
      image: 'registry.example.com/notebooks/jupyter-pytorch:1.10',
      request: draft.request,
      restartPolicy: 'Always',
    })
  },
}
