/**
 * Finds GPUs for pods and remembers who has them.
 *
 * Pods that belong together get all they want or nothing. Whole GPUs come from the node where they fit most tightly, so that room for
 * large pods is left.
 */
import type { Device } from './gpu.ts'
import type { Sharing } from './hardware.ts'
import type { SimulatedNode } from './node.ts'
import { shareOf, type FractionRequest, type GpuRequest, type Pod, type Sharer } from './pod.ts'

/** Devices that a pod gets. Fractions have a group for each of them, in the same order. */
export type Place = {
  readonly node: SimulatedNode
  readonly devices: readonly PlacedDevice[]
  readonly groups: readonly FractionGroup[]
}
export type PlacedDevice = { readonly device: Device; readonly share: number; readonly replica?: number }

/** Fractions of one GPU, held together by a reservation pod. */
export type FractionGroup = {
  readonly node: SimulatedNode
  readonly device: Device
  readonly sharedBy: Sharer
  /** In hundredths, so that fractions add up exactly. */
  freeHundredths: number
  members: number
  /** Set by whoever makes it. */
  reservation?: Pod
  id?: string
}

export class Placement {
  readonly #nodes: readonly SimulatedNode[]
  readonly #freeWhole = new Map<SimulatedNode, Device[]>()
  /** By how many free whole GPUs they have. */
  readonly #nodesByFree: Set<SimulatedNode>[] = []
  readonly #groups = new Set<FractionGroup>()
  readonly #freeInstances = new Map<string, Set<Device>>()
  /** Replicas of time-sliced devices that nobody has, and the nodes that have any. */
  readonly #freeReplicas = new Map<Device, number[]>()
  readonly #nodesWithReplicas = new Set<SimulatedNode>()
  readonly #nodesByName: ReadonlyMap<string, SimulatedNode>
  /** Who is on one of these stays; nobody comes. */
  readonly #closed = new Set<SimulatedNode>()
  /** Pods without a GPU go round. */
  #nextNode = 0
  readonly #loads = { whole: newLoad(), mig: newLoad(), time_slicing: newLoad() }

  constructor(nodes: readonly SimulatedNode[]) {
    this.#nodes = nodes
    this.#nodesByName = new Map(nodes.map(node => [node.name, node]))
    for (const node of nodes) {
      const whole: Device[] = []
      for (const device of node.gpus.flatMap(gpu => gpu.devices)) {
        if (device.mig !== undefined) this.#instancesOf(device.mig.profile.name).add(device)
        else if (device.gpu.replicas > 1) this.#freeReplicas.set(device, range(device.gpu.replicas))
        else whole.push(device)
        this.#loads[sharingOf(device)].count += device.gpu.replicas
      }
      if (node.pool.sharing === 'time_slicing') this.#nodesWithReplicas.add(node)
      this.#freeWhole.set(node, whole)
      this.#nodesWithFree(whole.length).add(node)
    }
  }

  close(node: SimulatedNode): void {
    this.#closed.add(node)
  }

  open(node: SimulatedNode): void {
    this.#closed.delete(node)
  }

  /** How much of what is shared in this way is taken, from 0 to 1; undefined if there is nothing of the kind. */
  load(sharing: Sharing): number | undefined {
    const { count, taken } = this.#loads[sharing]
    return count === 0 ? undefined : taken / count
  }

  /** Places for all of them, in order, or undefined if not all fit. */
  take(requests: readonly GpuRequest[]): Place[] | undefined {
    const places: Place[] = []
    for (const request of requests) {
      const place = this.#takeOne(request)
      if (place === undefined) {
        for (const [at, taken] of places.entries()) this.give(requests[at]!, taken)
        return undefined
      }
      places.push(place)
    }
    return places
  }

  /** Gives back what was taken. Tells the fraction groups of which that was the last. */
  give(request: GpuRequest, place: Place): FractionGroup[] {
    const { node, devices, groups } = place
    if (request.kind === 'fraction') return groups.filter(group => this.#leave(group, request))
    for (const { device, replica } of devices) {
      if (device.mig !== undefined || replica !== undefined) this.#loads[sharingOf(device)].taken--
      if (device.mig !== undefined) this.#instancesOf(device.mig.profile.name).add(device)
      else if (replica !== undefined) this.#giveReplica(node, device, replica)
      else this.#changeFree(node, free => free.push(device))
    }
    return []
  }

  #takeOne(request: GpuRequest): Place | undefined {
    switch (request.kind) {
      case 'none':
        return this.#takeNode()
      case 'whole':
        return this.#takeWhole(request.count)
      case 'time_slicing':
        return this.#takeReplicas(request.count)
      case 'mig':
        return this.#takeInstance(request.profile.name)
      case 'fraction':
        return this.#takeFractions(request)
    }
  }

  #takeNode(): Place | undefined {
    for (let tried = 0; tried < this.#nodes.length; tried++) {
      const node = this.#nodes[this.#nextNode++ % this.#nodes.length]!
      if (!this.#closed.has(node)) return { node, devices: [], groups: [] }
    }
    return undefined
  }

  #takeWhole(count: number): Place | undefined {
    const node = this.#tightestNode(count)
    if (node === undefined) return undefined
    return { node, devices: this.#takeFrom(node, count).map(device => ({ device, share: 1 })), groups: [] }
  }

