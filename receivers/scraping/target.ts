/** One target: asks it, reads what it answers, and hands on what that says, again and again. */
import type { Counters, Host, NetworkRequest, Next, TargetStatus } from '../../pipeline/component.ts'
import type { LabelMaker } from '../../pipeline/formats/block-labels.ts'
import {
  SourceReader,
  type Exposition,
  type ReadingRules,
  type TextReader,
} from '../../pipeline/formats/prometheus-text.ts'
import { endBatch, type Batch, type Source } from '../../pipeline/model/batch.ts'
import { labelPairs, type Labels } from '../../pipeline/model/labels.ts'
import type { Layout } from '../../pipeline/model/layout.ts'
import type { Credentials } from '../../pipeline/http/credentials.ts'
import { Intake, readingLimit, type IntakeOptions, type Taken } from './intake.ts'
import { checkLabels } from './limits.ts'
import { onlyNames } from './name-filter.ts'
import {
  requestExposition,
  type Asker,
  type Begun,
  type ExpositionClient,
  type ExpositionOptions,
} from './request-exposition.ts'
import { reportBatch, reportLayout } from './scrape-report.ts'
import { withTargetLabels } from './target-labels.ts'

/** What the targets of a job have in common. */
export type ScrapeOptions = ExpositionOptions &
  IntakeOptions & {
    readonly honorLabels: boolean
    readonly honorTimestamps: boolean
    /** Names are lower case. */
    readonly headers: Readonly<Record<string, string>>
    /** The formats that are asked for. */
    readonly accept: string
    readonly credentials: Credentials
    readonly proxyUrl?: string
    readonly compressed: boolean
    readonly strict: boolean
    /** A body without samples after one with samples is a target that is starting or reloading, not one that has nothing. */
    readonly emptyIsFailure: boolean
    /** Samples with other names are left out before anything else is done with them. */
    readonly isWantedName?: (name: string) => boolean
  }

/** Where a target is. */
export type TargetPlace = {
  readonly url: string
  readonly labels: Labels
  readonly node?: string
  readonly timeoutMs: number
}

export type Target = {
  /** Starts a scrape. Does nothing if the last one is still under way. */
  scrape(): void
  /** Ends what is under way and, if the target was ever scraped, the target's series. */
  remove(): void
  /** Whether a scrape was through, however it ended. */
  readonly isTried: boolean
  status(): Omit<TargetStatus, 'intervalMs'>
}

/** `next` never throws: what nobody takes now waits there. `blocked` says why it must not be scraped just now. */
export function createTarget(
  place: TargetPlace,
  options: ScrapeOptions,
  host: Host,
  next: Next,
  blocked?: () => string | undefined,
): Target {
  return new ScrapedTarget(place, commonOf(options, host, next, blocked))
}

/** What is counted at every scrape, once for all targets of a receiver. */
type ScrapeCounts = { readonly ok: Count; readonly failed: Count; readonly took: (seconds: number) => void }
type Count = (scrapes: number) => void

const countsOf = new WeakMap<Counters, ScrapeCounts>()

function scrapeCounts(counters: Counters): ScrapeCounts {
  let counts = countsOf.get(counters)
  if (counts === undefined) {
    counts = {
      ok: counters.counter('gpucol_receiver_scrapes', { outcome: 'ok' }),
      failed: counters.counter('gpucol_receiver_scrapes', { outcome: 'failed' }),
      took: counters.histogram('gpucol_receiver_scrape_duration_seconds'),
    }
    countsOf.set(counters, counts)
  }
  return counts
}

/** What targets share that are made alike. */
class Common {
  readonly options: ScrapeOptions
  readonly host: Host
  readonly next: Next
  readonly blocked: (() => string | undefined) | undefined
  readonly counts: ScrapeCounts
  readonly rules: ReadingRules
  #secrets: Readonly<Record<string, string>> | undefined
  /** By timeout. */
  readonly #headers = new Map<number, Readonly<Record<string, string>>>()

  constructor(options: ScrapeOptions, host: Host, next: Next, blocked: (() => string | undefined) | undefined) {
    this.options = options
    this.host = host
    this.next = next
    this.blocked = blocked
    this.counts = scrapeCounts(host.counters)
    const maxSeries = readingLimit(options)
    this.rules = { isStrict: options.strict, maxSeries: maxSeries === 0 ? Infinity : maxSeries }
  }

