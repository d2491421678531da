/**
 * Finds GPUs for pods and remembers who has them.
 *
 * Pods that belong together get all they want or nothing. Whole GPUs come from the node where they fit most tightly, so that room for
 * large pods is left.
 */
import type { Device } from './gpu.ts'
import type { Sharing } from './hardware.ts'
import type { SimulatedNode } from './node.ts'
import type { GpuRequest, Pod } from './pod.ts'

/** Devices that a pod gets. With a group it is a fraction, and the group has a device of its own. */
export type Place = {
  readonly node: SimulatedNode
  readonly devices: readonly PlacedDevice[]
  readonly group?: FractionGroup
}
export type PlacedDevice = { readonly device: Device; readonly share: number; readonly replica?: number }

/** Fractions of one GPU, held together by a reservation pod. */
export type FractionGroup = {
  readonly node: SimulatedNode
  readonly device: Device
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

  /** Gives back what was taken. Says so if that was the last of a fraction group. */
  give(request: GpuRequest, place: Place): FractionGroup | undefined {
    const { node, devices, group } = place
    if (group !== undefined) {
      group.freeHundredths += hundredths(request)
      if (--group.members > 0) return undefined
      this.#groups.delete(group)
      this.#changeFree(node, free => free.push(group.device))
      return group
    }
    for (const { device, replica } of devices) {
      if (device.mig !== undefined || replica !== undefined) this.#loads[sharingOf(device)].taken--
      if (device.mig !== undefined) this.#instancesOf(device.mig.profile.name).add(device)
      else if (replica !== undefined) this.#giveReplica(node, device, replica)
      else this.#changeFree(node, free => free.push(device))
    }
    return undefined
  }

  #takeOne(request: GpuRequest): Place | undefined {
    switch (request.kind) {
      case 'none':
        return { node: this.#nodes[this.#nextNode++ % this.#nodes.length]!, devices: [] }
      case 'whole':
        return this.#takeWhole(request.count)
      case 'time_slicing':
        return this.#takeReplicas(request.count)
      case 'mig':
        return this.#takeInstance(request.profile.name)
      case 'fraction':
        return this.#takeFraction(hundredths(request))
    }
  }

  #takeWhole(count: number): Place | undefined {
    for (let free = count; free < this.#nodesByFree.length; free++) {
      const [node] = this.#nodesWithFree(free)
      if (node === undefined) continue
      const taken: Device[] = []
      this.#changeFree(node, devices => taken.push(...devices.splice(0, count)))
      return { node, devices: taken.map(device => ({ device, share: 1 })) }
    }
    return undefined
  }

  #takeReplicas(count: number): Place | undefined {
    // Several replicas of one GPU would be no more compute; the device plugin spreads them over GPUs of one node.
    for (const node of this.#nodesWithReplicas) {
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
      return { node, devices }
    }
    return undefined
  }

  #takeInstance(profile: string): Place | undefined {
    const instances = this.#instancesOf(profile)
    const [device] = instances
    if (device === undefined) return undefined
    instances.delete(device)
    this.#loads.mig.taken++
    return { node: this.#nodesByName.get(device.gpu.nodeName)!, devices: [{ device, share: 1 }] }
  }

  #takeFraction(wanted: number): Place | undefined {
    let group: FractionGroup | undefined
    for (const candidate of this.#groups) {
      if (candidate.freeHundredths < wanted) continue
      group = candidate
      break
    }
    if (group === undefined) {
      const place = this.#takeWhole(1)
      if (place === undefined) return undefined
      group = { node: place.node, device: place.devices[0]!.device, freeHundredths: 100, members: 0 }
      this.#groups.add(group)
    }
    group.freeHundredths -= wanted
    group.members++
    return { node: group.node, devices: [{ device: group.device, share: wanted / 100 }], group }
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

function hundredths(request: GpuRequest): number {
  return request.kind === 'fraction' ? Math.round(request.fraction * 100) : 0
}

function range(count: number): number[] {
  return Array.from({ length: count }, (_, at) => at)
}
