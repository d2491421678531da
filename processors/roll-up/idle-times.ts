/** How long workloads have been idle: since they were last busy, or since their GPU pods started. */
import type { Pod } from '../../pipeline/cluster/objects.ts'
import type { KeyedEntity } from './keyed-entities.ts'
import { roomFor } from './room.ts'
import type { Roster } from './roster.ts'
import type { Times } from './times.ts'

/** A window in which nothing was busy counts when it is over. */
const IDLE_WINDOW_MS = 30_000

export class IdleTimes {
  readonly #workloads: Roster<KeyedEntity>
  readonly #busy: Times
  /** When the first GPU pod started; Infinity where that is not known, NaN for workloads that have no GPU now. */
  #started = new Float64Array(0)

  constructor(workloads: Roster<KeyedEntity>, busy: Times) {
    this.#workloads = workloads
    this.#busy = busy
  }

  refresh(): void {
    const { list, changed } = this.#workloads
    this.#started = roomFor(this.#started, list.length)
    for (const place of changed) this.#started[place] = startOf(list[place])
  }

  /** In seconds; NaN where a workload has no GPU. */
  fill(result: Float64Array, nowMs: number): void {
    for (let place = 0; place < this.#workloads.list.length; place++) {
      const startedMs = this.#started[place]!
      if (startedMs !== startedMs) {
        result[place] = NaN
        continue
      }
      const busyMs = this.#busy.at(place)
      const sinceMs = busyMs === busyMs ? busyMs : Math.min(startedMs, nowMs)
      result[place] = Math.max(0, Math.floor((nowMs - sinceMs) / IDLE_WINDOW_MS)) * (IDLE_WINDOW_MS / 1000)
    }
  }
}

function startOf(workload: KeyedEntity | undefined): number {
  let startedMs = Infinity
  let hasGpus = false
  for (const { pod, conditions } of workload?.members ?? []) {
    if (!conditions.has('gpu')) continue
    hasGpus ||= conditions.has('bound') && conditions.has('unfinished')
    startedMs = Math.min(startedMs, startOfPod(pod))
  }
  return hasGpus ? startedMs : NaN
}

/** One that waits has not started, however long ago it came. */
function startOfPod({ phase, startedMs, createdMs }: Pod): number {
  return startedMs ?? (phase === 'Pending' ? undefined : createdMs) ?? Infinity
}
