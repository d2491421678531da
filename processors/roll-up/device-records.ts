/** Every device that exporters show, who has it, and the boards and pairs that follow from that. */
import { assignDevice } from '../../pipeline/cluster/assign-device.ts'
import type { AssignmentRules } from '../../pipeline/cluster/assignment-rules.ts'
import type { PodReader, SeenTables } from '../../pipeline/cluster/find-pod.ts'
import type { SeenDevice } from '../../pipeline/cluster/seen.ts'
import type { ClusterTables } from '../../pipeline/cluster/tables.ts'
import { haveChanged, recordLooks } from '../../pipeline/model/dependencies.ts'
import { sharedWithLast } from '../../pipeline/model/shared.ts'
import type { Tracked } from '../../pipeline/model/tracked.ts'
import { CutBoard, Device, heldDevices, pairOf, restsOf } from './board-records.ts'
import type {
  Board,
  BoardRecord,
  Findings,
  Held,
  JobRecord,
  Pair,
  PairRecord,
  Rest,
  RestRecord,
} from './board-records.ts'
import { entityFrom } from './entity.ts'
import { packed, unpacked, type OneOrMany } from './one-or-many.ts'
import { recordOfPod, type PodChange, type PodRecord } from './pod-records.ts'
import { Places, Roster } from './roster.ts'

export class DeviceRecords {
  readonly jobs = new Roster<JobRecord>(({ key }) => key)
  readonly #pairs = new Places<Pair>()
  readonly #rests = new Places<Rest>()
  readonly #boards = new Roster<Board>(({ id }) => id)
  /** Boards of which somebody has a part who is not known, or whom others may have an influence on. */
  readonly #loose = new Set<string>()
  /** How many devices all boards have. */
  #size = 0

  get boards(): Roster<BoardRecord> {
    return this.#boards
  }

  get pairs(): Places<PairRecord> {
    return this.#pairs
  }

  get rests(): Places<RestRecord> {
    return this.#rests
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
    const touched: Touched = new Map()
    let size = this.#size
    for (const device of seenDevices.values()) {
      const known = this.#deviceOf(device)
      if (known !== undefined && known.seen === device && !isOutOfDate(known)) continue
      if (known === undefined) size++
      touch(touched, device.id, new Device(device, findingsOf(device, tables, seen, rules)))
    }
    // All that are shown are known by now.
    if (size > seenDevices.size) this.#touchGone(touched, seenDevices)
    if (changes.length > 0) this.#touchHeld(touched, new Set(changes.map(({ before }) => before)))
    const jobs = new Map<string, JobRecord>()
    for (const [id, made] of touched) this.#derive(id, unpacked(made), seenDevices, pods, jobs, rules.clusterId)
    this.#keepJobs(jobs)
  }

