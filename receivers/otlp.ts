/**
 * Takes metrics that others push by OTLP over HTTP: SDKs, Collectors, and gpucol's own agents that push to a gateway.
 *
 * A source is a resource and scope. A request is any part of its series; those that did not come keep their last value until they
 * end, by a flag or because nothing comes of them for `metric_expiration`. What comes out is cumulative and has classic histograms
 * (`otlp/intake.ts` and `otlp/exponential-buckets.ts` have the rules).
 */
import { defineReceiver, RefusedError, type ConfigSchema, type Listener, type Problem } from '../pipeline/component.ts'
import { duration, endpoint, parseDuration, parseSize, serverSecurity, size } from '../pipeline/config/fields.ts'
import { finishInTurns } from '../pipeline/formats/render-work.ts'
import type { Batch } from '../pipeline/model/batch.ts'
import { createServerSecurity } from '../pipeline/http/server-security.ts'
import { createAnswer } from './otlp/answer.ts'
import { createPushes } from './otlp/push-batches.ts'
import { createQueue } from './otlp/queue.ts'
import { Sources } from './otlp/sources.ts'

const config = {
  type: 'object',
  properties: {
    endpoint: endpoint(
      'Address to listen at; metrics are pushed to `/v1/metrics` there. Only this machine can reach it unless the host says otherwise.',
      '127.0.0.1:4318',
    ),
    metric_expiration: duration('How long a series lives of which nothing comes any more.', '5m'),
    max_request_body_size: size('How large a request may be, also after it was unpacked.', '20MiB'),
    max_concurrent_requests: {
      type: 'integer',
      minimum: 1,
      default: 100,
      description:
        'How many requests are received at the same time. Others get the status 429 and are asked to come back.',
    },
    max_bytes_in_flight: size('How many bytes of requests are received at the same time; likewise.', '128MiB'),
    max_sources: {
      type: 'integer',
      minimum: 1,
      default: 10_000,
      description: 'How many resources and scopes there may be. Points of others are rejected.',
    },
    max_series: {
      type: 'integer',
      minimum: 1,
      default: 2_000_000,
      description: 'How many series all of them may have together. Points of further ones are rejected.',
    },
    max_series_per_source: {
      type: 'integer',
      minimum: 1,
      default: 100_000,
      description: 'How many series a resource and scope may have, so that one cannot take the place of all others.',
    },
    max_attributes: {
      type: 'integer',
      minimum: 1,
      default: 128,
      description:
        'How many attributes a point may have. Points with more, or with more than 16 KiB of them, are rejected.',
    },
    ...serverSecurity,
  },
  unsupported: {
    protocols: 'OTLP comes by HTTP only: write `endpoint: 127.0.0.1:4318` instead of `protocols: { http: ... }`',
  },
} as const satisfies ConfigSchema

export const otlp = defineReceiver({
  type: 'otlp',
  summary: 'Takes metrics that are pushed by OTLP over HTTP.',
  config,
  example: { endpoint: '0.0.0.0:4318', metric_expiration: '2m', max_series_per_source: 50_000 },
  listens: ({ endpoint: address }) => [{ address, path: ['endpoint'] }],

  check({ metric_expiration, max_request_body_size, max_bytes_in_flight }) {
    const problems: Problem[] = []
    if (parseDuration(metric_expiration) === 0) {
      problems.push({ path: ['metric_expiration'], message: 'must be longer than 0, or series end as they come' })
    }
    if (parseSize(max_request_body_size) === 0) {
      problems.push({ path: ['max_request_body_size'], message: 'must be above 0, or nothing can be taken' })
    }
    if (parseSize(max_bytes_in_flight) < parseSize(max_request_body_size)) {
      problems.push({
        path: ['max_bytes_in_flight'],
        message: 'must not be below `max_request_body_size`, or a request of that size is never taken',
      })
    }
    return problems
  },

  create(config, host, next) {
    const { counters, clock, log } = host
    const expirationMs = parseDuration(config.metric_expiration)
    const sources = new Sources(host.id, {
      sources: config.max_sources,
      series: config.max_series,
      seriesPerSource: config.max_series_per_source,
      attributesPerPoint: config.max_attributes,
    })
    /** A request that is being read when the time is up is read on, and comes to nothing. */
    function handOn(batch: Batch): void {
      if (isStopped) throw new RefusedError('gpucol has stopped')
      next(batch)
    }

    const pushes = createPushes(sources, clock, handOn, points =>
      counters.add('gpucol_receiver_refused_metric_points', points),
    )
    const queue = createQueue()
    const answer = createAnswer({
      maxBodyBytes: parseSize(config.max_request_body_size),
      maxRequests: config.max_concurrent_requests,
      maxBytesInFlight: parseSize(config.max_bytes_in_flight),
      log,
      queue,
      async take(body, encoding) {
        const taken = await finishInTurns(pushes.take(body, encoding))
        counters.add('gpucol_receiver_late_metric_points', taken.late)
        counters.add('gpucol_receiver_rejected_metric_points', taken.rejected)
        counters.add('gpucol_receiver_exemplars', taken.exemplars, { outcome: 'left out' })
        if (taken.rejected > 0) log.state(REJECTED, 'failing', taken.message)
        return taken
      },
    })
    let listener: Listener | undefined
    let stops: (() => void)[] = []
    let isStopped = false

    function countRequest(status: number): void {
      counters.add('gpucol_receiver_requests', 1, { status: String(status) })
    }

    /** Often enough that a series does not live much longer than it should. */
    function expireLater(): () => void {
      const everyMs = Math.min(Math.max(expirationMs / 10, 1000), 30_000)
      let cancel = clock.after(everyMs, function expire() {
        void queue(() => pushes.expire(expirationMs))
        log.state(REJECTED, 'ok')
        cancel = clock.after(everyMs, expire)
      })
      return () => cancel()
    }

    return {
      async start() {
        isStopped = false
        listener = await host.network.listen(
          config.endpoint,
          (request, response) => {
            response.on('finish', () => countRequest(response.statusCode))
            answer(request, response).catch(() => response.destroy())
          },
          () => createServerSecurity(config, log, () => countRequest(401)),
        )
        stops = [
          counters.observe('gpucol_receiver_sources', () => [{ value: sources.size }]),
          counters.observe('gpucol_receiver_live_series', () => [{ value: sources.seriesCount }]),
          expireLater(),
        ]
      },
      describe: () =>
        `${config.tls === undefined ? 'http' : 'https'}://${listener?.address ?? config.endpoint}/v1/metrics`,
      async stop(deadlineMs) {
        for (const stop of stops.splice(0)) stop()
        const closing = listener
        listener = undefined
        await closing?.close(deadlineMs)
        isStopped = true
      },
    }
  },
})

const REJECTED = 'points that were pushed'
