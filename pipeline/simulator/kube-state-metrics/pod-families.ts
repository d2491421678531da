/** The families of pods. */
import { nodeAddress } from '../node.ts'
import { containerId, gpuResources, TERMINATION_GRACE_SECONDS } from '../objects/pod.ts'
import { isFinished, limitFactor, qosClassOf, type Pod, type Termination } from '../pod.ts'
import { kindOf, line, oneOf, ownerFamily, seconds, single, type Family } from './family.ts'
import { renderLabels, resourceName, type AllowList } from './label-names.ts'

const PHASES = ['Pending', 'Succeeded', 'Failed', 'Unknown', 'Running']
const CONDITIONS = ['true', 'false', 'unknown']

export function podIdentity({ namespace, name, uid }: Pod): string {
  return `namespace="${namespace}",pod="${name}",uid="${uid}"`
}

export function podFamilies(labels: AllowList, annotations: AllowList): Family<Pod>[] {
  const allowedLabels = labels['pods']
  const allowedAnnotations = annotations['pods']
  return [
    single('kube_pod_completion_time', '[STABLE] Completion time in unix timestamp for a pod.', pod =>
      pod.termination === undefined ? undefined : seconds(pod.termination.finishedMs),
    ),
    single('kube_pod_container_info', '[STABLE] Information about a container in a pod.', () => 1, containerInfo),
    resources(
      'kube_pod_container_resource_limits',
      '[STABLE] The number of requested limit resource by a container.',
      limits,
    ),
    resources(
      'kube_pod_container_resource_requests',
      '[STABLE] The number of requested request resource by a container.',
      requests,
    ),
    single(
      'kube_pod_container_state_started',
      '[STABLE] Start time in unix timestamp for a pod container.',
      pod => startedSeconds(pod),
      containerLabel,
    ),
    single(
      'kube_pod_container_status_last_terminated_reason',
      'Describes the last reason the container was in terminated state.',
      pod => (pod.lastTermination === undefined ? undefined : 1),
      pod => containerLabel(pod) + reasonLabel(pod.lastTermination),
    ),
    status(
      'kube_pod_container_status_ready',
      '[STABLE] Describes whether the containers readiness check succeeded.',
      isRunning,
    ),
    single(
      'kube_pod_container_status_restarts_total',
      '[STABLE] The number of container restarts per container.',
      pod => (pod.nodeName === undefined ? undefined : pod.restarts),
      containerLabel,
      'counter',
    ),
    status(
      'kube_pod_container_status_running',
      '[STABLE] Describes whether the container is currently in running state.',
      isRunning,
    ),
    status(
      'kube_pod_container_status_terminated',
      '[STABLE] Describes whether the container is currently in terminated state.',
      isFinished,
    ),
    single(
      'kube_pod_container_status_terminated_reason',
      'Describes the reason the container is currently in terminated state.',
      pod => (pod.termination === undefined ? undefined : 1),
      pod => containerLabel(pod) + reasonLabel(pod.termination),
    ),
    status(
      'kube_pod_container_status_waiting',
      '[STABLE] Describes whether the container is currently in waiting state.',
      isWaiting,
    ),
    single(
      'kube_pod_container_status_waiting_reason',
      '[STABLE] Describes the reason the container is currently in waiting state.',
      pod => (isWaiting(pod) && pod.nodeName !== undefined ? 1 : undefined),
      pod => `${containerLabel(pod)},reason="${pod.waitingReason ?? 'ContainerCreating'}"`,
    ),
    single('kube_pod_created', '[STABLE] Unix creation timestamp', pod => seconds(pod.createdMs)),
    single('kube_pod_deletion_timestamp', 'Unix deletion timestamp', ({ deletionMs }) =>
      deletionMs === undefined ? undefined : seconds(deletionMs) + TERMINATION_GRACE_SECONDS,
    ),
    single('kube_pod_info', '[STABLE] Information about pod.', () => 1, podInfo),
    single(
      'kube_pod_annotations',
      'Kubernetes annotations converted to Prometheus labels.',
      () => (allowedAnnotations === undefined ? undefined : 1),
      pod => renderLabels('annotation', pod.annotations, allowedAnnotations!),
    ),
    single(
      'kube_pod_labels',
      '[STABLE] Kubernetes labels converted to Prometheus labels.',
      () => (allowedLabels === undefined ? undefined : 1),
      pod => renderLabels('label', pod.labels, allowedLabels!),
    ),
    ownerFamily('kube_pod_owner', "[STABLE] Information about the Pod's owner."),
    single(
      'kube_pod_restart_policy',
      '[STABLE] Describes the restart policy in use by this pod.',
      () => 1,
      pod => `,type="${pod.restartPolicy}"`,
    ),
    single('kube_pod_start_time', '[STABLE] Start time in unix timestamp for a pod.', pod =>
      pod.scheduledMs === undefined ? undefined : seconds(pod.scheduledMs),
    ),
    {
      name: 'kube_pod_status_phase',
      help: '[STABLE] The pods current phase.',
      type: 'gauge',
      lines: (name, identity, pod) => oneOf(name, identity, 'phase', PHASES, pod.phase),
    },
    single(
      'kube_pod_status_qos_class',
      'The pods current qosClass.',
      () => 1,
      pod => `,qos_class="${qosClassOf(pod)}"`,
    ),
    {
      name: 'kube_pod_status_ready',
      help: '[STABLE] Describes whether the pod is ready to serve requests.',
      type: 'gauge',
      lines: (name, identity, pod) =>
        pod.nodeName === undefined ? '' : oneOf(name, identity, 'condition', CONDITIONS, String(isRunning(pod))),
    },
    single('kube_pod_status_ready_time', 'Readiness achieved time in unix timestamp for a pod.', pod =>
      pod.runningMs === undefined ? undefined : seconds(pod.runningMs),
    ),
    {
      name: 'kube_pod_status_scheduled',
      help: '[STABLE] Describes the status of the scheduling process for the pod.',
      type: 'gauge',
      lines: (name, identity, pod) =>
        oneOf(name, identity, 'condition', CONDITIONS, String(pod.nodeName !== undefined)),
    },
    single('kube_pod_status_scheduled_time', '[STABLE] Unix timestamp when pod moved into scheduled status', pod =>
      pod.scheduledMs === undefined ? undefined : seconds(pod.scheduledMs),
    ),
    single('kube_pod_status_unschedulable', '[STABLE] Describes the unschedulable status for the pod.', pod =>
      pod.nodeName === undefined ? 1 : undefined,
    ),
  ]
}

