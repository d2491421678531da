/**
 * Appends what it gets to a file: as OTLP in JSON, one request in a line, which is what the Collector's file receiver reads, or as
 * Prometheus text with timestamps.
 *
 * What the disk does not take is kept for a while and written later.
 */
import { defineExporter, type Clock, type ConfigSchema, type Problem } from '../pipeline/component.ts'
import { duration, parseDuration, parseSize, size } from '../pipeline/config/fields.ts'
import { pointCount, type Batch } from '../pipeline/model/batch.ts'
import { createOtlpEncoder } from '../pipeline/formats/otlp-encoder.ts'
import { ANY_NAME } from '../pipeline/formats/otlp-names.ts'
import { RESOURCE_TABLE } from '../pipeline/formats/otlp-resource-table.ts'
import { renderText } from '../pipeline/formats/render-text.ts'
import { Sink, type Piece } from './file/sink.ts'

const config = {
  type: 'object',
  properties: {
    path: { type: 'string', minLength: 1, description: 'File to append to. Its directory must be there.' },
    format: {
      type: 'string',
      enum: ['json', 'prometheus'],
      default: 'json',
      description: '`json`: OTLP in JSON, one request in a line. `prometheus`: text with timestamps.',
    },
    flush_interval: duration('How long points are collected before they are written.', '1s'),
    rotation: {
      type: 'object',
      properties: {
        max_size: size('A file that would become larger is put aside, with the time in its name.', '100MiB'),
        interval: duration('A file that is older is put aside.', '24h'),
        max_backups: { type: 'integer', minimum: 0, default: 10, description: 'How many of these are kept.' },
        max_age: duration('How long these are kept.', '168h'),
      },
      additionalProperties: false,
      unsupported: {
        max_megabytes: 'it is called max_size: `100MiB`',
        max_days: 'it is called max_age: `168h`',
      },
      description: 'How the file is replaced by a new one. Without this it grows for ever.',
    },
    max_waiting: size('What waits at most while the disk takes nothing; what is oldest is lost and counted.', '64MiB'),
  },
  required: ['path'],
  additionalProperties: false,
} as const satisfies ConfigSchema

/** Written before the time, so that little has to wait. */
const FLUSH_BYTES = 1024 * 1024

export const file = defineExporter({
  type: 'file',
  summary: 'Appends metrics to a file.',
  config,
  example: { path: '/var/log/gpucol/metrics.json', rotation: { max_size: '50MiB', max_backups: 3 } },

  check({ flush_interval, rotation }) {
    const problems: Problem[] = []
    if (parseDuration(flush_interval) <= 0) problems.push({ path: ['flush_interval'], message: 'must be above 0' })
    if (rotation !== undefined && parseSize(rotation.max_size) === 0) {
      problems.push({ path: ['rotation', 'max_size'], message: 'must be above 0' })
    }
    if (rotation !== undefined && parseDuration(rotation.interval) <= 0) {
      problems.push({ path: ['rotation', 'interval'], message: 'must be above 0' })
    }
    return problems
  },

  create({ path, format, flush_interval, rotation, max_waiting }, { clock, counters, log }) {
    const flushMs = parseDuration(flush_interval)
    const sink = new Sink({
      path,
      rotation: rotation && {
        maxBytes: parseSize(rotation.max_size),
        intervalMs: parseDuration(rotation.interval),
        maxBackups: rotation.max_backups,
        maxAgeMs: parseDuration(rotation.max_age),
      },
      maxWaitingBytes: parseSize(max_waiting),
      now: clock.now,
      written: points => counters.add('gpucol_exporter_sent_metric_points', points),
      lost(points, why) {
        counters.add('gpucol_exporter_send_failed_metric_points', points, { reason: 'disk' })
        log.state(path, 'failing', why)
      },
      state: (state, why) => log.state(path, state, why),
    })
    // In config tests nothing is written.
    const add = clock.aligned === true ? () => {} : (piece: Piece) => sink.add(piece)
    const writer = format === 'json' ? jsonLines(add) : prometheusText(add)
    let cancel: (() => void) | undefined
    let isOpen = false

    function flush(): Promise<void> {
      cancel?.()
      cancel = undefined
      writer.flush()
      return isOpen ? sink.flush() : Promise.resolve()
    }

    return {
      countsDelivery: true,
      async start() {
        if (clock.aligned === true) return
        await sink.open()
        isOpen = true
        await flush()
      },
      consume(batch) {
        writer.add(batch)
        if (sink.waitingBytes > FLUSH_BYTES) void flush()
        else cancel ??= clock.after(flushMs, () => void flush())
      },
      describe: () => path,
      async stop(deadlineMs) {
        const flushed = flush()
        if (!isOpen) return
        isOpen = false
        // A disk that hangs does not hang the process.
        await Promise.race([flushed.then(() => sink.close()), untilDeadline(clock, deadlineMs)])
      },
    }
  },
})

function untilDeadline(clock: Clock, deadlineMs: number): Promise<void> {
  return new Promise(resolve => void clock.after(Math.max(0, deadlineMs - clock.monotonic()), resolve))
}

type Writer = { add(batch: Batch): void; flush(): void }

const LINE_FEED = 0x0a

function jsonLines(add: (piece: Piece) => void): Writer {
  return createOtlpEncoder({
    encoding: 'json',
    resourceTable: new Map(RESOURCE_TABLE),
    resourceDefaults: new Map(),
    names: ANY_NAME,
    dropSummaries: false,
    dropNotANumber: false,
    maxBuckets: Infinity,
    maxAttributes: Infinity,
    maxPoints: 10_000,
    maxBytes: FLUSH_BYTES,
    leftOut: () => {},
    emit({ body, points }) {
      const line = new Uint8Array(body.length + 1)
      line.set(body)
      line[body.length] = LINE_FEED
      add({ bytes: line, points })
    },
  })
}

/** A series that ends is simply not written any more. */
function prometheusText(add: (piece: Piece) => void): Writer {
  return {
    add(batch) {
      if (batch.outcome !== 'ok') return
      const text = renderText([batch], { escaping: 'allow-utf-8', timestamps: true })
      if (text !== '') add({ bytes: Buffer.from(text), points: pointCount(batch) })
    },
    flush() {},
  }
}
