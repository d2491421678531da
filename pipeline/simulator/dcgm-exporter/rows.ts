/** Which rows the exporter of a node shows, and with which labels. They change only when a device changes hands. */
import type { Claim, Device } from '../gpu.ts'
import { hashOf } from '../random.ts'
import type { SimulatedNode } from '../node.ts'
import type { Pod } from '../pod.ts'
import type { Generation } from './generations.ts'

/** One line in each family that the device has. */
export type Row = {
  readonly device: Device
  /** Whose reading it is, in families that are known by process. */
  readonly claim?: Claim
  /** From the opening brace to the last value. Labels of a family's own belong where those of the pod begin. */
  readonly labels: string
  readonly podLabelsAt: number
  /** The device as a whole beside the rows of those who share it: only in families that are known by process. */
  readonly onlyByProcess?: true
}

export function rowsOf(node: SimulatedNode, generation: Generation, sampleNumber: number): Row[] {
  const rows: Row[] = []
  for (const gpu of node.gpus) {
    // 1.x knows nothing of MIG: it shows the board, and no pod, as nobody holds that.
    if (!generation.mig && gpu.devices.length > 1) {
      rows.push(makeRow(boardOf(gpu.devices), deviceLabels(node, gpu.devices[0]!, generation, false), ''))
      continue
    }
    for (const device of gpu.devices) rows.push(...deviceRows(node, device, generation, sampleNumber))
  }
  return rows
}

/** Whether rows depend on the moment, beside the claims: without rows per pod one of those who share a GPU is named, now this, now that. */
export function rowsFlip(node: SimulatedNode, generation: Generation): boolean {
  return !generation.virtualGpus && node.pool.sharing === 'time_slicing'
}

function deviceRows(node: SimulatedNode, device: Device, generation: Generation, sampleNumber: number): Row[] {
  const labels = deviceLabels(node, device, generation, true)
  const seen = device.claims.filter(claim => claim.seenByKubelet)
  if (device.gpu.replicas === 1 || seen.length === 0) {
    return [makeRow(device, labels, podLabels(seen[0]?.pod ?? device.lingering, generation))]
  }
  if (!generation.virtualGpus) {
    const named = seen[hashOf(device.gpu.seed, sampleNumber >>> 3) % seen.length]
    return [makeRow(device, labels, podLabels(named?.pod, generation))]
  }
  const shared = seen.map(claim => {
    const uidAndReplica = `,pod_uid="${claim.pod.uid}",vgpu="${claim.replica}"`
    return { ...makeRow(device, labels, podLabels(claim.pod, generation) + uidAndReplica), claim }
  })
  return [{ ...makeRow(device, labels, ''), onlyByProcess: true }, ...shared]
}

function makeRow(device: Device, labels: string, podLabels: string): Row {
  return { device, labels: labels + podLabels, podLabelsAt: labels.length }
}

function boardOf(devices: readonly Device[]): Device {
  const [first] = devices as [Device]
  const claims = devices.flatMap(device => device.claims)
  return { gpu: first.gpu, boardShare: 1, memoryMiB: first.gpu.model.memoryMiB, claims }
}

function deviceLabels(node: SimulatedNode, device: Device, generation: Generation, withMig: boolean): string {
  const { gpu, mig } = device
  let text = `{gpu="${gpu.index}",${generation.uuidLabel}="${gpu.uuid}"`
  if (generation.busIdLabel) text += `,pci_bus_id="${gpu.pciBusId}"`
  if (generation.deviceLabels) text += `,device="nvidia${gpu.index}",modelName="${gpu.model.name}"`
  if (withMig && mig !== undefined) text += `,GPU_I_PROFILE="${mig.profile.name}",GPU_I_ID="${mig.instanceId}"`
  if (generation.hostLabel !== undefined) text += `,${generation.hostLabel}="${hostOf(node, generation)}"`
  if (generation.driverLabel !== undefined) text += `,${generation.driverLabel}="${node.driverVersion}"`
  return text
}

export function hostOf(node: SimulatedNode, generation: Generation): string {
  return generation.hostIs === 'pod' && node.exporterPod !== undefined ? node.exporterPod.name : node.name
}

function podLabels(pod: Pod | undefined, generation: Generation): string {
  if (pod === undefined && generation.idlePodLabels === 'absent') return ''
  const [podName, namespaceName, containerName] = generation.podLabels
  const name = `${podName}="${pod?.name ?? ''}"`
  const namespace = `${namespaceName}="${pod?.namespace ?? ''}"`
  const container = `${containerName}="${pod?.container ?? ''}"`
  return generation.podLabelOrder === 'sorted'
    ? `,${container},${namespace},${name}`
    : `,${name},${namespace},${container}`
}
