/** Counts around every node, and keeps a failure where it happens. Components count only what nobody else can see. */
import { RefusedError, type Clock, type Counters, type Exporter, type Log, type Next } from '../component.ts'
import { pointCount } from '../model/batch.ts'

type Observed = { readonly counters: Counters; readonly log: Log; readonly clock: Clock }

/** What a receiver hands its batches to. */
export function observeReceiver({ counters, log }: Observed, next: Next): Next {
  return batch => {
    const points = pointCount(batch)
    try {
      next(batch)
      counters.add('gpucol_receiver_accepted_metric_points', points)
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

/** What goes into a processor, and, by `outgoing`, what comes out of it: its own time is the time of one without the other. */
export function observeProcessor(
  observed: Observed,
  consume: () => Next,
  next: Next,
): { incoming: Next; outgoing: Next } {
  const { counters, log, clock } = observed
  let elsewhereMs = 0
  return {
    incoming(batch) {
      const points = pointCount(batch)
      counters.add('gpucol_processor_incoming_metric_points', points)
      const startMs = clock.monotonic()
      elsewhereMs = 0
      try {
        consume()(batch)
        log.state('the processor', 'ok')
      } catch (error) {
        if (error instanceof RefusedError) {
          counters.add('gpucol_processor_refused_metric_points', points)
          throw error
        }
        counters.add('gpucol_processor_dropped_metric_points', points)
        log.state('the processor', 'failing', reasonOf(error), { source: batch.source.name })
      } finally {
        counters.record('gpucol_processor_duration_seconds', (clock.monotonic() - startMs - elsewhereMs) / 1000)
      }
    },
    outgoing(batch) {
      const startMs = clock.monotonic()
      try {
        next(batch)
        counters.add('gpucol_processor_outgoing_metric_points', pointCount(batch))
      } finally {
        elsewhereMs += clock.monotonic() - startMs
      }
    },
  }
}

/** What goes into an exporter. */
export function observeExporter(
  { counters, log, clock }: Observed,
  { consume, countsDelivery }: Pick<Exporter, 'consume' | 'countsDelivery'>,
): Next {
  return batch => {
    const points = pointCount(batch)
    const startMs = clock.monotonic()
    try {
      consume(batch)
      if (countsDelivery !== true) counters.add('gpucol_exporter_sent_metric_points', points)
      log.state('the exporter', 'ok')
    } catch (error) {
      if (error instanceof RefusedError) {
        counters.add('gpucol_exporter_refused_metric_points', points)
        throw error
      }
      counters.add('gpucol_exporter_send_failed_metric_points', points, { reason: 'failed' })
      log.state('the exporter', 'failing', reasonOf(error), { source: batch.source.name })
    } finally {
      counters.record('gpucol_exporter_duration_seconds', (clock.monotonic() - startMs) / 1000)
    }
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error)
}
