/**
 * Everything between an encoder and the destination: requests are put together by time and by the encoder's limits, compressed,
 * kept until they are delivered, and sent.
 */
import type { Exporter, Host, QueueStore } from '../../pipeline/component.ts'
import { parseDuration, parseSize } from '../../pipeline/config/fields.ts'
import type { Batch } from '../../pipeline/model/batch.ts'
import { BodyPool } from './body-pool.ts'
import { createCompressQueue } from './compress-queue.ts'
import { createCompress, type Compression } from './compress.ts'
import { createDelivery, type DeliveryOptions } from './delivery.ts'
import type { Emit, Encoder } from './payload.ts'
import { createPace } from './pace.ts'
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

type OwnBytes = Uint8Array<ArrayBuffer>

const MAX_BYTES_IN_MEMORY = 128 * 2 ** 20
const MAX_BYTES_ON_DISK = 2 ** 30
/** What was accepted is on disk within a second: this, compression, and a write to disk. */
const MAX_FLUSH_MS = 500
/** More than a connection has under way at a time. */
const ENOUGH_BYTES = 2 ** 20
/** More than all threads compress at a time. */
const ENOUGH_COMPRESSING_BYTES = 8 * 2 ** 20

export function createPush(host: Host, config: PushConfig, parts: PushParts): Push {
  const { clock, counters } = host
  const options = deliveryOptions(config)
  const report = new Report(host, parts.subject)
  const bodies = new BodyPool()
  const delivery = createDelivery(host, options, createSend(host, config, parts), report, {
    recycle(body) {
      if (parts.compress === 'none') bodies.give(body)
    },
    settled: goOn,
  })
  const compressQueue = createCompressQueue(
    createCompress(parts.compress, clock, bodies),
    payload => delivery.add(payload),
    (points, error) => report.lost(points, 'failed', `they cannot be compressed: ${error.message}`),
  )
  const encoder = parts.createEncoder(request => {
    const { body, points, keep } = request
    const instead = keep === undefined || parts.compress !== 'none' ? undefined : bodies.exchange(body as OwnBytes)
    if (instead !== undefined) keep!(instead)
    if (!compressQueue.add(request, instead !== undefined)) report.dropped(points)
  })
  const isBusy = (): boolean => compressQueue.bytes >= ENOUGH_COMPRESSING_BYTES
  const pace = createPace(encoder, clock, isEnough, isBusy, ({ values }, error) => {
    report.lost(values.length, 'failed', `they cannot be encoded: ${String(error)}`)
  })
  let flushMs = parseDuration(config.sending_queue.batch.flush_timeout)
  let cancelFlush: (() => void) | undefined
  let unobserve: (() => void)[] = []
  let isStarted = false
  let isStopped = false
  /** What is to be on disk within a second does not wait, and on a virtual clock everything is there at the end of a step. */
  let mayWait = clock.aligned !== true

  function isEnough(): boolean {
    return mayWait && !isStopped && compressQueue.bytes + delivery.status().bytes >= ENOUGH_BYTES
  }

  function goOn(): void {
    pace.goOn()
    flushLater()
  }

  function flushLater(): void {
    if (encoder.pendingPoints > 0) cancelFlush ??= clock.after(flushMs, flushBegun)
  }

  function flush(): void {
    pace.hurry()
    flushBegun()
  }

  function flushBegun(): void {
    cancelFlush?.()
    cancelFlush = undefined
    const { pendingPoints } = encoder
    try {
      encoder.flush()
    } catch (error) {
      report.lost(pendingPoints, 'failed', `they cannot be encoded: ${String(error)}`)
    }
  }

  /** Exporters with the same id, before and after a reload, have the same queue. */
  async function openQueue(): Promise<QueueStore> {
    isStarted = true
    const { storage } = config.sending_queue
    const store = await host.storage.queue(host.id, {
      maxBytes: options.maxBytes(true),
      ...(storage !== undefined && { directory: storage }),
    })
    if (store.persistent) {
      flushMs = Math.min(flushMs, MAX_FLUSH_MS)
      mayWait = false
    }
    return store
  }

  function pointsByStorage(): { value: number; labels: { storage: string } }[] {
    const { points, safePoints } = delivery.status()
    const elsewhere = pace.waiting + encoder.pendingPoints + compressQueue.points
    return [
      { value: safePoints, labels: { storage: 'disk' } },
      { value: points - safePoints + elsewhere, labels: { storage: 'memory' } },
    ]
  }

  return {
    async start() {
      delivery.start(await openQueue())
      if (isStopped) return
      unobserve = [
        counters.observe('gpucol_exporter_queue_size', () => [{ value: delivery.status().requests }]),
        counters.observe('gpucol_exporter_queue_capacity', () => [{ value: options.maxRequests }]),
        counters.observe('gpucol_exporter_queue_bytes', () => [{ value: delivery.status().bytes }]),
        counters.observe('gpucol_exporter_queue_capacity_bytes', () => [{ value: delivery.status().maxBytes }]),
        counters.observe('gpucol_exporter_queued_metric_points', pointsByStorage),
        counters.observe('gpucol_exporter_circuit_open', () => [{ value: delivery.status().isCircuitOpen ? 1 : 0 }]),
      ]
    },
    consume(batch: Batch) {
      pace.add(batch)
      flushLater()
    },
    flush,
    countsDelivery: true,
    describe: () => parts.subject,
    async stop(deadlineMs) {
      isStopped = true
      flush()
      await compressQueue.settled()
      // It may have got batches all the same, at a reload that failed: whoever is put back in its place finds them.
      if (!isStarted && delivery.status().requests > 0) delivery.keep(await openQueue())
      await delivery.stop(deadlineMs)
      for (const stop of unobserve.splice(0)) stop()
    },
  }
}

function deliveryOptions({ sending_queue: queue, retry_on_failure: retry }: PushConfig): DeliveryOptions {
  const { max_bytes } = queue
  return {
    consumers: queue.num_consumers,
    maxBytes(isPersistent) {
      if (max_bytes !== undefined) return parseSize(max_bytes)
      return isPersistent ? MAX_BYTES_ON_DISK : MAX_BYTES_IN_MEMORY
    },
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
