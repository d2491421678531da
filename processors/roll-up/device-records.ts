/** Every device that exporters show, who has it, and the boards and pairs that follow from that. */
import { assignDevice } from '../../pipeline/cluster/assign-device.ts'
import type { Assignment, UnattributedReason } from '../../pipeline/cluster/assignment.ts'
import type { AssignmentRules } from '../../pipeline/cluster/assignment-rules.ts'
import type { PodReader, SeenTables } from '../../pipeline/cluster/find-pod.ts'
import { deviceKey, type SeenDevice } from '../../pipeline/cluster/seen.ts'
import type { ClusterTables } from '../../pipeline/cluster/tables.ts'
import { haveChanged, recordLooks, type Dependencies } from '../../pipeline/model/dependencies.ts'
import type { Tracked } from '../../pipeline/model/tracked.ts'
import { entityFrom, NO_GROUPS, type Entity } from './entity.ts'
import { recordOfPod, type PodChange, type PodRecord } from './pod-records.ts'
import { Attendance, Roster } from './roster.ts'

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
  readonly key: string
  readonly device: DeviceRecord
  /** The pod, or the job, that has it. */
  readonly holder: PodRecord | JobRecord
  readonly share: number
}

/** A job of a batch system: a workload without a pod, or inside of one. */
export type JobRecord = Entity & { readonly key: string; readonly host: PodRecord | undefined }

/** What is nobody's of a device, or of a board that is not cut up entirely. */
export type RestRecord = Entity & {
  readonly key: string
  readonly device: DeviceRecord
  readonly board: BoardRecord
  /** Of a board. */
  readonly gpus: number
  readonly reason: UnattributedReason
  /** Of what is beside the instances of a board, these; otherwise undefined. */
  readonly beside: readonly DeviceRecord[] | undefined
}

/** What follows from a board. */
type Derived = BoardRecord & {
  pairs: readonly PairRecord[]
  rests: readonly RestRecord[]
  /** Whether somebody has a part of it who is not known, or whom others may have an influence on. */
  isLoose: boolean
}

export class DeviceRecords {
  readonly pairs = new Roster<PairRecord>()
  readonly rests = new Roster<RestRecord>()
  readonly jobs = new Roster<JobRecord>()
  readonly #boards = new Roster<Derived>()
  readonly #devices = new Roster<DeviceRecord>()
  readonly #attendance = new Attendance()

  get boards(): Roster<BoardRecord> {
    return this.#boards
  }

  /** Looks at all devices, and works out anew what has changed. `pods` are up to date already; `changes` is what has changed of them. */
  refresh(
    seenDevices: Tracked<SeenDevice>,
    tables: ClusterTables,
    seen: SeenTables,
    rules: { readonly assignment: AssignmentRules; readonly clusterId: string },
    pods: Roster<PodRecord>,
    changes: readonly PodChange[],
  ): void {
    /** By board: devices that it had not before. */
    const touched = new Map<string, DeviceRecord[]>()
    this.#attendance.begin()
    for (const device of seenDevices.values()) {
      const key = deviceKey(device.id, device.part)
      let place = this.#devices.placeOf(key)
      const known = place < 0 ? undefined : this.#devices.list[place]
      if (known === undefined || known.assignment.device !== device || isOutOfDate(known)) {
        const record = deviceRecord(key, device, tables, seen, rules.assignment)
        place = this.#devices.put(key, record)
        const added = touch(touched, device.id)
        if (known === undefined) added.push(record)
      }
      this.#attendance.mark(place)
    }
    for (const key of this.#attendance.missing(this.#devices)) {
      touch(touched, this.#devices.get(key)!.assignment.device.id)
      this.#devices.delete(key)
    }
    this.#devices.settle()
    if (changes.length > 0) this.#touchHeld(touched, new Set(changes.map(({ before }) => before)))
    const jobs = new Map<string, JobRecord>()
    for (const [id, added] of touched) this.#derive(id, added, pods, rules.clusterId, jobs)
    this.#keepJobs(jobs)
  }

  /** Boards whose devices are the same, but not those who have them. */
  #touchHeld(touched: Map<string, DeviceRecord[]>, gone: ReadonlySet<PodRecord | undefined>): void {
    for (const board of this.#boards.list) {
      if (board === undefined) continue
      if (board.isLoose || isHeldBy(board.pairs, gone)) touch(touched, board.id)
    }
  }