  /** The same object for as long as nothing in it changes. Throws if there are credentials that cannot be read. */
  headers(timeoutMs: number): Readonly<Record<string, string>> {
    const { credentials, headers, accept, compressed } = this.options
    const secrets = credentials.headers()
    if (secrets !== this.#secrets) this.#headers.clear()
    this.#secrets = secrets
    let all = this.#headers.get(timeoutMs)
    if (all === undefined) {
      all = {
        accept,
        'accept-encoding': compressed ? 'gzip' : 'identity',
        'user-agent': 'gpucol',
        'x-prometheus-scrape-timeout-seconds': String(timeoutMs / 1000),
        ...headers,
        ...secrets,
      }
      this.#headers.set(timeoutMs, all)
    }
    return all
  }
}

const commons = new WeakMap<ScrapeOptions, Common>()

/** Targets of a job are made with the same options. */
function commonOf(
  options: ScrapeOptions,
  host: Host,
  next: Next,
  blocked: (() => string | undefined) | undefined,
): Common {
  let common = commons.get(options)
  if (common === undefined || common.host !== host || common.next !== next || common.blocked !== blocked) {
    common = new Common(options, host, next, blocked)
    commons.set(options, common)
  }
  return common
}

/**
 * An object with all it needs in its fields, not functions with what they close over: by the next scrape of a target nothing of it is near
 * the processor any more, and looking for it in many places is what a scrape would cost.
 */
class ScrapedTarget implements Target, Asker, LabelMaker {
  readonly reader: TextReader
  readonly #place: TargetPlace
  readonly #common: Common
  readonly #source: Source
  readonly #reports: Source
  readonly #reportLayout: Layout
  readonly #intake: Intake
  #request: NetworkRequest | undefined
  #underWay: ExpositionClient | undefined
  /** And is not removed since. */
  #hasSeries = false
  #hadSamples = false
  /** NaN until it was tried. */
  #doneTimeMs = NaN
  #seconds = NaN
  #samples = 0
  #error: string | undefined

  constructor(place: TargetPlace, common: Common) {
    const { url, labels, node } = place
    const { options, host } = common
    this.#place = place
    this.#common = common
    this.#source = { component: host.id, name: withoutUser(url), labels, ...(node !== undefined && { node }) }
    this.#reports = { ...this.#source }
    this.#reportLayout = reportLayout(this.#reports)
    this.#intake = new Intake(this.#source, options)
    const reader = new SourceReader(common.rules, this)
    this.reader = options.isWantedName === undefined ? reader : onlyNames(reader, options.isWantedName)
  }

  scrape(): void {
    const { options, host, blocked } = this.#common
    if (this.#underWay !== undefined) {
      host.counters.add('gpucol_receiver_scrapes', 1, { outcome: 'skipped' })
      return
    }
    const problem = blocked?.()
    if (problem !== undefined) return this.#failed(problem)
    // Credentials that cannot be read are a failed scrape like any other.
    let current
    try {
      current = this.#currentRequest()
    } catch (error) {
      return this.#failed((error as Error).message)
    }
    this.#underWay = requestExposition(host, options, current, this)
  }

