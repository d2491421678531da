/** What goes wrong with the servers of the cluster, where and when. */
import type { FaceName } from './face.ts'

export const FAULT_KINDS = [
  'slow',
  'hang',
  'refuse',
  'error',
  'truncate',
  'garbage',
  'sentinel',
  'out_of_range',
  'duplicate_rows',
  'restart',
  'clock_skew',
  'drop_watches',
  'hang_watches',
  'expire_watches',
  'deny',
] as const
export type FaultKind = (typeof FAULT_KINDS)[number]

/** Faults that no other server can have. */
export const KUBERNETES_API_FAULTS: ReadonlySet<FaultKind> = new Set([
  'drop_watches',
  'hang_watches',
  'expire_watches',
  'deny',
])

export type Fault = {
  readonly kind: FaultKind
  readonly face: FaceName
  /** Of the face's endpoints; without a list all of them. */
  readonly endpoints?: readonly string[]
  /** Since the start of the simulator. */
  readonly fromMs: number
  /** How long; without it, for good. */
  readonly forMs?: number
  /** From one beginning to the next, if it comes again. */
  readonly everyMs?: number
  /** `slow`: before the answer begins. */
  readonly delayMs?: number
  /** `error`: with which status. */
  readonly status?: number
  /** How much of the text is hit, or, if cut off, is left: 0 to 1. */
  readonly share?: number
  /** `clock_skew`: what the endpoint's clock is ahead; negative if it is behind. */
  readonly skewMs?: number
  /** `deny`: of what, as `pods` or `queues.scheduling.run.ai`, and doing what. */
  readonly resources?: readonly string[]
  readonly verbs?: readonly string[]
}

export class FaultSchedule {
  readonly faults: readonly Fault[]
  readonly #startMs: number

  constructor(faults: readonly Fault[], startMs: number) {
    this.faults = faults
    this.#startMs = startMs
  }

  /** What is wrong with an endpoint at a moment. */
  active(face: FaceName, endpoint: string, timeMs: number): readonly Fault[] {
    if (this.faults.length === 0) return []
    return this.faults.filter(fault => concerns(fault, face, endpoint) && isActive(fault, timeMs - this.#startMs))
  }

  /** When an endpoint comes back after a restart; there may be no end of them. */
  *restarts(face: FaceName, endpoint: string): Iterable<number> {
    for (const fault of this.faults) {
      if (fault.kind !== 'restart' || !concerns(fault, face, endpoint)) continue
      const firstMs = this.#startMs + fault.fromMs + (fault.forMs ?? 0)
      yield firstMs
      if (fault.everyMs === undefined) continue
      for (let timeMs = firstMs + fault.everyMs; ; timeMs += fault.everyMs) yield timeMs
    }
  }
}

function concerns(fault: Fault, face: FaceName, endpoint: string): boolean {
  return fault.face === face && (fault.endpoints === undefined || fault.endpoints.includes(endpoint))
}

function isActive({ fromMs, forMs = Infinity, everyMs }: Fault, elapsedMs: number): boolean {
  if (elapsedMs < fromMs) return false
  const since = elapsedMs - fromMs
  return (everyMs === undefined ? since : since % everyMs) < forMs
}
