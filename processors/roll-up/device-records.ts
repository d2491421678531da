/** Every device that exporters show, who has it, and the boards and pairs that follow from that. */
import { assignDevice } from '../../pipeline/cluster/assign-device.ts'
import type { AssignmentRules } from '../../pipeline/cluster/assignment-rules.ts'
import type { PodReader, SeenTables } from '../../pipeline/cluster/find-pod.ts'
import { deviceKey, type SeenDevice } from '../../pipeline/cluster/seen.ts'
import type { ClusterTables } from '../../pipeline/cluster/tables.ts'
import { haveChanged, recordLooks } from '../../pipeline/model/dependencies.ts'
import type { Tracked } from '../../pipeline/model/tracked.ts'
import { Board, heldDevices, Pair, restsOf, type Rest } from './board-records.ts'
import type { BoardRecord, DeviceRecord, JobRecord, PairRecord, RestRecord } from './board-records.ts'
import { entityFrom } from './entity.ts'
import { recordOfPod, type PodChange, type PodRecord } from './pod-records.ts'
import { Attendance, Places, Roster } from './roster.ts'

export class DeviceRecords {
  readonly jobs = new Roster<JobRecord>()
  readonly #pairs = new Places<Pair>()
  readonly #rests = new Places<Rest>()
  readonly #boards = new Roster<Board>()
  readonly #devices = new Roster<DeviceRecord>()
  readonly #attendance = new Attendance()

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
    /** By board: devices that it had not before. */
    const touched: Touched = new Map()
    this.#attendance.begin()
    for (const device of seenDevices.values()) {
      const key = deviceKey(device.id, device.part)
      let place = this.#devices.placeOf(key)
      const known = place < 0 ? undefined : this.#devices.list[place]
      if (known === undefined || known.assignment.device !== device || isOutOfDate(known)) {
        const record = deviceRecord(key, device, tables, seen, rules.assignment)
        place = this.#devices.put(key, record)
        touch(touched, device.id, known === undefined ? record : undefined)
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
  #touchHeld(touched: Touched, gone: ReadonlySet<PodRecord | undefined>): void {
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
    const board = this.#boardOf(known, devices, clusterId)
    const [pairs, rests] = [known?.pairs ?? [], known?.rests ?? []]
    board.isLoose = false
    board.pairs = follow(
      this.#pairs,
      pairs,
      heldDevices(board).flatMap(device => this.#pairsOf(device, board, pods, clusterId, jobs)),
      isSamePair,
    )
    board.rests = follow(this.#rests, rests, restsOf(board))
    // Who has it is part of what it tells.
    this.#boards.touch(this.#boards.put(id, board))
  }

  #drop(board: Board | undefined): void {
    if (board === undefined) return
    follow(this.#pairs, board.pairs, [])
    follow(this.#rests, board.rests, [])
    this.#boards.delete(board.id)
  }

  #boardOf(known: Board | undefined, devices: readonly DeviceRecord[], clusterId: string): Board {
    const before = known?.devices
    const isSame = before?.length === devices.length && devices.every((one, i) => before[i] === one)
    return isSame ? known! : new Board(devices, clusterId)
  }

  #pairsOf(
    device: DeviceRecord,
    board: Board,
    pods: Roster<PodRecord>,
    clusterId: string,
    jobs: Map<string, JobRecord>,
  ): Pair[] {
    const pairs: Pair[] = []
    for (const { pod, job, share } of device.assignment.holdings) {
      const host = pod === undefined ? undefined : recordOfPod(pods, pod.pod)
      const holder = job === undefined ? host : this.#jobOf(job, host, clusterId, jobs)
      // Devices may name a job differently, so those of jobs are always looked at together.
      board.isLoose ||= holder === undefined || job !== undefined
      // A pod that the devices hang on is among the pods, except for the moment in which it goes.
      if (holder !== undefined) pairs.push(new Pair(device, board, holder, share))
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
    const held = new Set(Array.from(this.#pairs.values(), ({ holder }) => holder.key))
    for (const [job, { key }] of [...this.jobs.keys()].map(one => [one, this.jobs.get(one)!] as const)) {
      if (!held.has(key)) this.jobs.delete(job)
    }
  }
}

type Touched = Map<string, readonly DeviceRecord[]>

function touch(touched: Touched, id: string, added?: DeviceRecord): void {
  const before = touched.get(id) ?? NONE
  // At the start these are all boards: a list that is added to has room for many more.
  touched.set(id, added === undefined ? before : before.concat(added))
}

const NONE: readonly DeviceRecord[] = []

function isOutOfDate({ dependencies }: DeviceRecord): boolean {
  return dependencies !== undefined && haveChanged(dependencies)
}

function isHeldBy(pairs: readonly PairRecord[], pods: ReadonlySet<PodRecord | undefined>): boolean {
  for (const { holder } of pairs) if (pods.has('pod' in holder ? holder : holder.host)) return true
  return false
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
