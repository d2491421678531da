/** A set of targets that are found and scraped in one way: what comes and goes, and why something is not scraped. */
import type { DroppedTarget, Host, Targets } from '../../pipeline/component.ts'
import type { DiscoveredTarget, Discovery } from './discovery/discovery.ts'
import type { Scheduled, Scheduler } from './scheduler.ts'
import type { Rejection, TargetSpec } from './target-spec.ts'
import type { Target } from './target.ts'

export type JobOptions = {
  readonly name: string
  readonly discoveries: readonly Discovery[]
  /** What becomes of something that was found. One thing may be several targets, as a kubelet is. */
  readonly specs: (found: DiscoveredTarget) => readonly (TargetSpec | Rejection)[]
  /** `blocked` says why nothing may be scraped just now. */
  readonly createTarget: (spec: TargetSpec, blocked: () => string | undefined) => Target
  /** More targets, and none is scraped; 0 is no limit. */
  readonly targetLimit: number
  /** How many of those that are left out are remembered; 0 is no limit. */
  readonly keepDropped: number
}

export type Job = {
  start(): void
  stop(): void
  readonly targetCount: number
  targets(): Targets
}

type Active = { readonly spec: TargetSpec; readonly target: Target; readonly scheduled: Scheduled }

export function createJob(options: JobOptions, scheduler: Scheduler, { log }: Pick<Host, 'log'>): Job {
  const { name, discoveries, targetLimit } = options
  const found: (readonly DiscoveredTarget[])[] = discoveries.map(() => [])
  // A target that stays is the same object, and costs no relabelling.
  const made = new WeakMap<DiscoveredTarget, readonly (TargetSpec | Rejection)[]>()
  const active = new Map<string, Active>()
  let dropped: DroppedTarget[] = []
  let droppedCount = 0

  function specsOf(target: DiscoveredTarget): readonly (TargetSpec | Rejection)[] {
    let specs = made.get(target)
    if (specs === undefined) made.set(target, (specs = options.specs(target)))
    return specs
  }

  /** Makes what is scraped equal to what was found. What is in both goes on as it is. */
  function synchronize(): void {
    const wanted = new Map<string, TargetSpec>()
    dropped = []
    droppedCount = 0
    for (const targets of found) {
      for (const target of targets) for (const spec of specsOf(target)) sort(spec, wanted)
    }
    for (const [key, { target, scheduled }] of active) {
      if (wanted.has(key)) continue
      active.delete(key)
      scheduler.remove(scheduled)
      target.remove()
    }
    for (const [key, spec] of wanted) if (!active.has(key)) add(key, spec)
    const problem = blocked()
    log.state(name, problem === undefined ? 'ok' : 'failing', problem)
  }

  function sort(spec: TargetSpec | Rejection, wanted: Map<string, TargetSpec>): void {
    if ('key' in spec) wanted.set(spec.key, spec)
    else {
      droppedCount++
      if (options.keepDropped === 0 || dropped.length < options.keepDropped) dropped.push(spec)
    }
  }

  function add(key: string, spec: TargetSpec): void {
    const target = options.createTarget(spec, blocked)
    active.set(key, { spec, target, scheduled: scheduler.add(spec.intervalMs, target) })
  }

  function blocked(): string | undefined {
    if (targetLimit === 0 || active.size <= targetLimit) return undefined
    return `there are ${active.size} targets, target_limit is ${targetLimit}`
  }

  return {
    start() {
      discoveries.forEach((discovery, index) =>
        discovery.start(targets => {
          found[index] = targets
          synchronize()
        }),
      )
    },
    stop() {
      for (const discovery of discoveries) discovery.stop()
      for (const { target, scheduled } of active.values()) {
        scheduler.remove(scheduled)
        target.remove()
      }
      active.clear()
      log.state(name, 'gone')
    },
    get targetCount() {
      return active.size
    },
    targets: () => ({
      active: Array.from(active.values(), ({ spec, target }) => ({ ...target.status(), intervalMs: spec.intervalMs })),
      dropped,
      droppedCount,
    }),
  }
}
