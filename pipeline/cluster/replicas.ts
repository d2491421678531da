/** Into how many replicas a device is shared, by time-slicing or MPS. */
import { getLabel } from '../model/labels.ts'
import { inAnySpelling, metricSpelling } from './look-up.ts'
import type { Node } from './objects.ts'
import type { SeenDevice } from './seen.ts'

export type Replicas = {
  /** Whether several may use the device, also if one does now. */
  readonly isShared: boolean
  /** How many there are, where that is known. */
  readonly count: number | undefined
}

const replicas = inAnySpelling('nvidia.com/gpu.replicas')
const strategy = inAnySpelling('nvidia.com/gpu.sharing-strategy')
const NOT_SHARED = ['none', '']

/** Labels of the node are those of feature discovery. Instances of a board have their own, where boards are cut in several ways. */
export function replicasOf({ part, profile, holders }: SeenDevice, node: Node | undefined): Replicas {
  const text = node && (ofInstances(node, part, profile) ?? replicas(node.labels))
  const count = Number(text ?? 0)
  const isTold = holders.some(holder => holder.replicas !== undefined)
  if (count > 1) return { isShared: true, count }
  const isByStrategy = part === undefined && !NOT_SHARED.includes((node && strategy(node.labels)) ?? '')
  return { isShared: isTold || isByStrategy, count: undefined }
}

function ofInstances({ labels }: Node, part: string | undefined, profile: string | undefined): string | undefined {
  if (part === undefined || profile === undefined) return undefined
  const name = `nvidia.com/mig-${profile}.replicas`
  return getLabel(labels, name) ?? getLabel(labels, metricSpelling(name))
}
