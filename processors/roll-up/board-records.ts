/** What roll-ups know of boards, their devices, and who has them. */
import type { Attribution, Holding, UnattributedReason } from '../../pipeline/cluster/assignment.ts'
import type { Pod } from '../../pipeline/cluster/objects.ts'
import { deviceKey, type SeenDevice } from '../../pipeline/cluster/seen.ts'
import type { Dependencies } from '../../pipeline/model/dependencies.ts'
import { NO_GROUPS, type Entity } from './entity.ts'
import { packed, unpacked, type OneOrMany } from './one-or-many.ts'
import type { PodRecord } from './pod-records.ts'

export type DeviceRecord = {
  readonly key: string
  readonly seen: SeenDevice
  readonly assignment: Findings
}

/** One who has a part of a device; why is asked by nobody here. */
export type Held = Pick<Holding, 'job' | 'share'> & { readonly pod: Pod | undefined }

/** What was found out about a device. GPUs of one pod have it in common. */
export type Findings = Omit<Attribution, 'holdings'> & {
  readonly holdings: readonly Held[]
  readonly dependencies: Dependencies | undefined
  readonly clusterId: string
}

/** A board with all of its instances; where it is not cut, it is its only device. */
export type BoardRecord = Entity & {
  readonly id: string
  readonly devices: readonly DeviceRecord[]
  readonly node: string
  /** Who has which of its devices. */
  readonly pairs: readonly PairRecord[]
}

export type PairRecord = Entity & {
  readonly device: DeviceRecord
  /** The pod, or the job, that has it. */
  readonly holder: PodRecord | JobRecord
  readonly share: number
}

/** A job of a batch system: a workload without a pod, or inside of one. */
export type JobRecord = Entity & { readonly key: string; readonly host: PodRecord | undefined }

/** What is nobody's of a device, or of a board that is not cut up entirely. */
export type RestRecord = Entity & {
  readonly device: DeviceRecord
  readonly board: BoardRecord
  /** Of a board. */
  readonly gpus: number
  readonly reason: UnattributedReason
  /** Of what is beside the instances of a board, these; otherwise undefined. */
  readonly beside: readonly DeviceRecord[] | undefined
}

// Of these there are as many as GPUs, so that a function for each would be more than what is in it.

const NO_PARTS: readonly never[] = []

abstract class WithParts implements BoardRecord {
  /** Who has it, and what of it is nobody's: mostly one or the other. */
  #parts: OneOrMany<Pair | Rest> = NO_PARTS
  abstract readonly devices: readonly Device[]
  /** The one that tells what holds for the board. */
  abstract readonly first: Device

  get id(): string {
    return this.first.seen.id
  }

  get parts(): readonly (Pair | Rest)[] {
    return unpacked(this.#parts)
  }

  set parts(parts: readonly (Pair | Rest)[]) {
    this.#parts = packed(parts)
  }

  get pairs(): readonly Pair[] {
    return this.parts.filter(part => part instanceof Pair)
  }

  get rests(): readonly Rest[] {
    return this.parts.filter(part => part instanceof Rest)
  }

  get node(): string {
    return this.first.assignment.node ?? ''
  }

  get(attribute: string): string | undefined {
    const { seen, assignment } = this.first
    switch (attribute) {
      case 'cluster':
        return assignment.clusterId
      case 'node':
        return this.node
      case 'gpu':
        return seen.index
      case 'uuid':
        return seen.id
      case 'model':
        return seen.model === undefined ? undefined : withoutBlanks(seen.model)
      default:
        return undefined
    }
  }
}

/** A device, and where it is the only one of its board, that, too. */
export class Device extends WithParts implements DeviceRecord {
  readonly seen: SeenDevice
  readonly assignment: Findings

  constructor(seen: SeenDevice, assignment: Findings) {
    super()
    this.seen = seen
    this.assignment = assignment
  }

  get key(): string {
    return deviceKey(this.seen.id, this.seen.part)
  }

  get first(): Device {
    return this
  }

  get devices(): readonly Device[] {
    return [this]
  }

  /** Whether both are of the same, which may be another record by now. */
  isLike({ seen: { id, part } }: DeviceRecord): boolean {
    return this.seen.id === id && this.seen.part === part
  }
}

export class CutBoard extends WithParts {
  readonly devices: readonly Device[]

  constructor(devices: readonly Device[]) {
    super()
    this.devices = devices
  }

