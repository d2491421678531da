/** Counts around every node, and keeps a failure where it happens. Components count only what nobody else can see. */
import { RefusedError, type Counters, type Exporter, type Log, type Next } from '../component.ts'
import { pointCount, type Source } from '../model/batch.ts'
import type { Lap, Stopwatch } from './stopwatch.ts'

type Observed = { readonly counters: Counters; readonly log: Log }

/** What a receiver hands its batches to. */
export function observeReceiver({ counters, log }: Observed, next: Next): Next {
  const accepted = counters.counter('gpucol_receiver_accepted_metric_points')
  return batch => {
    const points = pointCount(batch)
    try {
      next(batch)
      accepted(points)
    } catch (error) {
      if (error instanceof RefusedError) {
        counters.add('gpucol_receiver_refused_metric_points', points)
        throw error
      }
      counters.add('gpucol_receiver_failed_metric_points', points)
      log.error('a batch was lost by a failure in the pipeline', { source: batch.source.name, reason: String(error) })
    }
  }
}

/** Tells of batches that go through a processor without `consume`. */
export type Passages = {
  readonly passed: (incoming: number, outgoing: number, seconds: number) => void
  readonly refused: (points: number) => void
  /** The processor threw. */
  readonly failed: (points: number, source: Source, error: unknown) => void
}

/** What goes into a processor, and, by `outgoing`, what comes out of it. */
export function observeProcessor(
  { counters, log }: Observed,
  stopwatch: Stopwatch,
  consume: () => Next,
  next: Next,
): { incoming: Next; outgoing: Next; passages: Passages } {
  const countIncoming = counters.counter('gpucol_processor_incoming_metric_points')
  const countOutgoing = counters.counter('gpucol_processor_outgoing_metric_points')
  const took = counters.histogram('gpucol_processor_duration_seconds')
  const lap: Lap = { ms: 0 }

  function refused(points: number): void {
    counters.add('gpucol_processor_refused_metric_points', points)
  }

  function failed(points: number, source: Source, error: unknown): void {
    counters.add('gpucol_processor_dropped_metric_points', points)
    log.state('the processor', 'failing', reasonOf(error), { source: source.name })
  }

  return {
    incoming(batch) {
      const points = pointCount(batch)
      countIncoming(points)
      const outer = stopwatch.enter(lap)
      try {
        consume()(batch)
        log.state('the processor', 'ok')
      } catch (error) {
        if (error instanceof RefusedError) {
          refused(points)
          throw error
        }
        failed(points, batch.source, error)
      } finally {
        took(stopwatch.leave(lap, outer) / 1000)
      }
    },
    outgoing(batch) {
      next(batch)
      countOutgoing(pointCount(batch))
    },
    passages: {
      passed(incoming, outgoing, seconds) {
        countIncoming(incoming)
        countOutgoing(outgoing)
        took(seconds)
      },
      refused(points) {
        countIncoming(points)
        refused(points)
      },
      failed(points, source, error) {
        countIncoming(points)
        failed(points, source, error)
      },
    },
  }
}

/** What goes into an exporter. */
export function observeExporter(
  { counters, log }: Observed,
  stopwatch: Stopwatch,
  { consume, countsDelivery }: Pick<Exporter, 'consume' | 'countsDelivery'>,
): Next {
  const sent = counters.counter('gpucol_exporter_sent_metric_points')
  const took = counters.histogram('gpucol_exporter_duration_seconds')
  const lap: Lap = { ms: 0 }
  return batch => {
    const points = pointCount(batch)
    const outer = stopwatch.enter(lap)
    try {
      consume(batch)
      if (countsDelivery !== true) sent(points)
      log.state('the exporter', 'ok')
    } catch (error) {
      if (error instanceof RefusedError) {
        counters.add('gpucol_exporter_refused_metric_points', points)
        throw error
      }
      counters.add('gpucol_exporter_send_failed_metric_points', points, { reason: 'failed' })
      log.state('the exporter', 'failing', reasonOf(error), { source: batch.source.name })
    } finally {
      took(stopwatch.leave(lap, outer) / 1000)
    }
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error)
}
