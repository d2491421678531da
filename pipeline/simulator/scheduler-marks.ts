/** What the schedulers that share GPUs write on a pod that they bind. */
import type { Place } from './placement.ts'
import type { Pod } from './pod.ts'

export function markByRunai(pod: Pod, place: Place): void {
  const { node, devices, groups } = place
  const [first] = devices
  const { mig } = first?.device ?? {}
  // The devices of one pod are all alike, so nothing is lost by adding.
  const shares = (first?.share ?? 0) * devices.length
  const memoryMiB = devices.reduce((sum, { device, share }) => sum + Math.floor(device.memoryMiB * share), 0)
  pod.annotations = {
    ...pod.annotations,
    'received-resource-type': groups.length > 0 ? 'Fraction' : mig !== undefined ? 'MigInstance' : 'Regular',
    'runai-allocated-gpus': mig === undefined ? String(shares) : '0',
    'runai-allocated-gpu-memory': mig === undefined ? String(memoryMiB) : '0',
    'runai-allocated-mig-gpus': mig === undefined ? '0' : '1',
    'runai-node': node.name,
    'runai-calculated-status': 'Running',
  }
  pod.labels = { ...pod.labels, ...groupLabels(place), 'runai/node-pool': node.pool.name }
  if (first !== undefined && mig !== undefined) {
    const device = {
      name: `nvidia.com/mig-${mig.profile.name}`,
      position: mig.position,
      gpuamount: mig.profile.slices,
      deviceUUID: mig.uuid,
      gpuinstanceid: mig.instanceId,
      gpuindex: String(first.device.gpu.index),
      gputype: first.device.gpu.model.name,
    }
    pod.annotations = { ...pod.annotations, 'runai-mig-device': JSON.stringify(device) }
  }
}

export function markByKai(pod: Pod, place: Place): void {
  const isFraction = place.groups.length > 0
  pod.annotations = { ...pod.annotations, 'received-resource-type': isFraction ? 'Fraction' : 'Regular' }
  pod.labels = { ...pod.labels, ...groupLabels(place) }
}

/** One group has a label with a fixed name; several have one each. */
function groupLabels({ groups }: Place): Record<string, string> {
  const [first, ...others] = groups.map(({ id }) => id!)
  if (first === undefined) return {}
  if (others.length === 0) return { 'runai-gpu-group': first }
  return Object.fromEntries([first, ...others].map(id => [`runai-gpu-group/${id}`, id]))
}
