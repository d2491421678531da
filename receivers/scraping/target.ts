/** One target: asks it, reads what it answers, and hands on what that says, again and again. */
import type { Host, Next } from '../../pipeline/component.ts'
import { ACCEPT } from '../../pipeline/formats/exposition-format.ts'
import { createTextReader, type Exposition } from '../../pipeline/formats/prometheus-text.ts'
import { endBatch, type Batch, type Source } from '../../pipeline/model/batch.ts'
import { labelPairs, type Labels } from '../../pipeline/model/labels.ts'
import { columnCount, EMPTY_LAYOUT } from '../../pipeline/model/layout.ts'
import type { Credentials } from './credentials.ts'
import { checkLabels, checkLayout, type Limits } from './limits.ts'
import { requestExposition, type Answer, type ExpositionOptions } from './request-exposition.ts'
import { createReporter } from './scrape-report.ts'
import { withTargetLabels } from './target-labels.ts'

export type TargetOptions = ExpositionOptions & {
  readonly url: string
  readonly labels: Labels
  readonly timeoutMs: number
  readonly honorLabels: boolean
  readonly honorTimestamps: boolean
  readonly headers: Readonly<Record<string, string>>
  readonly credentials: Credentials
  readonly proxyUrl?: string
  readonly compressed: boolean
  readonly strict: boolean
  readonly limits: Limits
  /** A body without samples after one with samples is a target that is starting or reloading, not one that has nothing. */
  readonly emptyIsFailure: boolean
}

export type Target = {
  /** Starts a scrape. Does nothing if the last one is still under way. */
  readonly scrape: () => void
  /** Ends what is under way and, if the target was ever scraped, the target's series. */
  readonly remove: () => void
}

export function createTarget(options: TargetOptions, host: Host, next: Next): Target {
  const { clock, counters, log } = host
  const name = withoutUser(options.url)
  const source: Source = { component: host.id, name, labels: options.labels }
  const reports: Source = { ...source }
  const report = createReporter(reports)
  const ownLabels = labelPairs(options.labels)
  const reader = createTextReader({
    strict: options.strict,
    maxSeries: options.limits.samples,
    labels(exposed) {
      const labels = withTargetLabels(exposed, ownLabels, options.honorLabels)
      checkLabels(labels, options.limits)
      return labels
    },
  })
  const headers = {
    accept: ACCEPT,
    'accept-encoding': options.compressed ? 'gzip' : 'identity',
    'user-agent': 'gpucol',
    'x-prometheus-scrape-timeout-seconds': String(options.timeoutMs / 1000),
    ...options.headers,
  }
  let cancel: (() => void) | undefined
  let scraped = false
  let checkedLayout = EMPTY_LAYOUT
  let hadSamples = false

  function scrape(): void {
    if (cancel !== undefined) {
      counters.add('gpucol_receiver_scrapes', 1, { outcome: 'skipped' })
      return
    }
    const timeMs = clock.now()
    const startMs = clock.monotonic()
    // Credentials that cannot be read are a failed scrape like any other.
    let tls
    let secrets
    try {
      tls = options.credentials.tls()
      secrets = options.credentials.headers()
    } catch (error) {
      done({ bodyBytes: 0, problem: (error as Error).message })
      return
    }
    cancel = requestExposition(
      host,
      {
        url: options.url,
        headers: { ...headers, ...secrets },
        timeoutMs: options.timeoutMs,
        ...(tls && { tls }),
        ...(options.proxyUrl !== undefined && { proxyUrl: options.proxyUrl }),
      },
      options,
      reader,
      done,
    )

    function done(answer: Answer): void {
      cancel = undefined
      scraped = true
      const durationSeconds = Math.max(0, clock.monotonic() - startMs) / 1000
      const { exposition, problem } = judge(answer)
      counters.add('gpucol_receiver_scrapes', 1, { outcome: exposition === undefined ? 'failed' : 'ok' })
      counters.record('gpucol_receiver_scrape_duration_seconds', durationSeconds)
      log.state(name, exposition === undefined ? 'failing' : 'ok', problem)
      if (exposition === undefined) give(endBatch(source, timeMs, 'failed'))
      else handOn(exposition, timeMs)
      give(
        report(timeMs, {
          up: exposition !== undefined,
          durationSeconds,
          samples: exposition?.samples ?? 0,
          kept: exposition === undefined ? 0 : columnCount(exposition.layout),
          added: exposition?.added ?? 0,
          bodyBytes: answer.bodyBytes,
          timeoutSeconds: options.timeoutMs / 1000,
        }),
      )
    }
  }

  /** Finds what can only be said when everything has been read. */
  function judge(answer: Answer): Answer {
    const { exposition, bodyBytes } = answer
    if (exposition === undefined) return answer
    const { layout, samples, badLines } = exposition
    // A page about something else, or nothing of it can be used: that is no target that has nothing to say.
    if (samples === 0 && badLines > 0) {
      count(exposition)
      return { bodyBytes, problem: `nothing in the body can be read, ${exposition.problem}` }
    }
    if (samples === 0 && hadSamples && options.emptyIsFailure) {
      return { bodyBytes, problem: 'the body has no samples, though the last one had' }
    }
    try {
      if (layout !== checkedLayout) checkLayout(layout, options.limits)
    } catch (error) {
      return { bodyBytes, problem: (error as Error).message }
    }
    checkedLayout = layout
    hadSamples = samples > 0
    return answer
  }

  function handOn(exposition: Exposition, timeMs: number): void {
    const { layout, values, times, starts } = exposition
    count(exposition)
    give({
      source,
      timeMs,
      outcome: 'ok',
      layout,
      values,
      ...(times !== undefined && options.honorTimestamps && { times }),
      ...(starts !== undefined && { starts }),
    })
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

  /** A batch that is refused is lost: the next scrape brings newer numbers. The pipeline has counted it. */
  function give(batch: Batch): void {
    try {
      next(batch)
    } catch (error) {
      log.debug('a batch was refused', { target: name, reason: (error as Error).message })
    }
  }

  return {
    scrape,
    remove() {
      cancel?.()
      cancel = undefined
      log.state(name, 'gone')
      if (!scraped) return
      scraped = false
      give(endBatch(source, clock.now(), 'removed'))
      give(endBatch(reports, clock.now(), 'removed'))
    },
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