function containerLabel({ container }: Pod): string {
  return `,container="${container}"`
}

function reasonLabel(termination: Termination | undefined): string {
  return `,reason="${termination?.reason}"`
}

/** About the state of the container: there is none before the pod is bound. */
function status(name: string, help: string, holds: (pod: Pod) => boolean): Family<Pod> {
  return single(name, help, pod => (pod.nodeName === undefined ? undefined : Number(holds(pod))), containerLabel)
}

function isRunning(pod: Pod): boolean {
  return pod.runningMs !== undefined
}

function isWaiting(pod: Pod): boolean {
  return pod.runningMs === undefined && !isFinished(pod)
}

function startedSeconds(pod: Pod): number | undefined {
  const startedMs = pod.runningMs ?? pod.termination?.startedMs
  return startedMs === undefined ? undefined : seconds(startedMs)
}

function containerInfo(pod: Pod): string {
  return `${containerLabel(pod)},image_spec="${pod.image}",image="${pod.image}",image_id="",container_id="${containerId(pod)}"`
}

function podInfo(pod: Pod): string {
  const { nodeName, owner } = pod
  const hostIp = nodeName === undefined ? '' : nodeAddress(nodeName)
  const createdBy =
    owner === undefined
      ? 'created_by_kind="",created_by_name=""'
      : `created_by_kind="${kindOf(owner)}",created_by_name="${owner.name}"`
  return `,host_ip="${hostIp}",pod_ip="${pod.podIp ?? ''}",node="${nodeName ?? ''}",${createdBy},priority_class="",host_network="false"`
}

type Amount = { readonly resource: string; readonly unit: string; readonly amount: number }

function limits(pod: Pod): Amount[] {
  const factor = limitFactor(pod)
  return factor === undefined ? gpus(pod) : [...gpus(pod), ...cpuAndMemory(pod, factor)]
}

function requests(pod: Pod): Amount[] {
  return [...gpus(pod), ...cpuAndMemory(pod, 1)]
}

function gpus(pod: Pod): Amount[] {
  return Object.entries(gpuResources(pod)).map(([resource, count]) => ({
    resource: resourceName(resource),
    unit: 'integer',
    amount: Number(count),
  }))
}

function cpuAndMemory({ cpuMillis, memoryMiB }: Pod, factor: number): Amount[] {
  const amounts: Amount[] = []
  if (cpuMillis > 0) amounts.push({ resource: 'cpu', unit: 'core', amount: (cpuMillis * factor) / 1000 })
  if (memoryMiB > 0) amounts.push({ resource: 'memory', unit: 'byte', amount: memoryMiB * factor * 1_048_576 })
  return amounts
}

function resources(name: string, help: string, amounts: (pod: Pod) => Amount[]): Family<Pod> {
  return {
    name,
    help,
    type: 'gauge',
    lines(name, identity, pod) {
      let text = ''
      for (const { resource, unit, amount } of amounts(pod)) {
        const labels = `${containerLabel(pod)},node="${pod.nodeName ?? ''}",resource="${resource}",unit="${unit}"`
        text += line(name, identity, labels, amount)
      }
      return text
    },
  }
}
