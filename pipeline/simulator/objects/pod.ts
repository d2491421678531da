/** Pods as the API has them. */
import type { KubernetesObject } from '../kubernetes-object.ts'
import { isFinished, limitFactor, qosClassOf, type Pod, type Termination } from '../pod.ts'
import { nodeAddress } from '../node.ts'
import { referenceTo } from './owner.ts'
import { timestamp } from './timestamp.ts'

export const TERMINATION_GRACE_SECONDS = 30

export function podObject(pod: Pod): KubernetesObject {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: pod.name,
      namespace: pod.namespace,
      uid: pod.uid,
      resourceVersion: String(pod.version),
      creationTimestamp: timestamp(pod.createdMs),
      ...(pod.generateName !== undefined && { generateName: pod.generateName }),
      ...(pod.deletionMs !== undefined && {
        // The deletion timestamp is when the pod has to be gone, not when somebody asked for it.
        deletionTimestamp: timestamp(pod.deletionMs + 1000 * TERMINATION_GRACE_SECONDS),
        deletionGracePeriodSeconds: TERMINATION_GRACE_SECONDS,
      }),
      labels: pod.labels,
      annotations: pod.annotations,
      ...(pod.owner && { ownerReferences: [referenceTo(pod.owner)] }),
    },
    spec: {
      containers: [container(pod)],
      dnsPolicy: 'ClusterFirst',
      enableServiceLinks: true,
      ...(pod.nodeName !== undefined && { nodeName: pod.nodeName }),
      priority: 0,
      restartPolicy: pod.restartPolicy,
      schedulerName: pod.schedulerName,
      securityContext: {},
      serviceAccount: 'default',
      serviceAccountName: 'default',
      terminationGracePeriodSeconds: TERMINATION_GRACE_SECONDS,
      tolerations: [{ key: 'nvidia.com/gpu', operator: 'Exists', effect: 'NoSchedule' }],
    },
    status: status(pod),
  }
}

/** GPUs by resource, as quantities, requests and limits alike. */
export function gpuResources({ request }: Pod): Record<string, string> {
  switch (request.kind) {
    case 'whole':
    case 'time_slicing':
      return { 'nvidia.com/gpu': String(request.count) }
    case 'mig':
      return { [`nvidia.com/mig-${request.profile.name}`]: '1' }
    case 'fraction':
    case 'none':
      return {}
  }
}

function plainResources({ cpuMillis, memoryMiB }: Pod, factor: number): Record<string, string> {
  return {
    ...(cpuMillis > 0 && { cpu: `${cpuMillis * factor}m` }),
    ...(memoryMiB > 0 && { memory: `${memoryMiB * factor}Mi` }),
  }
}

function container(pod: Pod): Record<string, unknown> {
  const factor = limitFactor(pod)
  const limits = { ...(factor !== undefined && plainResources(pod, factor)), ...gpuResources(pod) }
  const requests = { ...plainResources(pod, 1), ...gpuResources(pod) }
  return {
    name: pod.container,
    image: pod.image,
    imagePullPolicy: 'IfNotPresent',
    resources: { ...(Object.keys(limits).length > 0 && { limits }), requests },
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
  }
}

function status(pod: Pod): Record<string, unknown> {
  const qosClass = qosClassOf(pod)
  if (pod.nodeName === undefined) {
    const unschedulable = condition('PodScheduled', false, pod.createdMs, 'Unschedulable')
    return { phase: pod.phase, conditions: [unschedulable], qosClass }
  }
  const address = nodeAddress(pod.nodeName)
  return {
    phase: pod.phase,
    conditions: conditions(pod),
    hostIP: address,
    hostIPs: [{ ip: address }],
    ...(pod.podIp !== undefined && { podIP: pod.podIp, podIPs: [{ ip: pod.podIp }] }),
    qosClass,
    startTime: timestamp(pod.scheduledMs!),
    containerStatuses: [containerStatus(pod)],
  }
}

function conditions(pod: Pod): Record<string, unknown>[] {
  const scheduledMs = pod.scheduledMs!
  const ready = pod.runningMs !== undefined
  const changedMs = pod.runningMs ?? pod.termination?.finishedMs ?? pod.lastTermination?.finishedMs ?? scheduledMs
  const reason = ready ? undefined : isFinished(pod) ? 'PodCompleted' : 'ContainersNotReady'
  return [
    condition('Initialized', true, scheduledMs),
    condition('Ready', ready, changedMs, reason),
    condition('ContainersReady', ready, changedMs, reason),
    condition('PodScheduled', true, scheduledMs),
  ]
}

function condition(type: string, holds: boolean, timeMs: number, reason?: string): Record<string, unknown> {
  return {
    type,
    status: holds ? 'True' : 'False',
    lastProbeTime: null,
    lastTransitionTime: timestamp(timeMs),
    ...(reason !== undefined && { reason }),
  }
}

function containerStatus(pod: Pod): Record<string, unknown> {
  const running = pod.runningMs !== undefined
  return {
    name: pod.container,
    image: pod.image,
    imageID: '',
    ready: running,
    started: running,
    restartCount: pod.restarts,
    state: containerState(pod),
    lastState: pod.lastTermination === undefined ? {} : { terminated: terminated(pod.lastTermination) },
    ...(running && { containerID: containerId(pod) }),
  }
}

/** Empty while no container runs. */
export function containerId(pod: Pod): string {
  return pod.runningMs === undefined ? '' : `containerd://${containerHash(pod, pod.restarts)}`
}

/** What the runtime calls a container: after every restart it is another one. */
export function containerHash({ uid }: Pod, restarts: number): string {
  return uid.replaceAll('-', '') + String(restarts).padStart(2, '0')
}

function containerState(pod: Pod): Record<string, unknown> {
  if (pod.runningMs !== undefined) return { running: { startedAt: timestamp(pod.runningMs) } }
  if (pod.termination !== undefined) return { terminated: terminated(pod.termination) }
  return { waiting: { reason: pod.waitingReason ?? 'ContainerCreating' } }
}

function terminated({ reason, exitCode, startedMs, finishedMs }: Termination): Record<string, unknown> {
  return { reason, exitCode, startedAt: timestamp(startedMs), finishedAt: timestamp(finishedMs) }
}
