/** What a pod asks for in GPUs, in any of the ways in which pods ask. */
import { getLabel, type Labels } from '../model/labels.ts'
import type { AssignmentRules } from './assignment-rules.ts'
import { isGpuResource, migProfile, partOfBoard, resourceName, slicesOfProfile } from './gpu-resources.ts'
import { inAnySpelling } from './look-up.ts'
import type { Node, Pod } from './objects.ts'

export type AskedGpus = {
  /**
   * How many GPUs that is, in parts of one where it asks for a part. Undefined where it asks for an amount of memory and nobody
   * knows how much a GPU has: because it is not bound yet, or because its node does not say.
   */
  readonly gpus: number | undefined
  /** In MiB over all devices, where it asks for memory. */
  readonly memoryMib: number | undefined
  /** How many devices these are. */
  readonly devices: number
  /** What it asks for of each device, where it asks for a part. */
  readonly fraction: number | undefined
  /** How many instances of which profile: `1g.5gb`. */
  readonly mig: ReadonlyMap<string, number>
}

const fractionOf = inAnySpelling('gpu-fraction')
const memoryOf = inAnySpelling('gpu-memory')
const devicesOf = inAnySpelling('gpu-fraction-num-devices')
const boardMemory = inAnySpelling('nvidia.com/gpu.memory')
const boardModel = inAnySpelling('nvidia.com/gpu.product')

/** Undefined if it asks for none. `node` is the one it is bound to. */
export function askedGpus(pod: Pod, node: Node | undefined, rules: AssignmentRules): AskedGpus | undefined {
  return askedWhole(pod, node, rules) ?? askedPart(pod, node)
}

/** By resources. A pod of dynamic MIG has them as annotations, because they did not exist when it was made. */
function askedWhole(pod: Pod, node: Node | undefined, { migCounts }: AssignmentRules): AskedGpus | undefined {
  const asked = resourcesOf(pod)
  const amounts = asked.size > 0 ? asked : annotatedInstances(pod.annotations)
  if (amounts.size === 0) return undefined
  const mig = new Map<string, number>()
  let gpus = 0
  let devices = 0
  for (const [resource, amount] of amounts) {
    const profile = migProfile(resource)
    if (profile !== undefined) mig.set(profile, (mig.get(profile) ?? 0) + amount)
    gpus += profile === undefined ? amount : amount * countOf(profile, node, migCounts)
    devices += amount
  }
  return { gpus, memoryMib: undefined, devices, fraction: undefined, mig }
}

/** All containers together; of each what it may have at most, which for devices is what it asks for. */
function resourcesOf({ containers }: Pod): Map<string, number> {
  const amounts = new Map<string, number>()
  for (const { requests, limits } of containers) {
    for (const [resource, amount] of limits) note(amounts, resource, amount)
    for (const [resource, amount] of requests) if (!limits.has(resource)) note(amounts, resource, amount)
  }
  return amounts
}

function note(amounts: Map<string, number>, resource: string, amount: number): void {
  if (amount <= 0 || (!isGpuResource(resource) && migProfile(resource) === undefined)) return
  amounts.set(resource, (amounts.get(resource) ?? 0) + amount)
}

// Annotations of one kind of pods share their list of names.
const instanceNames = new WeakMap<readonly string[], readonly string[]>()

function annotatedInstances(annotations: Labels): Map<string, number> {
  let names = instanceNames.get(annotations.names)
  if (names === undefined) {
    names = annotations.names.filter(name => migProfile(resourceName(name)) !== undefined)
    instanceNames.set(annotations.names, names)
  }
  const amounts = new Map<string, number>()
  for (const name of names) note(amounts, resourceName(name), positive(getLabel(annotations, name)) ?? 0)
  return amounts
}

function countOf(profile: string, node: Node | undefined, counts: AssignmentRules['migCounts']): number {
  if (counts === 'instances') return 1
  if (counts === 'slices') return slicesOfProfile(profile) ?? 1
  return partOfBoard(profile, node && boardModel(node.labels))
}

/** By annotations of Run:ai and KAI. */
function askedPart(pod: Pod, node: Node | undefined): AskedGpus | undefined {
  const share = shareOfDevice(pod, node)
  const memory = positive(memoryOf(pod.annotations))
  if (share === undefined && memory === undefined) return undefined
  const devices = positive(devicesOf(pod.annotations)) ?? 1
  return {
    gpus: share === undefined ? undefined : share * devices,
    memoryMib: memory === undefined ? undefined : memory * devices,
    devices,
    fraction: share,
    mig: NO_INSTANCES,
  }
}

const NO_INSTANCES: ReadonlyMap<string, number> = new Map()

/** What a pod that shares GPUs asks for of each; undefined where nothing tells. */
export function shareOfDevice({ annotations }: Pod, node: Node | undefined): number | undefined {
  const fraction = positive(fractionOf(annotations))
  if (fraction !== undefined) return fraction
  const memory = positive(memoryOf(annotations))
  const total = positive(node && boardMemory(node.labels))
  return memory === undefined || total === undefined ? undefined : memory / total
}

function positive(text: string | undefined): number | undefined {
  const value = text === undefined || text === '' ? NaN : Number(text)
  return Number.isFinite(value) && value > 0 ? value : undefined
}
