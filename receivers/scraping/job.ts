/** A set of targets that are found and scraped in one way: what comes and goes, and why something is not scraped. */
import type { DroppedTarget, Host, Targets } from '../../pipeline/component.ts'
import type { DiscoveredTarget, Discovery } from './discovery/discovery.ts'
import { ActiveTargets, type ActiveTarget } from './active-targets.ts'
import type { Scheduler } from './scheduler.ts'
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
  /** Whether it is known of all targets whether they can be scraped. */
  areTried(): boolean
  targets(): Targets
}

export function createJob(options: JobOptions, scheduler: Scheduler, { log }: Pick<Host, 'log'>): Job {
  const { name, discoveries, targetLimit } = options
  // By discovery.
  const found: (readonly (TargetSpec | Rejection)[])[] = discoveries.map(() => [])
  // A target that stays is the same object, and costs no relabelling.
  const made = new WeakMap<DiscoveredTarget, readonly (TargetSpec | Rejection)[]>()
  const active = new ActiveTargets()
  let dropped: DroppedTarget[] = []
  let droppedCount = 0

  function specsOf(target: DiscoveredTarget): readonly (TargetSpec | Rejection)[] {
    let specs = made.get(target)
    if (specs === undefined) made.set(target, (specs = options.specs(target)))
    return specs
  }

  /** Makes what is scraped equal to what was found. What is in both goes on as it is. */
  function synchronize(): void {
    const kept = new Set<ActiveTarget>()
    const others: TargetSpec[] = []
    dropped = []
    droppedCount = 0
    for (const specs of found) for (const spec of specs) sort(spec, kept, others)
    for (const one of active.all()) if (!kept.has(one)) remove(one)
    // The same may have been found twice.
    for (const spec of others) if (active.find(spec) === undefined) add(spec)
    const problem = blocked()
    log.state(name, problem === undefined ? 'ok' : 'failing', problem)
  }

  function sort(spec: TargetSpec | Rejection, kept: Set<ActiveTarget>, others: TargetSpec[]): void {
    if ('reason' in spec) {
      droppedCount++
      if (options.keepDropped === 0 || dropped.length < options.keepDropped) dropped.push(spec)
      return
    }
    const known = active.find(spec)
    if (known === undefined) others.push(spec)
    else kept.add(known)
  }

  function add(spec: TargetSpec): void {
    const target = options.createTarget(spec, blocked)
    active.add(spec, target, scheduler.add(spec.intervalMs, target))
  }

  function remove(one: ActiveTarget): void {
    active.remove(one)
    scheduler.remove(one.scheduled)
    one.target.remove()
  }

  function blocked(): string | undefined {
    if (targetLimit === 0 || active.count <= targetLimit) return undefined
    return `there are ${active.count} targets, target_limit is ${targetLimit}`
  }

  return {
    start() {
      discoveries.forEach((discovery, index) =>
        discovery.start(targets => {
          found[index] = targets.flatMap(specsOf)
          synchronize()
        }),
      )
    },
    stop() {
      for (const discovery of discoveries) discovery.stop()
      for (const one of active.all()) remove(one)
      found.fill([])
      log.state(name, 'gone')
    },
    get targetCount() {
      return active.count
    },
    areTried: () => active.areAll(isTried),
    targets: () => ({
      active: Array.from(active.all(), ({ spec, target }) => ({ ...target.status(), intervalMs: spec.intervalMs })),
      dropped,
      droppedCount,
    }),
  }
}

function isTried(target: Target): boolean {
  return target.isTried
}
