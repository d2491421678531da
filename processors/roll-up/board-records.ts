/** What roll-ups know of boards, their devices, and who has them. */
import type { Assignment, UnattributedReason } from '../../pipeline/cluster/assignment.ts'
import type { Dependencies } from '../../pipeline/model/dependencies.ts'
import { NO_GROUPS, type Entity } from './entity.ts'
import { packed, unpacked, type OneOrMany } from './one-or-many.ts'
import type { PodRecord } from './pod-records.ts'

export type DeviceRecord = {
  readonly key: string
  readonly assignment: Assignment
  readonly dependencies: Dependencies | undefined
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

export class Board implements BoardRecord {
  groups: Entity['groups'] = NO_GROUPS
  /** Whether somebody has a part of it who is not known, or whom others may have an influence on. */
  isLoose = false
  readonly #devices: OneOrMany<DeviceRecord>
  #pairs: OneOrMany<Pair> = []
  #rests: OneOrMany<Rest> = []
  readonly #clusterId: string

  constructor(devices: readonly DeviceRecord[], clusterId: string) {
    this.#devices = packed(devices)
    this.#clusterId = clusterId
  }

  get id(): string {
    return firstOf(this).device.id
  }

  get devices(): readonly DeviceRecord[] {
    return unpacked(this.#devices)
  }

  get pairs(): readonly Pair[] {
    return unpacked(this.#pairs)
  }

  set pairs(pairs: readonly Pair[]) {
    this.#pairs = packed(pairs)
  }

  get rests(): readonly Rest[] {
    return unpacked(this.#rests)
  }

  set rests(rests: readonly Rest[]) {
    this.#rests = packed(rests)
  }

  get node(): string {
    return firstOf(this).node ?? ''
  }

  get(attribute: string): string | undefined {
    const { device } = firstOf(this)
    switch (attribute) {
      case 'cluster':
        return this.#clusterId
      case 'node':
        return this.node
      case 'gpu':
        return device.index
      case 'uuid':
        return this.id
      case 'model':
        return device.model === undefined ? undefined : withoutBlanks(device.model)
      default:
        return undefined
    }
  }
}

function firstOf({ devices }: BoardRecord): Assignment {
  return devices[0]!.assignment
}

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
  groups: Entity['groups'] = NO_GROUPS
  /** Among all pairs. */
  place = -1
  readonly device: DeviceRecord
  readonly holder: PodRecord | JobRecord
  readonly share: number
  readonly #board: BoardRecord

  constructor(device: DeviceRecord, board: BoardRecord, holder: PodRecord | JobRecord, share: number) {
    this.device = device
    this.#board = board
    this.holder = holder
    this.share = share
  }

  /** Whether both are of the same two, who may be other records by now. */
  isLike({ device, holder }: Pair): boolean {
    return this.device.key === device.key && this.holder.key === holder.key
  }

  /** Where the GPU is the exporter knows best; of a pod that is not known here, nothing else does. */
  get(attribute: string): string | undefined {
    const isOfBoard =
      attribute === 'gpu' ||
      attribute === 'uuid' ||
      attribute === 'model' ||
      (attribute === 'node' && this.#board.node !== '')
    return isOfBoard ? this.#board.get(attribute) : this.holder.get(attribute)
  }
}

export class Rest implements RestRecord {
  groups: Entity['groups'] = NO_GROUPS
  /** Among all rests. */
  place = -1
  readonly device: DeviceRecord
  readonly board: BoardRecord
  readonly beside: RestRecord['beside']

  constructor(device: DeviceRecord, board: BoardRecord, beside: RestRecord['beside']) {
    this.device = device
    this.board = board
    this.beside = beside
  }

  get gpus(): number {
    const { rest, weight } = this.device.assignment
    return this.beside === undefined ? rest.share * weight : uncutPart(this.board)
  }

  get reason(): UnattributedReason {
    return this.beside === undefined ? this.device.assignment.rest.reason : 'free'
  }

  /** Whether both are of the same, which may be another record by now. */
  isLike({ device, beside }: Rest): boolean {
    return this.device.key === device.key && (this.beside === undefined) === (beside === undefined)
  }

  get(attribute: string): string | undefined {
    return attribute === 'reason' ? this.reason.replaceAll('_', ' ') : this.board.get(attribute)
  }
}

export function restsOf(board: BoardRecord): Rest[] {
  const instances = heldDevices(board)
  const rests = instances.map(device => new Rest(device, board, undefined))
  const whole = board.devices.find(({ assignment }) => assignment.device.part === undefined)
  const isShownBeside = whole !== undefined && !instances.includes(whole)
  if (uncutPart(board) > 0 || isShownBeside) rests.push(new Rest(whole ?? board.devices[0]!, board, instances))
  return rests
}

/** Of a board that is cut, its instances: an exporter may show the board beside them, and nobody has that. */
export function heldDevices({ devices }: BoardRecord): readonly DeviceRecord[] {
  const parts = devices.filter(({ assignment }) => assignment.device.part !== undefined)
  return parts.length > 0 ? parts : devices
}

/** Slices that are in no instance. */
function uncutPart(board: BoardRecord): number {
  const devices = heldDevices(board)
  if (devices[0]!.assignment.device.part === undefined) return 0
  const cut = devices.reduce((sum, { assignment }) => sum + assignment.weight, 0)
  // Sevenths do not add up to exactly 1.
  return cut > 1 - 1e-9 ? 0 : 1 - cut
}
