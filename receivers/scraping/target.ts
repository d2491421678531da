/** One target: asks it, reads what it answers, and hands on what that says, again and again. */
import type { Counters, Host, NetworkRequest, Next, TargetStatus } from '../../pipeline/component.ts'
import { createTextReader, type Exposition, type TextReader } from '../../pipeline/formats/prometheus-text.ts'
import { endBatch, type Batch, type Source } from '../../pipeline/model/batch.ts'
import { labelPairs, type Labels } from '../../pipeline/model/labels.ts'
import type { Layout } from '../../pipeline/model/layout.ts'
import type { Credentials } from '../../pipeline/http/credentials.ts'
import { Intake, readingLimit, type IntakeOptions, type Taken } from './intake.ts'
import { checkLabels } from './limits.ts'
import { onlyNames } from './name-filter.ts'
import { ExpositionClient, type Asker, type ExpositionOptions } from './request-exposition.ts'
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
  return new ScrapedTarget(place, options, host, next, blocked)
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

/**
 * An object with all it needs in its fields, not functions with what they close over: by the next scrape of a target nothing of it is near
 * the processor any more, and looking for it in many places is what a scrape would cost.
 */
class ScrapedTarget implements Target, Asker {
  readonly #place: TargetPlace
  readonly #options: ScrapeOptions
  readonly #host: Host
  readonly #next: Next
  readonly #blocked: (() => string | undefined) | undefined
  readonly #counts: ScrapeCounts
  readonly #source: Source
  readonly #reports: Source
  readonly #reportLayout: Layout
  readonly #intake: Intake
  readonly #client: ExpositionClient
  #request: NetworkRequest | undefined
  #secrets: Readonly<Record<string, string>> = {}
  #isUnderWay = false
  #hasTried = false
  /** And is not removed since. */
  #hasSeries = false
  #hadSamples = false
  #timeMs = NaN
  #startMs = NaN
  #doneTimeMs = NaN
  #seconds = NaN
  #samples = 0
  #error: string | undefined

  constructor(
    place: TargetPlace,
    options: ScrapeOptions,
    host: Host,
    next: Next,
    blocked: (() => string | undefined) | undefined,
  ) {
    const { url, labels, node } = place
    this.#place = place
    this.#options = options
    this.#host = host
    this.#next = next
    this.#blocked = blocked
    this.#counts = scrapeCounts(host.counters)
    this.#source = { component: host.id, name: withoutUser(url), labels, ...(node !== undefined && { node }) }
    this.#reports = { ...this.#source }
    this.#reportLayout = reportLayout(this.#reports)
    this.#intake = new Intake(this.#source, options)
    this.#client = new ExpositionClient(host, options, readerFor(place, options), this)
  }

  scrape(): void {
    const { clock, counters } = this.#host
    if (this.#isUnderWay) {
      counters.add('gpucol_receiver_scrapes', 1, { outcome: 'skipped' })
      return
    }
    this.#timeMs = clock.now()
    this.#startMs = clock.monotonic()
    const problem = this.#blocked?.()
    if (problem !== undefined) return this.answered(undefined, problem, 0)
    // Credentials that cannot be read are a failed scrape like any other.
    let current
    try {
      current = this.#currentRequest()
    } catch (error) {
      return this.answered(undefined, (error as Error).message, 0)
    }
    this.#isUnderWay = true
    this.#client.send(current)
  }