  #derive(
    id: string,
    added: readonly DeviceRecord[],
    pods: Roster<PodRecord>,
    clusterId: string,
    jobs: Map<string, JobRecord>,
  ): void {
    const known = this.#boards.get(id)
    const before = (known?.devices ?? []).map(({ key }) => this.#devices.get(key)).filter(one => one !== undefined)
    const devices = before.concat(added)
    if (devices.length === 0) return this.#drop(known)
    const board = this.#boardOf(known, id, devices, clusterId)
    const [pairs, rests] = [known?.pairs ?? [], known?.rests ?? []]
    board.isLoose = false
    // A list that was added to has room for more; of these there are as many as GPUs.
    board.pairs = heldDevices(board)
      .flatMap(device => this.#pairsOf(device, board, pods, clusterId, jobs))
      .slice()
    board.rests = restsOf(board)
    leave(this.pairs, pairs, board.pairs)
    leave(this.rests, rests, board.rests)
    // Who has it is part of what it tells.
    this.#boards.touch(this.#boards.put(id, board))
  }

  #drop(board: Derived | undefined): void {
    if (board === undefined) return
    leave(this.pairs, board.pairs, [])
    leave(this.rests, board.rests, [])
    this.#boards.delete(board.id)
  }

  #boardOf(known: Derived | undefined, id: string, devices: readonly DeviceRecord[], clusterId: string): Derived {
    const isSame = known?.devices.length === devices.length && devices.every((one, i) => known.devices[i] === one)
    if (isSame) return known
    return new Board(id, devices, clusterId)
  }

  #pairsOf(
    device: DeviceRecord,
    board: Derived,
    pods: Roster<PodRecord>,
    clusterId: string,
    jobs: Map<string, JobRecord>,
  ): PairRecord[] {
    const pairs: PairRecord[] = []
    for (const { pod, job, share } of device.assignment.holdings) {
      const host = pod === undefined ? undefined : recordOfPod(pods, pod.pod)
      const holder = job === undefined ? host : this.#jobOf(job, host, clusterId, jobs)
      // Devices may name a job differently, so those of jobs are always looked at together.
      board.isLoose ||= holder === undefined || job !== undefined
      // A pod that the devices hang on is among the pods, except for the moment in which it goes.
      if (holder !== undefined) pairs.push(this.#pairOf(device, board, holder, share))
    }
    return pairs
  }

  #jobOf(job: string, host: PodRecord | undefined, clusterId: string, jobs: Map<string, JobRecord>): JobRecord {
    const made = jobs.get(job)
    if (made !== undefined) return made
    const before = this.jobs.get(job)
    const record = before !== undefined && before.host === host ? before : jobRecord(job, host, clusterId)
    jobs.set(job, record)
    return record
  }

  #keepJobs(made: ReadonlyMap<string, JobRecord>): void {
    for (const [job, record] of made) this.jobs.put(job, record)
    if (this.jobs.size === 0) return
    const held = new Set(Array.from(this.pairs.values(), ({ holder }) => holder.key))
    for (const [job, { key }] of [...this.jobs.keys()].map(one => [one, this.jobs.get(one)!] as const)) {
      if (!held.has(key)) this.jobs.delete(job)
    }
  }

  #pairOf(device: DeviceRecord, board: BoardRecord, holder: PodRecord | JobRecord, share: number): PairRecord {
    const key = [holder.key, device.key].join('\n')
    const known = this.pairs.get(key)
    if (known !== undefined && known.device === device && known.holder === holder && known.share === share) return known
    return new Pair(key, device, board, holder, share)
  }
}

// Of these there are as many as GPUs, so that a function for each would be more than what is in it.

class Board implements Derived {
  groups: Entity['groups'] = NO_GROUPS
  pairs: readonly PairRecord[] = []
  rests: readonly RestRecord[] = []
  isLoose = false
  readonly id: string
  readonly devices: readonly DeviceRecord[]
  readonly #clusterId: string

