/** Makes requests of OTLP metrics of batches. What it keeps is kept by source: a plan, and whether its series have ended. */
import type { Batch, Source } from '../model/batch.ts'
import { columnCount } from '../model/layout.ts'
import { createEncodePlanner, type EncodePlan, type LeftOut } from './otlp-encode-plan.ts'
import { goesOn } from './otlp-ended.ts'
import { createSplit, type EntityOptions } from './otlp-entity.ts'
import { createJsonDialect } from './otlp-json-dialect.ts'
import { JsonWriter } from './otlp-json-writer.ts'
import type { CompositeOptions } from './otlp-composites.ts'
import { createProtobufDialect } from './otlp-protobuf-dialect.ts'
import { ProtobufWriter } from './otlp-protobuf-writer.ts'
import { RepeatedSamples } from './otlp-repeated.ts'
import type { Template } from './otlp-template.ts'
import { Walk, type WalkOptions } from './otlp-walk.ts'

/** What templates may take in all: more series than fit are put together each time. */
const MAX_TEMPLATE_BYTES = 16 * 2 ** 20

export type OtlpEncoding = 'proto' | 'json'

export type OtlpEncoderOptions = EntityOptions &
  CompositeOptions &
  Pick<WalkOptions, 'dropNotANumber' | 'maxPoints' | 'maxBytes' | 'leftOut'> & {
    readonly encoding: OtlpEncoding
    readonly maxAttributes: number
    /** Takes a whole request; its bytes are written over when this returns. */
    emit(request: { readonly body: Uint8Array; readonly points: number }): void
  }

export type OtlpEncoder = {
  add(batch: Batch): void
  /** Gives what is begun to `emit`. */
  flush(): void
  readonly pendingPoints: number
}

type Known = {
  plan: EncodePlan
  /** Made when a second batch has the plan: where each has another it would be work for nothing. */
  template: Template | undefined
  isSecond: boolean
  hasEnded: boolean
  /** The number of the request that has the last points of it. */
  request: number
}

export function createOtlpEncoder(options: OtlpEncoderOptions): OtlpEncoder {
  const { encoding, emit } = options
  const dialect = encoding === 'proto' ? createProtobufDialect() : createJsonDialect()
  const planFor = createEncodePlanner({ ...options, split: createSplit(options), dialect })
  const writer = encoding === 'proto' ? new ProtobufWriter() : new JsonWriter()
  const walk = new Walk(writer, { ...options, full: send })
  const known = new WeakMap<Source, Known>()
  const samples = new RepeatedSamples()
  let request = 0
  let templateBytes = 0

  function write(one: Known, batch: Batch): void {
    const { plan, template, isSecond } = one
    if (!walk.isRepeatable(plan, batch)) walk.batch(plan, batch)
    else if (template !== undefined) walk.repeat(template, plan, batch)
    else if (isSecond && templateBytes < MAX_TEMPLATE_BYTES) {
      one.template = walk.record(plan, batch, MAX_TEMPLATE_BYTES - templateBytes)
      templateBytes += one.template.byteLength
    } else walk.batch(plan, batch)
    one.isSecond = true
  }

  function forgetTemplate(one: Known | undefined): void {
    if (one?.template !== undefined) templateBytes -= one.template.byteLength
    if (one !== undefined) Object.assign(one, { template: undefined, isSecond: false })
  }

  function send(points: number): void {
    request++
    emit({ body: writer.take(), points })
  }

  function end(source: Source, after: EncodePlan | undefined, timeMs: number): void {
    const before = known.get(source)
    if (before === undefined || before.hasEnded || before.plan === after) return
    walk.ended(before.plan, goesOn(before.plan, after), timeMs, samples.timesOf(source))
  }

  function flush(): void {
    const { points } = walk
    walk.points = 0
    if (points > 0) send(points)
  }

  return {
    add(batch) {
      const { source, layout, timeMs, outcome } = batch
      let one = known.get(source)
      // Sources whose series all go elsewhere.
      if (one === undefined && columnCount(layout) === 0) return
      // In a request the order of points is not kept, so that no series is in it twice.
      if (one?.request === request) flush()
      if (outcome !== 'ok') {
        end(source, undefined, timeMs)
        samples.end(batch)
        // A target that failed mostly comes back with the series that it had.
        if (outcome === 'failed' && one !== undefined) Object.assign(one, { hasEnded: true, request })
        else {
          forgetTemplate(one)
          known.delete(source)
        }
        return
      }
      const before = one?.plan
      const plan = before?.layout === layout ? before : planFor(source, layout, before)
      end(source, plan, timeMs)
      if (one === undefined) {
        one = { plan, template: undefined, isSecond: false, hasEnded: false, request }
        known.set(source, one)
      }
      if (one.plan !== plan) forgetTemplate(one)
      one.plan = plan
      one.hasEnded = false
      const fresh = samples.leaveOut(batch)
      if (fresh.repeated > 0) options.leftOut('repeated', fresh.repeated)
      write(one, fresh.batch)
      one.request = request
    },
    flush,
    get pendingPoints() {
      return walk.points
    },
  }
}

export type { LeftOut }