  #deviceOf({ id, part }: SeenDevice): Device | undefined {
    const board = this.#boards.get(id)
    if (board instanceof Device) return board.seen.part === part ? board : undefined
    return board?.devices.find(({ seen }) => seen.part === part)
  }

  #touchGone(touched: Touched, seenDevices: Tracked<SeenDevice>): void {
    for (const board of this.#boards.values()) {
      if (board.devices.some(({ key }) => seenDevices.get(key) === undefined)) touch(touched, board.id)
    }
  }

  /** Boards whose devices are the same, but not those who have them. */
  #touchHeld(touched: Touched, gone: ReadonlySet<PodRecord | undefined>): void {
    for (const id of this.#loose) touch(touched, id)
    for (const pair of this.#pairs.list)
      if (pair !== undefined && isHeldBy(pair, gone)) touch(touched, pair.device.seen.id)
  }

  /** `made` are the devices of the board that it had not before, or that are others by now. */
  #derive(
    id: string,
    made: readonly Device[],
    seenDevices: Tracked<SeenDevice>,
    pods: Roster<PodRecord>,
    jobs: Map<string, JobRecord>,
    clusterId: string,
  ): void {
    const known = this.#boards.get(id)
    const before = known?.devices ?? NONE
    const devices = before
      .filter(({ key }) => seenDevices.get(key) !== undefined)
      .map(one => made.find(other => other.isLike(one)) ?? one)
      .concat(made.filter(one => !before.some(other => other.isLike(one))))
    this.#size += devices.length - before.length
    this.#loose.delete(id)
    const board = boardOf(known, devices)
    const now =
      board === undefined ? [] : heldDevices(board).flatMap(one => this.#pairsOf(one, board, pods, jobs, clusterId))
    const pairs = follow(this.#pairs, known?.pairs ?? [], now, isSamePair)
    const rests = follow(this.#rests, known?.rests ?? [], board === undefined ? [] : restsOf(board))
    if (board === undefined) {
      this.#boards.delete(id)
      return
    }
    if (known !== board && known !== undefined) known.parts = []
    board.parts = [...pairs, ...rests]
    // Who has it is part of what it tells.
    this.#boards.touch(this.#boards.put(id, board))
  }

  #pairsOf(
    device: Device,
    board: Board,
    pods: Roster<PodRecord>,
    jobs: Map<string, JobRecord>,
    clusterId: string,
  ): Pair[] {
    const pairs: Pair[] = []
    for (const { pod, job, share } of device.assignment.holdings) {
      const host = pod === undefined ? undefined : recordOfPod(pods, pod)
      const holder = job === undefined ? host : this.#jobOf(job, host, clusterId, jobs)
      // Devices may name a job differently, so those of jobs are always looked at together.
      if (holder === undefined || job !== undefined) this.#loose.add(board.id)
      // A pod that the devices hang on is among the pods, except for the moment in which it goes.
      if (holder !== undefined) pairs.push(pairOf(device, board, holder, share))
    }
    return pairs
  }

  #jobOf(job: string, host: PodRecord | undefined, clusterId: string, jobs: Map<string, JobRecord>): JobRecord {
    const made = jobs.get(job)
    if (made !== undefined) return made
    const before = this.jobs.get(jobKey(job))
    const record = before !== undefined && before.host === host ? before : jobRecord(job, host, clusterId)
    jobs.set(job, record)
    return record
  }

  #keepJobs(made: ReadonlyMap<string, JobRecord>): void {
    for (const record of made.values()) this.jobs.put(record.key, record)
    if (this.jobs.size === 0) return
    const held = new Set(Array.from(this.#pairs.values(), ({ holder }) => holder.key))
    for (const key of this.jobs.keys()) if (!held.has(key)) this.jobs.delete(key)
  }
}

/** By board: devices that it had not before, or that are others by now. At the start these are all boards. */
type Touched = Map<string, OneOrMany<Device>>

function touch(touched: Touched, id: string, made?: Device): void {
  const before = touched.get(id) ?? NONE
  touched.set(id, made === undefined ? before : packed([...unpacked(before), made]))
}

const NONE: readonly Device[] = []

function isOutOfDate({ assignment: { dependencies } }: Device): boolean {
  return dependencies !== undefined && haveChanged(dependencies)
}

function isHeldBy({ holder }: PairRecord, pods: ReadonlySet<PodRecord | undefined>): boolean {
  return pods.has('pod' in holder ? holder : holder.host)
}

/** A board with one device is that device. */
function boardOf(known: Board | undefined, devices: readonly Device[]): Board | undefined {
  if (devices.length < 2) return devices[0]
  const before = known?.devices
  const isSame = before?.length === devices.length && devices.every((one, i) => before[i] === one)
  return isSame ? known : new CutBoard(devices)
}

/** What a board has, and its place: one that was there before keeps its place. */
type Part<T> = { place: number; isLike(other: T): boolean }

/** Gives places to what a board has now, and takes those of what it had before. `isSame` says which may stay what they were. */
function follow<T extends Part<T>>(
  places: Places<T>,
  before: readonly T[],
  now: readonly T[],
  isSame: (one: T, other: T) => boolean = () => false,
): readonly T[] {
  for (const one of before) if (!now.some(other => other.isLike(one))) places.remove(one.place)
  return now.map(one => {
    const known = before.find(other => other.isLike(one))
    if (known !== undefined && isSame(known, one)) return known
    if (known === undefined) one.place = places.add(one)
    else places.replace((one.place = known.place), one)
    return one
  })
}

function isSamePair(one: Pair, other: Pair): boolean {
  return one.device === other.device && one.holder === other.holder && one.share === other.share
}

function findingsOf(
  device: SeenDevice,
  tables: ClusterTables,
  seen: SeenTables,
  { assignment: rules, clusterId }: { readonly assignment: AssignmentRules; readonly clusterId: string },
): Findings {
  const { result, dependencies } = recordLooks(look => {
    const reader: PodReader = { look, tables, seen }
    return assignDevice(reader, device, rules)
  })
  const { node, weight, isShared, rest } = result
  const holdings = result.holdings.map(({ pod, job, share }): Held => ({ pod: pod?.pod, job, share }))
  return sharedFindings({ node, weight, isShared, holdings, rest, dependencies, clusterId })
}

/** GPUs of a pod follow each other. */
const sharedFindings = sharedWithLast<Findings>(
  (one, other) =>
    one.node === other.node &&
    one.weight === other.weight &&
    one.isShared === other.isShared &&
    areSameHoldings(one.holdings, other.holdings) &&
    one.rest.share === other.rest.share &&
    one.rest.reason === other.rest.reason &&
    one.dependencies === other.dependencies &&
    one.clusterId === other.clusterId,
)

function areSameHoldings(some: readonly Held[], others: readonly Held[]): boolean {
  const isSame = (one: Held, other: Held): boolean =>
    one.pod === other.pod && one.job === other.job && one.share === other.share
  return some.length === others.length && some.every((one, i) => isSame(one, others[i]!))
}

function jobKey(job: string): string {
  return `job ${job}`
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
  return { ...entityFrom(attribute => own[attribute] ?? host?.get(attribute)), key: jobKey(job), host }
}
