/** Every device that exporters show, who has it, and the boards and pairs that follow from that. */
import { assignDevice } from '../../pipeline/cluster/assign-device.ts'
import type { Assignment, UnattributedReason } from '../../pipeline/cluster/assignment.ts'
import type { AssignmentRules } from '../../pipeline/cluster/assignment-rules.ts'
import type { PodReader, SeenTables } from '../../pipeline/cluster/find-pod.ts'
import { deviceKey, type SeenDevice } from '../../pipeline/cluster/seen.ts'
import type { ClusterTables } from '../../pipeline/cluster/tables.ts'
import { haveChanged, recordLooks, type Dependencies } from '../../pipeline/model/dependencies.ts'
import type { Tracked } from '../../pipeline/model/tracked.ts'
import { entityFrom, type Entity } from './entity.ts'
import { podKey, type PodRecord } from './pod-records.ts'

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
  readonly device: DeviceRecord
  /** Of a board. */
  readonly gpus: number
  readonly reason: UnattributedReason
  /** Of what is beside the instances of a board, these; otherwise undefined. */
  readonly beside: readonly DeviceRecord[] | undefined
}

export class DeviceRecords {
  #devices = new Map<string, DeviceRecord>()
  #boards = new Map<string, BoardRecord>()
  #pairs = new Map<string, PairRecord>()
  #jobs = new Map<string, JobRecord>()
  #rests: RestRecord[] = []

  get boards(): ReadonlyMap<string, BoardRecord> {
    return this.#boards
  }
  get pairs(): ReadonlyMap<string, PairRecord> {
    return this.#pairs
  }
  get jobs(): ReadonlyMap<string, JobRecord> {
    return this.#jobs
  }
  get rests(): readonly RestRecord[] {
    return this.#rests
  }

  /** Whether anything has changed. `pods` are up to date already, and `arePodsChanged` says whether they are others than before. */
  refresh(
    seenDevices: Tracked<SeenDevice>,
    tables: ClusterTables,
    seen: SeenTables,
    rules: { readonly assignment: AssignmentRules; readonly clusterId: string },
    pods: ReadonlyMap<string, PodRecord>,
    arePodsChanged: boolean,
  ): boolean {
    const next = new Map<string, DeviceRecord>()
    let isChanged = arePodsChanged
    for (const device of seenDevices.values()) {
      const key = deviceKey(device.id, device.part)
      const known = this.#devices.get(key)
      const isSame =
        known !== undefined &&
        known.assignment.device === device &&
        (known.dependencies === undefined || !haveChanged(known.dependencies))
      next.set(key, isSame ? known : deviceRecord(key, device, tables, seen, rules.assignment))
      isChanged ||= !isSame
    }
    isChanged ||= next.size !== this.#devices.size
    this.#devices = next
    if (isChanged) this.#derive(pods, rules.clusterId)
    return isChanged
  }

  #derive(pods: ReadonlyMap<string, PodRecord>, clusterId: string): void {
    const boards = Map.groupBy(this.#devices.values(), ({ assignment }) => assignment.device.id)
    this.#boards = new Map(Array.from(boards, ([id, devices]) => [id, this.#boardOf(id, devices, clusterId)]))
    const pairs = new Map<string, PairRecord>()
    const jobs = new Map<string, JobRecord>()
    this.#rests = []
    for (const board of this.#boards.values()) {
      for (const device of heldDevices(board)) {
        const { holdings, rest, weight } = device.assignment
        for (const { pod, job, share } of holdings) {
          const host = pod === undefined ? undefined : pods.get(podKey(pod.pod))
          const holder = job === undefined ? host : this.#jobOf(job, host, clusterId, jobs)
          // A pod that the devices hang on is among the pods, except for the moment in which it goes.
          if (holder === undefined) continue
          const pair = this.#pairOf(device, board, holder, share)
          pairs.set(pair.key, pair)
        }
        this.#rests.push(restOf(device, board, rest.share * weight, rest.reason, undefined))
      }
      const uncut = uncutPart(board)
      const whole = board.devices.find(({ assignment }) => assignment.device.part === undefined)
      const instances = heldDevices(board)
      const isShownBeside = whole !== undefined && !instances.includes(whole)
      if (uncut > 0 || isShownBeside) {
        this.#rests.push(restOf(whole ?? board.devices[0]!, board, uncut, 'free', instances))
      }
    }
    this.#pairs = pairs
    this.#jobs = jobs
  }

  #boardOf(id: string, devices: readonly DeviceRecord[], clusterId: string): BoardRecord {
    const known = this.#boards.get(id)
    const isSame = known?.devices.length === devices.length && devices.every((one, i) => known.devices[i] === one)
    if (isSame) return known
    const { device, node = '' } = devices[0]!.assignment
    const model = device.model?.replaceAll(' ', '-')
    const attributes = { cluster: clusterId, node, gpu: device.index, uuid: id, model }
    return { ...entityFrom(attribute => attributes[attribute as keyof typeof attributes]), id, devices, node }
  }

  #jobOf(job: string, host: PodRecord | undefined, clusterId: string, jobs: Map<string, JobRecord>): JobRecord {
    const made = jobs.get(job)
    if (made !== undefined) return made
    const before = this.#jobs.get(job)
    const record = before?.host === host && before !== undefined ? before : jobRecord(job, host, clusterId)
    jobs.set(job, record)
    return record
  }

  #pairOf(device: DeviceRecord, board: BoardRecord, holder: PodRecord | JobRecord, share: number): PairRecord {
    const key = `${holder.key}\n${device.key}`
    const known = this.#pairs.get(key)
    if (known !== undefined && known.device === device && known.holder === holder && known.share === share) return known
    // Where the GPU is the exporter knows best; of a pod that is not known here, nothing else does.
    const get = (attribute: string): string | undefined =>
      attribute === 'gpu' ||
      attribute === 'uuid' ||
      attribute === 'model' ||
      (attribute === 'node' && board.node !== '')
        ? board.get(attribute)
        : holder.get(attribute)
    return { ...entityFrom(get), key, device, holder, share }
  }
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
  const get = (attribute: string): string | undefined =>
    attribute === 'reason' ? reason.replaceAll('_', ' ') : board.get(attribute)
  return { ...entityFrom(get), device, gpus, reason, beside }
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