  constructor(id: string, devices: readonly DeviceRecord[], clusterId: string) {
    this.id = id
    this.devices = devices
    this.#clusterId = clusterId
  }

  get node(): string {
    return this.devices[0]!.assignment.node ?? ''
  }

  get(attribute: string): string | undefined {
    const { device } = this.devices[0]!.assignment
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

class Pair implements PairRecord {
  groups: Entity['groups'] = NO_GROUPS
  readonly key: string
  readonly device: DeviceRecord
  readonly holder: PodRecord | JobRecord
  readonly share: number
  readonly #board: BoardRecord

  constructor(key: string, device: DeviceRecord, board: BoardRecord, holder: PodRecord | JobRecord, share: number) {
    this.key = key
    this.device = device
    this.#board = board
    this.holder = holder
    this.share = share
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

class Rest implements RestRecord {
  groups: Entity['groups'] = NO_GROUPS
  readonly key: string
  readonly device: DeviceRecord
  readonly board: BoardRecord
  readonly gpus: number
  readonly reason: UnattributedReason
  readonly beside: RestRecord['beside']

  constructor({ key, device, board, gpus, reason, beside }: Omit<RestRecord, keyof Entity>) {
    this.key = key
    this.device = device
    this.board = board
    this.gpus = gpus
    this.reason = reason
    this.beside = beside
  }

  get(attribute: string): string | undefined {
    return attribute === 'reason' ? this.reason.replaceAll('_', ' ') : this.board.get(attribute)
  }
}

function touch(touched: Map<string, DeviceRecord[]>, id: string): DeviceRecord[] {
  let added = touched.get(id)
  if (added === undefined) touched.set(id, (added = []))
  return added
}

function isOutOfDate({ dependencies }: DeviceRecord): boolean {
  return dependencies !== undefined && haveChanged(dependencies)
}

function isHeldBy(pairs: readonly PairRecord[], pods: ReadonlySet<PodRecord | undefined>): boolean {
  for (const { holder } of pairs) if (pods.has('pod' in holder ? holder : holder.host)) return true
  return false
}

/** What a roster has of a board: these now, those before. */
function leave<T extends { readonly key: string }>(roster: Roster<T>, before: readonly T[], now: readonly T[]): void {
  for (const { key } of before) if (!now.some(one => one.key === key)) roster.delete(key)
  for (const record of now) roster.put(record.key, record)
}

function deviceRecord(
  key: string,
  device: SeenDevice,
  tables: ClusterTables,
  seen: SeenTables,
  rules: AssignmentRules,
): DeviceRecord {
  const { result, dependencies } = recordLooks(look => {
    const reader: PodReader = { look, tables, seen }
    return assignDevice(reader, device, rules)
  })
  return { key, assignment: result, dependencies }
}

function jobRecord(job: string, host: PodRecord | undefined, clusterId: string): JobRecord {
  const own: Readonly<Record<string, string>> = {
    cluster: clusterId,
    workload_id: job,
    workload_name: job,
    workload_kind: 'SlurmJob',
    workload_type: 'training',
    job_id: job,
    job_name: job,
    job_type: 'training',
  }
  return { ...entityFrom(attribute => own[attribute] ?? host?.get(attribute)), key: `job ${job}`, host }
}

function restOf(
  device: DeviceRecord,
  board: BoardRecord,
  gpus: number,
  reason: UnattributedReason,
  beside: RestRecord['beside'],
): RestRecord {
  const key = beside === undefined ? device.key : `${device.key} beside`
  return new Rest({ key, device, board, gpus, reason, beside })
}

function restsOf(board: BoardRecord): RestRecord[] {
  const instances = heldDevices(board)
  const rests = instances.map(device => {
    const { rest, weight } = device.assignment
    return restOf(device, board, rest.share * weight, rest.reason, undefined)
  })
  const uncut = uncutPart(board)
  const whole = board.devices.find(({ assignment }) => assignment.device.part === undefined)
  const isShownBeside = whole !== undefined && !instances.includes(whole)
  if (uncut > 0 || isShownBeside) rests.push(restOf(whole ?? board.devices[0]!, board, uncut, 'free', instances))
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