  /** The same object for as long as nothing in it changes, so that nobody needs to look at it again. */
  #currentRequest(): NetworkRequest {
    const { url, timeoutMs } = this.#place
    const { credentials, proxyUrl } = this.#common.options
    const tls = credentials.tls()
    const headers = this.#common.headers(timeoutMs)
    if (this.#request === undefined || this.#request.tls !== tls || this.#request.headers !== headers) {
      this.#request = {
        url,
        headers,
        timeoutMs,
        ...(tls && { tls }),
        ...(proxyUrl !== undefined && { proxyUrl }),
      }
    }
    return this.#request
  }

  /** Nobody was asked. */
  #failed(problem: string): void {
    const { clock } = this.#common.host
    this.answered({ timeMs: clock.now(), startMs: clock.monotonic() }, undefined, problem, 0)
  }

  answered(
    { timeMs, startMs }: Begun,
    exposition: Exposition | undefined,
    problem: string | undefined,
    bodyBytes: number,
  ): void {
    const { host, counts, next } = this.#common
    const { clock, log } = host
    this.#underWay = undefined
    this.#hasSeries = true
    const durationSeconds = Math.max(0, clock.monotonic() - startMs) / 1000
    const { taken, problem: error } = this.#judge(timeMs, exposition, problem)
    const isUp = error === undefined && taken !== undefined
    // What was above a limit was still there, and its number helps to find out why.
    const samples = exposition?.samples ?? 0
    this.#doneTimeMs = timeMs
    this.#seconds = durationSeconds
    this.#samples = samples
    this.#error = error
    if (isUp) counts.ok(1)
    else counts.failed(1)
    counts.took(durationSeconds)
    log.state(this.#source.name, isUp ? 'ok' : 'failing', error)
    next(isUp ? taken.batch : endBatch(this.#source, timeMs, 'failed'))
    next(
      reportBatch(this.#reports, this.#reportLayout, timeMs, {
        up: isUp,
        durationSeconds,
        samples,
        kept: taken?.kept ?? 0,
        added: isUp ? taken.added : 0,
        bodyBytes,
        timeoutSeconds: this.#place.timeoutMs / 1000,
      }),
    )
  }

  /** Finds what can only be said when everything has been read. */
  #judge(
    timeMs: number,
    exposition: Exposition | undefined,
    problem: string | undefined,
  ): { taken?: Taken; problem?: string } {
    if (exposition === undefined) return problem === undefined ? {} : { problem }
    const { samples, badLines, added } = exposition
    this.#count(exposition)
    // A page about something else, or nothing of it can be used: that is no target that has nothing to say.
    if (samples === 0 && badLines > 0) {
      return { problem: `nothing in the body can be read, ${exposition.problem}` }
    }
    if (samples === 0 && this.#hadSamples && this.#common.options.emptyIsFailure) {
      return { problem: 'the body has no samples, though the last one had' }
    }
    const taken = this.#intake.take(this.#batchOf(timeMs, exposition), added)
    if (taken.problem !== undefined) return { taken, problem: taken.problem }
    if (taken.duplicates > 0) this.#common.host.counters.add('gpucol_receiver_duplicate_samples', taken.duplicates)
    this.#hadSamples = samples > 0
    return { taken }
  }

  #batchOf(timeMs: number, { layout, values, times, starts }: Exposition): Batch {
    return {
      source: this.#source,
      timeMs,
      outcome: 'ok',
      layout,
      values,
      absent: undefined,
      times: this.#common.options.honorTimestamps ? times : undefined,
      starts,
    }
  }

  #count({ badLines, duplicates, exemplars, badExemplars, endMissing, problem }: Exposition): void {
    const { counters, log } = this.#common.host
    if (badLines > 0) {
      counters.add('gpucol_receiver_bad_lines', badLines)
      log.debug('skipped lines that cannot be read', {
        target: this.#source.name,
        lines: badLines,
        first: problem,
      })
    }
    if (duplicates > 0) counters.add('gpucol_receiver_duplicate_samples', duplicates)
    if (exemplars > 0) counters.add('gpucol_receiver_exemplars', exemplars, { outcome: 'left out' })
    if (badExemplars > 0) counters.add('gpucol_receiver_exemplars', badExemplars, { outcome: 'bad' })
    if (endMissing) counters.add('gpucol_receiver_missing_ends', 1)
  }

  makeLabels(exposed: ReadonlyMap<string, string>): Labels {
    const { honorLabels, planner, limits } = this.#common.options
    const labels = withTargetLabels(exposed, labelPairs(this.#place.labels), honorLabels)
    // Rules may yet take labels away; then what is left is looked at.
    if (planner === undefined) checkLabels(labels, limits)
    return labels
  }

  remove(): void {
    const { host, next } = this.#common
    const { clock, log } = host
    this.#underWay?.cancel()
    this.#underWay = undefined
    log.state(this.#source.name, 'gone')
    this.#intake.forget()
    if (!this.#hasSeries) return
    this.#hasSeries = false
    next(endBatch(this.#source, clock.now(), 'removed'))
    next(endBatch(this.#reports, clock.now(), 'removed'))
  }

  get isTried(): boolean {
    return !Number.isNaN(this.#doneTimeMs)
  }

  status(): Omit<TargetStatus, 'intervalMs'> {
    const { labels, node } = this.#place
    const { isTried: hasTried } = this
    return {
      url: this.#source.name,
      labels,
      ...(node !== undefined && { node }),
      state: !hasTried ? 'unknown' : this.#error === undefined ? 'up' : 'down',
      ...(hasTried && {
        lastScrape: {
          timeMs: this.#doneTimeMs,
          durationSeconds: this.#seconds,
          samples: this.#samples,
          ...(this.#error !== undefined && { error: this.#error }),
        },
      }),
    }
  }
}

/** The URL as it may be shown: a password in it is nobody's business. */
function withoutUser(url: string): string {
  const parsed = URL.parse(url)
  if (parsed === null || (parsed.username === '' && parsed.password === '')) return url
  parsed.username = ''
  parsed.password = ''
  return parsed.href
}