  /** The same object for as long as nothing in it changes, so that nobody needs to look at it again. */
  #currentRequest(): NetworkRequest {
    const { credentials, headers, accept, compressed, proxyUrl } = this.#options
    const tls = credentials.tls()
    const secrets = credentials.headers()
    if (this.#request === undefined || this.#request.tls !== tls || this.#secrets !== secrets) {
      const { url, timeoutMs } = this.#place
      this.#secrets = secrets
      this.#request = {
        url,
        headers: {
          accept,
          'accept-encoding': compressed ? 'gzip' : 'identity',
          'user-agent': 'gpucol',
          'x-prometheus-scrape-timeout-seconds': String(timeoutMs / 1000),
          ...headers,
          ...secrets,
        },
        timeoutMs,
        ...(tls && { tls }),
        ...(proxyUrl !== undefined && { proxyUrl }),
      }
    }
    return this.#request
  }

  get deadlineMs(): number {
    return this.#startMs + this.#place.timeoutMs
  }

  answered(exposition: Exposition | undefined, problem: string | undefined, bodyBytes: number): void {
    this.#isUnderWay = false
    this.#hasSeries = true
    this.#hasTried = true
    const { clock, log } = this.#host
    const timeMs = this.#timeMs
    const durationSeconds = Math.max(0, clock.monotonic() - this.#startMs) / 1000
    const { taken, problem: error } = this.#judge(exposition, problem)
    const isUp = error === undefined && taken !== undefined
    // What was above a limit was still there, and its number helps to find out why.
    const samples = exposition?.samples ?? 0
    this.#doneTimeMs = timeMs
    this.#seconds = durationSeconds
    this.#samples = samples
    this.#error = error
    if (isUp) this.#counts.ok(1)
    else this.#counts.failed(1)
    this.#counts.took(durationSeconds)
    log.state(this.#source.name, isUp ? 'ok' : 'failing', error)
    this.#next(isUp ? taken.batch : endBatch(this.#source, timeMs, 'failed'))
    this.#next(
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
  #judge(exposition: Exposition | undefined, problem: string | undefined): { taken?: Taken; problem?: string } {
    if (exposition === undefined) return problem === undefined ? {} : { problem }
    const { samples, badLines, added } = exposition
    this.#count(exposition)
    // A page about something else, or nothing of it can be used: that is no target that has nothing to say.
    if (samples === 0 && badLines > 0) {
      return { problem: `nothing in the body can be read, ${exposition.problem}` }
    }
    if (samples === 0 && this.#hadSamples && this.#options.emptyIsFailure) {
      return { problem: 'the body has no samples, though the last one had' }
    }
    const taken = this.#intake.take(this.#batchOf(exposition), added)
    if (taken.problem !== undefined) return { taken, problem: taken.problem }
    if (taken.duplicates > 0) this.#host.counters.add('gpucol_receiver_duplicate_samples', taken.duplicates)
    this.#hadSamples = samples > 0
    return { taken }
  }

  #batchOf({ layout, values, times, starts }: Exposition): Batch {
    return {
      source: this.#source,
      timeMs: this.#timeMs,
      outcome: 'ok',
      layout,
      values,
      absent: undefined,
      times: this.#options.honorTimestamps ? times : undefined,
      starts,
    }
  }

  #count({ badLines, duplicates, exemplars, badExemplars, endMissing, problem }: Exposition): void {
    const { counters, log } = this.#host
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

  remove(): void {
    const { clock, log } = this.#host
    this.#client.cancel()
    this.#isUnderWay = false
    log.state(this.#source.name, 'gone')
    this.#intake.forget()
    if (!this.#hasSeries) return
    this.#hasSeries = false
    this.#next(endBatch(this.#source, clock.now(), 'removed'))
    this.#next(endBatch(this.#reports, clock.now(), 'removed'))
  }

  status(): Omit<TargetStatus, 'intervalMs'> {
    const { labels, node } = this.#place
    return {
      url: this.#source.name,
      labels,
      ...(node !== undefined && { node }),
      state: !this.#hasTried ? 'unknown' : this.#error === undefined ? 'up' : 'down',
      ...(this.#hasTried && {
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

function readerFor({ labels: own }: TargetPlace, options: ScrapeOptions): TextReader {
  const reader = createTextReader({
    strict: options.strict,
    maxSeries: readingLimit(options),
    labels(exposed) {
      const labels = withTargetLabels(exposed, labelPairs(own), options.honorLabels)
      // Rules may yet take labels away; then what is left is looked at.
      if (options.planner === undefined) checkLabels(labels, options.limits)
      return labels
    },
  })
  return options.isWantedName === undefined ? reader : onlyNames(reader, options.isWantedName)
}

/** The URL as it may be shown: a password in it is nobody's business. */
function withoutUser(url: string): string {
  const parsed = URL.parse(url)
  if (parsed === null || (parsed.username === '' && parsed.password === '')) return url
  parsed.username = ''
  parsed.password = ''
  return parsed.href
}
