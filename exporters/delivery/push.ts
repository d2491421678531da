/**
 * Everything between an encoder and the destination: requests are put together by time and by the encoder's limits, compressed,
 * kept until they are delivered, and sent.
 */
import type { Exporter, Host } from '../../pipeline/component.ts'
import { parseDuration, parseSize } from '../../pipeline/config/fields.ts'
import type { Batch } from '../../pipeline/model/batch.ts'
import { createCompress, type Compression } from './compress.ts'
import { createDelivery, type DeliveryOptions } from './delivery.ts'
import type { Emit, Encoder, Request } from './payload.ts'
import type { PushConfig } from './push-config.ts'
import { Report } from './report.ts'
import { createSend, type HttpParts } from './send.ts'

export type PushParts = HttpParts & {
  /** For logs: `https://otlp.example.com/v1/metrics`. */
  readonly subject: string
  readonly compress: Compression
  createEncoder(emit: Emit): Encoder
}

/** An exporter, but for its definition. */
export type Push = Required<Pick<Exporter, 'consume'>> & {
  start(): Promise<void>
  /** Gives what the encoder has begun to the queue. */
  flush(): void
  stop(deadlineMs: number): Promise<void>
  describe(): string
  readonly countsDelivery: true
}

const MAX_BYTES_IN_MEMORY = 128 * 2 ** 20

export function createPush(host: Host, config: PushConfig, parts: PushParts): Push {
  const { clock, counters } = host
  const report = new Report(host, parts.subject)
  const options = deliveryOptions(config)
  const delivery = createDelivery(host, options, createSend(host, config, parts), report)
  const compress = createCompress(parts.compress, clock)
  const encoder = parts.createEncoder(emit)
  const flushMs = parseDuration(config.sending_queue.batch.flush_timeout)
  let cancelFlush: (() => void) | undefined
  /** Compression of one may be through before that of an earlier one; they are queued in order all the same. */
  let lastQueued: Promise<void> = Promise.resolve()
  let unobserve: (() => void)[] = []

  function emit({ body, points, shard, note }: Request): void {
    const compressed = compress(body)
    const rest = { points, ...(shard !== undefined && { shard }), ...(note !== undefined && { note }) }
    const before = lastQueued
    lastQueued = (async () => {
      const bytes = await compressed
      await before
      delivery.add({ body: bytes, ...rest })
    })()
  }

  function flush(): void {
    cancelFlush?.()
    cancelFlush = undefined
    encoder.flush()
  }

  return {
    async start() {
      unobserve = [
        counters.observe('gpucol_exporter_queue_size', () => [{ value: delivery.size().requests }]),
        counters.observe('gpucol_exporter_queue_capacity', () => [{ value: options.maxRequests }]),
        counters.observe('gpucol_exporter_queue_bytes', () => [{ value: delivery.size().bytes }]),
        counters.observe('gpucol_exporter_queue_capacity_bytes', () => [{ value: options.maxBytes }]),
        counters.observe('gpucol_exporter_queued_metric_points', () => [
          { value: delivery.size().points, labels: { storage: 'memory' } },
        ]),
        counters.observe('gpucol_exporter_circuit_open', () => [{ value: delivery.isCircuitOpen() ? 1 : 0 }]),
      ]
    },
    consume(batch: Batch) {
      encoder.add(batch)
      if (encoder.pendingPoints > 0) cancelFlush ??= clock.after(flushMs, flush)
    },
    flush,
    countsDelivery: true,
    describe: () => parts.subject,
    async stop(deadlineMs) {
      flush()
      await lastQueued
      await delivery.stop(deadlineMs)
      for (const stop of unobserve.splice(0)) stop()
    },
  }
}

function deliveryOptions({ sending_queue: queue, retry_on_failure: retry }: PushConfig): DeliveryOptions {
  return {
    consumers: queue.num_consumers,
    maxBytes: queue.max_bytes === undefined ? MAX_BYTES_IN_MEMORY : parseSize(queue.max_bytes),
    maxRequests: queue.max_requests,
    retries: retry.enabled,
    maxElapsedMs: parseDuration(retry.max_elapsed_time) || Infinity,
    backOff: {
      initialMs: parseDuration(retry.initial_interval),
      maxMs: parseDuration(retry.max_interval),
      multiplier: retry.multiplier,
      randomization: retry.randomization_factor,
    },
  }
}
