/** The families of pods in kube-state-metrics 1.x. */
import { nodeAddress } from '../node.ts'
import { containerId } from '../objects/pod.ts'
import { limitFactor, type Pod } from '../pod.ts'
import { kindOf, oneOf, ownerFamily, single, type Family } from './family.ts'
import { plainLabels } from './label-names.ts'
import { podFamilies } from './pod-families.ts'
import { familiesOf, LABELS_HELP } from './version-1-families.ts'

const PHASES = ['Pending', 'Succeeded', 'Failed', 'Running', 'Unknown']
const WAITING_REASONS = [
  'ContainerCreating',
  'CrashLoopBackOff',
  'CreateContainerConfigError',
  'ErrImagePull',
  'ImagePullBackOff',
  'CreateContainerError',
  'InvalidImageName',
]
const TERMINATED_REASONS = ['OOMKilled', 'Completed', 'Error', 'ContainerCannotRun', 'DeadlineExceeded', 'Evicted']

export function podIdentityOf1({ namespace, name }: Pod): string {
  return `namespace="${namespace}",pod="${name}"`
}

export function podFamiliesOf1(): Family<Pod>[] {
  const same = familiesOf(podFamilies({}, {}))
  const container = ({ container: name }: Pod): string => `,container="${name}"`
  return [
    single('kube_pod_info', 'Information about pod.', () => 1, podInfo),
    same('kube_pod_start_time'),
    same('kube_pod_completion_time'),
    ownerFamily('kube_pod_owner', "Information about the Pod's owner.", { none: '<none>' }),
    single(
      'kube_pod_labels',
      LABELS_HELP,
      () => 1,
      pod => plainLabels(pod.labels),
    ),
    same('kube_pod_created'),
    // No release of 1.x has it: only what was built between 1.9 and 2.0.
    { ...same('kube_pod_deletion_timestamp'), name: 'kube_pod_deleted' },
    same('kube_pod_restart_policy'),
    same('kube_pod_status_scheduled_time'),
    same('kube_pod_status_unschedulable'),
    {
      ...same('kube_pod_status_phase'),
      lines: (name, identity, pod) => oneOf(name, identity, 'phase', PHASES, pod.phase),
    },
    same('kube_pod_status_ready'),
    same('kube_pod_status_scheduled'),
    single(
      'kube_pod_container_info',
      'Information about a container in a pod.',
      pod => (pod.nodeName === undefined ? undefined : 1),
      pod => `${container(pod)},image="${pod.image}",image_id="",container_id="${containerId(pod)}"`,
    ),
    same('kube_pod_container_status_waiting'),
    reasons(same('kube_pod_container_status_waiting_reason'), WAITING_REASONS, pod => pod.waitingReason),
    same('kube_pod_container_status_running'),
    same('kube_pod_container_status_terminated'),
    reasons(
      same('kube_pod_container_status_terminated_reason'),
      TERMINATED_REASONS,
      ({ termination }) => termination?.reason,
    ),
    reasons(
      same('kube_pod_container_status_last_terminated_reason'),
      TERMINATED_REASONS,
      ({ lastTermination }) => lastTermination?.reason,
    ),
    same('kube_pod_container_status_ready'),
    same('kube_pod_container_status_restarts_total'),
    same('kube_pod_container_resource_requests'),
    same('kube_pod_container_resource_limits'),
    amount('requests_cpu_cores', 'The number of requested cpu cores by a container.', cores),
    amount('requests_memory_bytes', 'The number of requested memory bytes by a container.', bytes),
    amount('limits_cpu_cores', 'The limit on cpu cores to be used by a container.', pod =>
      cores(pod, limitFactor(pod) ?? 0),
    ),
    amount('limits_memory_bytes', 'The limit on memory to be used by a container in bytes.', pod =>
      bytes(pod, limitFactor(pod) ?? 0),
    ),
  ]
}

function podInfo(pod: Pod): string {
  const { nodeName, owner } = pod
  const [kind, name] = owner === undefined ? ['<none>', '<none>'] : [kindOf(owner), owner.name]
  return (
    `,host_ip="${nodeName === undefined ? '' : nodeAddress(nodeName)}",pod_ip="${pod.podIp ?? ''}",uid="${pod.uid}"` +
    `,node="${nodeName ?? ''}",created_by_kind="${kind}",created_by_name="${name}",priority_class=""`
  )
}

function reasons(family: Family<Pod>, all: readonly string[], reasonOf: (pod: Pod) => string | undefined): Family<Pod> {
  return {
    ...family,
    lines(name, identity, pod) {
      if (pod.nodeName === undefined) return ''
      return oneOf(name, `${identity},container="${pod.container}"`, 'reason', all, reasonOf(pod) ?? '')
    },
  }
}

function amount(suffix: string, help: string, amountOf: (pod: Pod) => number): Family<Pod> {
  return single(
    `kube_pod_container_resource_${suffix}`,
    help,
    pod => amountOf(pod) || undefined,
    pod => `,container="${pod.container}",node="${pod.nodeName ?? ''}"`,
  )
}

function cores({ cpuMillis }: Pod, factor = 1): number {
  return (cpuMillis * factor) / 1000
}

function bytes({ memoryMiB }: Pod, factor = 1): number {
  return memoryMiB * factor * 1_048_576
}
