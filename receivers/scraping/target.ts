/** One target: asks it, reads what it answers, and hands on what that says, again and again. */
import type { Counters, Host, NetworkRequest, Next, TargetStatus } from '../../pipeline/component.ts'
import { createTextReader, type Exposition, type TextReader } from '../../pipeline/formats/prometheus-text.ts'
import { endBatch, type Batch, type Source } from '../../pipeline/model/batch.ts'
import { labelPairs, type Labels } from '../../pipeline/model/labels.ts'
import type { Credentials } from '../../pipeline/http/credentials.ts'
import { createIntake, readingLimit, type IntakeOptions, type Taken } from './intake.ts'
import { checkLabels } from './limits.ts'
import { onlyNames } from './name-filter.ts'
import { createExpositionClient, type Answer, type ExpositionOptions } from './request-exposition.ts'
import { createReporter } from './scrape-report.ts'
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

export type TargetOptions = ScrapeOptions & {
  readonly url: string
  readonly labels: Labels
  readonly node?: string
  readonly timeoutMs: number
  /** Says why it must not be scraped just now. */
  readonly blocked?: () => string | undefined
}

export type Target = {
  /** Starts a scrape. Does nothing if the last one is still under way. */
  readonly scrape: () => void
  /** Ends what is under way and, if the target was ever scraped, the target's series. */
  readonly remove: () => void
  readonly status: () => Omit<TargetStatus, 'intervalMs'>
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

/** `next` never throws: what nobody takes now waits there. */
export function createTarget(options: TargetOptions, host: Host, next: Next): Target {
  const { clock, counters, log } = host
  const counts = scrapeCounts(counters)
  const name = withoutUser(options.url)
  const { labels, node } = options
  const source: Source = { component: host.id, name, labels, ...(node !== undefined && { node }) }
  const reports: Source = { ...source }
  const report = createReporter(reports)
  const reader = readerFor(options)
  const intake = createIntake(source, options)
  const headers = {
    accept: options.accept,
    'accept-encoding': options.compressed ? 'gzip' : 'identity',
    'user-agent': 'gpucol',
    'x-prometheus-scrape-timeout-seconds': String(options.timeoutMs / 1000),
    ...options.headers,
  }
  const client = createExpositionClient(host, options, reader, done)
  let request: NetworkRequest | undefined
  let secrets: Readonly<Record<string, string>> = {}
  let isUnderWay = false
  let hasTried = false
  /** And is not removed since. */
  let hasSeries = false
  let hadSamples = false
  // One object for all scrapes, with its numbers in place: what is made anew and lives until the next scrape is garbage that is found late.
  const last = { timeMs: NaN, startMs: NaN, doneTimeMs: NaN, seconds: NaN }
  let lastSamples = 0
  let lastError: string | undefined

  function scrape(): void {
    if (isUnderWay) {
      counters.add('gpucol_receiver_scrapes', 1, { outcome: 'skipped' })
      return
    }
    last.timeMs = clock.now()
    last.startMs = clock.monotonic()
    const problem = options.blocked?.()
    if (problem !== undefined) return fail(problem)
    // Credentials that cannot be read are a failed scrape like any other.
    let current
    try {
      current = currentRequest()
    } catch (error) {
      return fail((error as Error).message)
    }
    isUnderWay = true
    client.send(current)
  }

  /** The same object for as long as nothing in it changes, so that nobody needs to look at it again. */
  function currentRequest(): NetworkRequest {
    const tls = options.credentials.tls()
    const headersNow = options.credentials.headers()
    if (request === undefined || request.tls !== tls || secrets !== headersNow) {
      secrets = headersNow
      request = {
        url: options.url,
        headers: { ...headers, ...secrets },
        timeoutMs: options.timeoutMs,
        ...(tls && { tls }),
        ...(options.proxyUrl !== undefined && { proxyUrl: options.proxyUrl }),
      }
    }
    return request
  }

  function fail(problem: string): void {
    done({ exposition: undefined, problem, bodyBytes: 0 })
  }

  function done(answer: Answer): void {
    isUnderWay = false
    hasSeries = true
    hasTried = true
    const { timeMs } = last
    const durationSeconds = Math.max(0, clock.monotonic() - last.startMs) / 1000
    const { taken, problem: error } = judge(answer)
    const isUp = error === undefined && taken !== undefined
    // What was above a limit was still there, and its number helps to find out why.
    const samples = answer.exposition?.samples ?? 0
    last.doneTimeMs = timeMs
    last.seconds = durationSeconds
    lastSamples = samples
    lastError = error
    if (isUp) counts.ok(1)
    else counts.failed(1)
    counts.took(durationSeconds)
    log.state(name, isUp ? 'ok' : 'failing', error)
    next(isUp ? taken.batch : endBatch(source, timeMs, 'failed'))
    next(
      report(timeMs, {
        up: isUp,
        durationSeconds,
        samples,
        kept: taken?.kept ?? 0,
        added: isUp ? taken.added : 0,
        bodyBytes: answer.bodyBytes,
        timeoutSeconds: options.timeoutMs / 1000,
      }),
    )
  }

  /** Finds what can only be said when everything has been read. */
  function judge({ exposition, problem }: Answer): { taken?: Taken; problem?: string } {
    if (exposition === undefined) return problem === undefined ? {} : { problem }
    const { samples, badLines, added } = exposition
    count(exposition)
    // A page about something else, or nothing of it can be used: that is no target that has nothing to say.
    if (samples === 0 && badLines > 0) {
      return { problem: `nothing in the body can be read, ${exposition.problem}` }
    }
    if (samples === 0 && hadSamples && options.emptyIsFailure) {
      return { problem: 'the body has no samples, though the last one had' }
    }
    const taken = intake.take(batchOf(exposition), added)
    if (taken.problem !== undefined) return { taken, problem: taken.problem }
    if (taken.duplicates > 0) counters.add('gpucol_receiver_duplicate_samples', taken.duplicates)
    hadSamples = samples > 0
    return { taken }
  }

  function batchOf({ layout, values, times, starts }: Exposition): Batch {
    return {
      source,
      timeMs: last.timeMs,
      outcome: 'ok',
      layout,
      values,
      absent: undefined,
      times: options.honorTimestamps ? times : undefined,
      starts,
    }
  }

  function count(exposition: Exposition): void {
    const { badLines, duplicates, exemplars, badExemplars, endMissing, problem } = exposition
    if (badLines > 0) {
      counters.add('gpucol_receiver_bad_lines', badLines)
      log.debug('skipped lines that cannot be read', { target: name, lines: badLines, first: problem })
    }
    if (duplicates > 0) counters.add('gpucol_receiver_duplicate_samples', duplicates)
    if (exemplars > 0) counters.add('gpucol_receiver_exemplars', exemplars, { outcome: 'left out' })
    if (badExemplars > 0) counters.add('gpucol_receiver_exemplars', badExemplars, { outcome: 'bad' })
    if (endMissing) counters.add('gpucol_receiver_missing_ends', 1)
  }

  return {
    scrape,
    remove() {
      client.cancel()
      isUnderWay = false
      log.state(name, 'gone')
      intake.forget()
      if (!hasSeries) return
      hasSeries = false
      next(endBatch(source, clock.now(), 'removed'))
      next(endBatch(reports, clock.now(), 'removed'))
    },
    status: () => ({
      url: name,
      labels,
      ...(node !== undefined && { node }),
      state: !hasTried ? 'unknown' : lastError === undefined ? 'up' : 'down',
      ...(hasTried && {
        lastScrape: {
          timeMs: last.doneTimeMs,
          durationSeconds: last.seconds,
          samples: lastSamples,
          ...(lastError !== undefined && { error: lastError }),
        },
      }),
    }),
  }
}

function readerFor(options: TargetOptions): TextReader {
  const ownLabels = labelPairs(options.labels)
  const reader = createTextReader({
    strict: options.strict,
    maxSeries: readingLimit(options),
    labels(exposed) {
      const labels = withTargetLabels(exposed, ownLabels, options.honorLabels)
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
