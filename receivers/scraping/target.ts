/** One target: asks it, reads what it answers, and hands on what that says, again and again. */
import type { Host, Next, TlsOptions } from '../../pipeline/component.ts'
import { createTextReader, type Exposition } from '../../pipeline/formats/prometheus-text.ts'
import { endBatch, type Batch, type Source } from '../../pipeline/model/batch.ts'
import { columnCount } from '../../pipeline/model/layout.ts'
import { labelPairs, type Labels } from '../../pipeline/model/labels.ts'
import { createReporter } from './scrape-report.ts'
import { withTargetLabels } from './target-labels.ts'

export type TargetOptions = {
  readonly url: string
  readonly labels: Labels
  readonly timeoutMs: number
  readonly honorLabels: boolean
  readonly honorTimestamps: boolean
  readonly headers: Readonly<Record<string, string>>
  /** A body of more bytes is a failed scrape. */
  readonly bodyLimitBytes: number
  readonly tls?: TlsOptions
  readonly proxyUrl?: string
}

export type Target = {
  /** Starts a scrape. Does nothing if the last one is still under way. */
  readonly scrape: () => void
  /** Ends what is under way and, if the target was ever scraped, the target's series. */
  remove(): void
}

const ACCEPT = 'text/plain;version=0.0.4;q=1,*/*;q=0.1'

export function createTarget(options: TargetOptions, host: Host, next: Next): Target {
  const { clock, counters, log } = host
  const name = withoutUser(options.url)
  const source: Source = { component: host.id, name, labels: options.labels }
  const reports: Source = { ...source }
  const report = createReporter(reports)
  const reader = createTextReader({
    labels: exposed => withTargetLabels(exposed, labelPairs(options.labels), options.honorLabels),
  })
  const headers = {
    accept: ACCEPT,
    'user-agent': 'gpucol',
    'x-prometheus-scrape-timeout-seconds': String(options.timeoutMs / 1000),
    ...options.headers,
  }
  let cancel: (() => void) | undefined
  let scraped = false

  /** A batch that is refused is lost: the next scrape brings newer numbers. The pipeline has counted it. */
  function give(batch: Batch): void {
    try {
      next(batch)
    } catch (error) {
      log.debug('a batch was refused', { target: name, reason: (error as Error).message })
    }
  }

  function scrape(): void {
    if (cancel !== undefined) {
      counters.add('gpucol_receiver_scrapes', 1, { outcome: 'skipped' })
      return
    }
    const timeMs = clock.now()
    const startMs = clock.monotonic()
    let bodyBytes = 0

    function done(exposition: Exposition | undefined, problem?: string): void {
      cancel = undefined
      scraped = true
      const durationSeconds = Math.max(0, clock.monotonic() - startMs) / 1000
      counters.add('gpucol_receiver_scrapes', 1, { outcome: exposition === undefined ? 'failed' : 'ok' })
      counters.record('gpucol_receiver_scrape_duration_seconds', durationSeconds)
      log.state(name, exposition === undefined ? 'failing' : 'ok', problem)
      if (exposition === undefined) give(endBatch(source, timeMs, 'failed'))
      else handOn(exposition)
      give(
        report(timeMs, {
          up: exposition !== undefined,
          durationSeconds,
          samples: exposition?.samples ?? 0,
          kept: exposition === undefined ? 0 : columnCount(exposition.layout),
          added: exposition?.added ?? 0,
          bodyBytes: bodyBytes > options.bodyLimitBytes ? -1 : bodyBytes,
          timeoutSeconds: options.timeoutMs / 1000,
        }),
      )
    }

    function handOn(exposition: Exposition): void {
      const { layout, values, times } = exposition
      if (exposition.badLines > 0) {
        counters.add('gpucol_receiver_bad_lines', exposition.badLines)
        log.debug('skipped lines that cannot be read', {
          target: name,
          lines: exposition.badLines,
          first: exposition.problem,
        })
      }
      if (exposition.duplicates > 0) counters.add('gpucol_receiver_duplicate_samples', exposition.duplicates)
      give({
        source,
        timeMs,
        outcome: 'ok',
        layout,
        values,
        ...(times !== undefined && options.honorTimestamps && { times }),
      })
    }

    cancel = host.network.request(
      {
        url: options.url,
        headers,
        timeoutMs: options.timeoutMs,
        ...(options.tls && { tls: options.tls }),
        ...(options.proxyUrl !== undefined && { proxyUrl: options.proxyUrl }),
      },
      {
        head(status) {
          if (status !== 200) throw new Error(`the target answered with status ${status}, 200 is expected`)
          reader.begin('text')
        },
        chunk(bytes) {
          bodyBytes += bytes.length
          if (bodyBytes > options.bodyLimitBytes) {
            throw new Error(`the body is larger than body_size_limit, ${options.bodyLimitBytes} bytes`)
          }
          reader.push(bytes)
        },
        end: () => done(reader.finish()),
        failed: error => done(undefined, error.message),
      },
    )
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