  #tightestNode(count: number): SimulatedNode | undefined {
    for (let free = count; free < this.#nodesByFree.length; free++) {
      for (const node of this.#nodesWithFree(free)) if (!this.#closed.has(node)) return node
    }
    return undefined
  }

  #takeFrom(node: SimulatedNode, count: number): Device[] {
    let taken: Device[] = []
    this.#changeFree(node, free => (taken = free.splice(0, count)))
    return taken
  }

  #takeReplicas(count: number): Place | undefined {
    // Several replicas of one GPU would be no more compute; the device plugin spreads them over GPUs of one node.
    for (const node of this.#nodesWithReplicas) {
      if (this.#closed.has(node)) continue
      const free = node.gpus.map(gpu => gpu.devices[0]!).filter(device => this.#freeReplicas.get(device)!.length > 0)
      if (free.length < count) continue
      const devices = free.slice(0, count).map(device => ({
        device,
        share: 1 / device.gpu.replicas,
        replica: this.#freeReplicas.get(device)!.shift()!,
      }))
      if (node.gpus.every(gpu => this.#freeReplicas.get(gpu.devices[0]!)!.length === 0))
        this.#nodesWithReplicas.delete(node)
      this.#loads.time_slicing.taken += count
      return { node, devices, groups: [] }
    }
    return undefined
  }

  #takeInstance(profile: string): Place | undefined {
    const instances = this.#instancesOf(profile)
    for (const device of instances) {
      const node = this.#nodesByName.get(device.gpu.nodeName)!
      if (this.#closed.has(node)) continue
      instances.delete(device)
      this.#loads.mig.taken++
      return { node, devices: [{ device, share: 1 }], groups: [] }
    }
    return undefined
  }

  /** Parts of as many GPUs of one node as are wanted: first of those that are shared already, then of free ones. */
  #takeFractions(request: FractionRequest): Place | undefined {
    const found = this.#nodeWithRoom(request)
    if (found === undefined) return undefined
    const { node, shared } = found
    const fresh = this.#takeFrom(node, request.devices - shared.length).map((device): FractionGroup => ({
      node,
      device,
      sharedBy: request.sharedBy,
      freeHundredths: 100,
      members: 0,
    }))
    const groups = [...shared, ...fresh]
    for (const group of groups) {
      group.freeHundredths -= hundredths(request, group)
      group.members++
      this.#groups.add(group)
    }
    const devices = groups.map(({ device }) => ({ device, share: shareOf(request, device.memoryMiB) }))
    return { node, devices, groups }
  }

  #nodeWithRoom(request: FractionRequest): { node: SimulatedNode; shared: FractionGroup[] } | undefined {
    const byNode = new Map<SimulatedNode, FractionGroup[]>()
    for (const group of this.#groups) {
      const { node } = group
      if (group.sharedBy !== request.sharedBy || this.#closed.has(node)) continue
      if (group.freeHundredths < hundredths(request, group)) continue
      const shared = byNode.get(node) ?? []
      shared.push(group)
      byNode.set(node, shared)
      if (shared.length + this.#freeWhole.get(node)!.length >= request.devices)
        return { node, shared: shared.slice(0, request.devices) }
    }
    const node = this.#tightestNode(request.devices)
    return node && { node, shared: [] }
  }

  /** Whether that was the last one of the group, so that the GPU is free again. */
  #leave(group: FractionGroup, request: FractionRequest): boolean {
    group.freeHundredths += hundredths(request, group)
    if (--group.members > 0) return false
    this.#groups.delete(group)
    this.#changeFree(group.node, free => free.push(group.device))
    return true
  }

  #giveReplica(node: SimulatedNode, device: Device, replica: number): void {
    this.#freeReplicas.get(device)!.push(replica)
    this.#freeReplicas.get(device)!.sort((a, b) => a - b)
    this.#nodesWithReplicas.add(node)
  }

  #changeFree(node: SimulatedNode, change: (free: Device[]) => void): void {
    const free = this.#freeWhole.get(node)!
    this.#nodesWithFree(free.length).delete(node)
    this.#loads.whole.taken += free.length
    change(free)
    this.#loads.whole.taken -= free.length
    this.#nodesWithFree(free.length).add(node)
  }

  #nodesWithFree(count: number): Set<SimulatedNode> {
    while (this.#nodesByFree.length <= count) this.#nodesByFree.push(new Set())
    return this.#nodesByFree[count]!
  }

  #instancesOf(profile: string): Set<Device> {
    let instances = this.#freeInstances.get(profile)
    if (instances === undefined) this.#freeInstances.set(profile, (instances = new Set()))
    return instances
  }
}

function newLoad(): { count: number; taken: number } {
  return { count: 0, taken: 0 }
}

function sharingOf({ mig, gpu }: Device): Sharing {
  return mig !== undefined ? 'mig' : gpu.replicas > 1 ? 'time_slicing' : 'whole'
}

/** Rounded up, so that what is asked for as memory fits. */
function hundredths(request: FractionRequest, { device }: FractionGroup): number {
  return Math.ceil(shareOf(request, device.memoryMiB) * 100 - 1e-9)
}

function range(count: number): number[] {
  return Array.from({ length: count }, (_, at) => at)
}
