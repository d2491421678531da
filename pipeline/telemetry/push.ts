/** Pushes own metrics by OTLP, at an interval, with the exporter of the OpenTelemetry SDK. */
import type { ResourceMetrics } from '@opentelemetry/sdk-metrics'
import { settledBy } from '../clock/deadline.ts'
import type { Clock, Log } from '../component.ts'
import { parseDuration } from '../config/duration.ts'
import type { PushConfig } from '../config/loaded-config.ts'

export type Push = {
  /** Pushes a last time, unless the one before failed, until the deadline at most. */
  stop(deadlineMs: number): Promise<void>
  /** Pushes no more. */
  cancel(): void
}

type PushOptions = {
  readonly config: PushConfig
  readonly clock: Clock
  readonly log: Log
  readonly collect: () => Promise<ResourceMetrics>
}

/** Less would only keep both sides busy. */
const SHORTEST_INTERVAL_MS = 1_000

/** Retries included; the next push brings everything that this one did not. */
const LONGEST_TIMEOUT_MS = 30_000

export async function startPush({ config, clock, log, collect }: PushOptions): Promise<Push> {
  const { OTLPMetricExporter } = await import('@opentelemetry/exporter-metrics-otlp-http')
  const intervalMs = Math.max(parseDuration(config.interval), SHORTEST_INTERVAL_MS)
  const { origin, pathname } = new URL(config.endpoint)
  const exporter = new OTLPMetricExporter({
    url: config.endpoint,
    headers: { ...config.headers },
    timeoutMillis: Math.min(intervalMs, LONGEST_TIMEOUT_MS),
  })
  // What follows the path of a URL may be a secret.
  const subject = `pushing own metrics to ${origin}${pathname}`
  let sending: Promise<void> | undefined
  let failing = false
  let cancelTimer = schedule()

  function schedule(): () => void {
    return clock.after(intervalMs, () => {
      cancelTimer = schedule()
      void send()
    })
  }

  /** One at a time: whoever comes while one is under way waits for that. */
  function send(): Promise<void> {
    sending ??= collect()
      .then(
        resourceMetrics =>
          new Promise<void>((resolve, reject) => {
            exporter.export(resourceMetrics, ({ error }) => (error === undefined ? resolve() : reject(error)))
          }),
      )
      .then(
        () => {
          failing = false
          log.state(subject, 'ok')
        },
        (error: unknown) => {
          failing = true
          log.state(subject, 'failing', reasonOf(error))
        },
      )
      .finally(() => (sending = undefined))
    return sending
  }

  return {
    cancel() {
      cancelTimer()
      void exporter.shutdown().then(() => log.state(subject, 'gone'))
    },
    async stop(deadlineMs) {
      cancelTimer()
      if (!failing) await settledBy(clock, deadlineMs, send())
      void exporter.shutdown()
    },
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return 'code' in error && typeof error.code === 'number' ? `${error.message} (status ${error.code})` : error.message
}