  get first(): Device {
    return this.devices[0]!
  }
}

export type Board = Device | CutBoard

/** There are a few models, and many boards of each. */
const modelsWithoutBlanks = new Map<string, string>()
const MAX_MODELS = 1000

function withoutBlanks(model: string): string {
  let text = modelsWithoutBlanks.get(model)
  if (text === undefined) {
    if (modelsWithoutBlanks.size >= MAX_MODELS) modelsWithoutBlanks.clear()
    modelsWithoutBlanks.set(model, (text = model.replaceAll(' ', '-')))
  }
  return text
}

export class Pair implements PairRecord {
  /** Among all pairs. */
  place = -1
  readonly device: Device
  readonly holder: PodRecord | JobRecord
  readonly share: number

  constructor(device: Device, holder: PodRecord | JobRecord, share: number) {
    this.device = device
    this.holder = holder
    this.share = share
  }

  /** A device is a board, unless it is a part of one. */
  get board(): BoardRecord {
    return this.device
  }

  /** Whether both are of the same two, who may be other records by now. */
  isLike({ device, holder }: Pair): boolean {
    return this.device.isLike(device) && this.holder.key === holder.key
  }

  /** Where the GPU is the exporter knows best; of a pod that is not known here, nothing else does. */
  get(attribute: string): string | undefined {
    const isOfBoard =
      attribute === 'gpu' ||
      attribute === 'uuid' ||
      attribute === 'model' ||
      (attribute === 'node' && this.board.node !== '')
    return isOfBoard ? this.board.get(attribute) : this.holder.get(attribute)
  }
}

class PartPair extends Pair {
  readonly #board: BoardRecord

  constructor(device: Device, board: BoardRecord, holder: PodRecord | JobRecord, share: number) {
    super(device, holder, share)
    this.#board = board
  }

  override get board(): BoardRecord {
    return this.#board
  }
}

export function pairOf(device: Device, board: BoardRecord, holder: PodRecord | JobRecord, share: number): Pair {
  return board === device ? new Pair(device, holder, share) : new PartPair(device, board, holder, share)
}

export class Rest implements RestRecord {
  groups = NO_GROUPS
  /** Among all rests. */
  place = -1
  readonly device: Device
  readonly board: BoardRecord
  readonly beside: RestRecord['beside']

  constructor(device: Device, board: BoardRecord, beside: RestRecord['beside']) {
    this.device = device
    this.board = board
    this.beside = beside
  }

  get gpus(): number {
    return this.beside === undefined ? restOf(this.device) : uncutPart(this.board)
  }

  get reason(): UnattributedReason {
    return this.beside === undefined ? this.device.assignment.rest.reason : 'free'
  }

  /** Whether both are of the same, which may be another record by now. */
  isLike({ device, beside }: Rest): boolean {
    return this.device.isLike(device) && (this.beside === undefined) === (beside === undefined)
  }

  get(attribute: string): string | undefined {
    return attribute === 'reason' ? this.reason.replaceAll('_', ' ') : this.board.get(attribute)
  }
}

/** Of nearly all devices there is none: nothing is left, and what is used of them is that of their pod. */
export function restsOf(board: Board): Rest[] {
  const instances = heldDevices(board)
  const rests = instances
    .filter(device => restOf(device) !== 0 || device.assignment.isShared)
    .map(device => new Rest(device, board, undefined))
  const whole = board.devices.find(({ seen }) => seen.part === undefined)
  const isShownBeside = whole !== undefined && !instances.includes(whole)
  if (uncutPart(board) > 0 || isShownBeside) rests.push(new Rest(whole ?? board.first, board, instances))
  return rests
}

/** In parts of a board. */
function restOf({ assignment: { rest, weight } }: DeviceRecord): number {
  return rest.share * weight
}

/** Of a board that is cut, its instances: an exporter may show the board beside them, and nobody has that. */
export function heldDevices<D extends DeviceRecord>({ devices }: { readonly devices: readonly D[] }): readonly D[] {
  const parts = devices.filter(({ seen }) => seen.part !== undefined)
  return parts.length > 0 ? parts : devices
}

/** Slices that are in no instance. */
function uncutPart(board: BoardRecord): number {
  const devices = heldDevices(board)
  if (devices[0]!.seen.part === undefined) return 0
  const cut = devices.reduce((sum, { assignment }) => sum + assignment.weight, 0)
  // Sevenths do not add up to exactly 1.
  return cut > 1 - 1e-9 ? 0 : 1 - cut
}
