/** What all pulling receivers are inside: targets on a schedule. */
import { clusterTables } from '../../pipeline/cluster/tables.ts'
import type { Host, Next, Receiver } from '../../pipeline/component.ts'
import { compileRelabel } from '../../pipeline/relabel/relabel.ts'
import type { RelabelRule } from '../../pipeline/relabel/rule.ts'
import { createJob, type Job } from './job.ts'
import { createScheduler, type Scheduler } from './scheduler.ts'
import { discoveriesOf, scrapeOptions, timeoutOf, type ScrapeConfig } from './scrape-config.ts'
import { withUsualParts, type UrlDefaults } from './target-address.ts'
import { specFrom, type TargetDefaults } from './target-spec.ts'
import { createTarget, type ScrapeOptions } from './target.ts'
import { createWaitingRoom, type WaitingRoom } from './waiting-room.ts'

/** What a receiver knows of its targets. */
export type ReceiverKind = Pick<ScrapeOptions, 'fallback' | 'emptyIsFailure' | 'isWantedName'> & {
  readonly urls: UrlDefaults
  /** Where a target has several pages: all of them. What they say is told apart by a label `metrics_path`. */
  readonly paths?: readonly string[]
  /** Whether what a target says is about the node that it runs on. */
  readonly isOfNode: boolean
  /** Rules for series, before those of the user. */
  readonly rules?: readonly RelabelRule[]
}

export function createScrapeReceiver(config: ScrapeConfig, kind: ReceiverKind, host: Host, next: Next): Receiver {
  return createReceiverOf(
    (scheduler, give) => [createKindJob(config, kind, scheduler, host, give)],
    host,
    next,
    count => `${counted(count, 'target')} every ${config.scrape_interval}`,
  )
}

/** Scrapes by jobs, which share one timer and hand on by `give`. `describe` gets the number of targets. */
export function createReceiverOf(
  createJobs: (scheduler: Scheduler, give: Next) => readonly Job[],
  host: Pick<Host, 'clock' | 'cluster' | 'counters' | 'id' | 'log'>,
  next: Next,
  describe: (targetCount: number) => string,
): Required<Receiver> {
  const { clock, cluster, id } = host
  const { collections } = clusterTables(cluster)
  const areTried = (): boolean => jobs.every(job => job.areTried())
  let scheduler: Scheduler | undefined
  let room: WaitingRoom | undefined
  let jobs: readonly Job[] = []
  return {
    start() {
      room = createWaitingRoom(host, next)
      // What is due begins when there is room for what it brings.
      scheduler = createScheduler(clock, room)
      jobs = createJobs(scheduler, room.give)
      for (const job of jobs) job.start()
      collections.set(id, areTried)
    },
    stop() {
      if (collections.entry(id).value === areTried) collections.delete(id)
      scheduler?.stop()
      for (const job of jobs) job.stop()
      jobs = []
      room?.stop()
      room = undefined
    },
    describe: () => describe(jobs.reduce((sum, job) => sum + job.targetCount, 0)),
    targets() {
      const all = jobs.map(job => job.targets())
      return {
        active: all.flatMap(({ active }) => active),
        dropped: all.flatMap(({ dropped }) => dropped),
        droppedCount: all.reduce((sum, { droppedCount }) => sum + droppedCount, 0),
      }
    },
  }
}

export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

/** Enough for people to see the pattern; a cluster has tens of thousands of things that are no target. */
export const KEEP_DROPPED = 1000

function createKindJob(config: ScrapeConfig, kind: ReceiverKind, scheduler: Scheduler, host: Host, next: Next): Job {
  const urls: UrlDefaults = {
    ...kind.urls,
    ...(config.scheme !== undefined && { scheme: config.scheme }),
    ...(config.metrics_path !== undefined && { path: config.metrics_path }),
  }
  const { fallback, emptyIsFailure, isWantedName } = kind
  const options: ScrapeOptions = {
    ...scrapeOptions(config, host, kind.rules),
    fallback,
    emptyIsFailure,
    ...(isWantedName && { isWantedName }),
  }
  const relabel = compileRelabel(config.relabel_configs)
  const defaultsFor = (metricsPath: string): TargetDefaults => ({
    job: host.id,
    scheme: urls.scheme,
    metricsPath,
    interval: config.scrape_interval,
    timeout: timeoutOf(config),
    params: config.params ?? {},
    labels: { ...config.labels, ...(kind.paths && { metrics_path: metricsPath }) },
    relabel,
    spellsPort: true,
    isOfNode: kind.isOfNode,
  })
  const usual = (kind.paths ?? [urls.path]).map(defaultsFor)

  return createJob(
    {
      name: host.id,
      discoveries: discoveriesOf(config, host),
      specs(found) {
        const target = withUsualParts(found, urls)
        const path = target.labels.get('__metrics_path__')
        const pages = path === undefined ? usual : [defaultsFor(path)]
        return pages.map(defaults => specFrom(target, defaults))
      },
      createTarget(spec, blocked) {
        const itsHost = spec.through === undefined ? host : { ...host, network: spec.through.network }
        return createTarget(spec, options, itsHost, next, blocked)
      },
      targetLimit: 0,
      keepDropped: KEEP_DROPPED,
    },
    scheduler,
    host,
  )
}
