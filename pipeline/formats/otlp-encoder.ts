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
import { createProtobufPattern } from './otlp-protobuf-pattern.ts'
import { ProtobufWriter } from './otlp-protobuf-writer.ts'
import { RepeatedSamples } from './otlp-repeated.ts'
import type { RequestWriter } from './otlp-request-writer.ts'
import { Walk, type WalkOptions } from './otlp-walk.ts'

export type OtlpEncoding = 'proto' | 'json'

export type OtlpEncoderOptions = EntityOptions &
  CompositeOptions &
  Pick<WalkOptions, 'dropNotANumber' | 'maxPoints' | 'maxBytes' | 'leftOut'> & {
    readonly encoding: OtlpEncoding
    readonly maxAttributes: number
    /** Takes a whole request; its bytes are written over when this returns, unless they are kept in exchange for other memory. */
    emit(request: {
      readonly body: Uint8Array
      readonly points: number
      readonly keep?: (instead: ArrayBuffer) => void
    }): void
  }

export type OtlpEncoder = {
  add(batch: Batch): void
  /** A part of a batch, about as much as one request takes. False if there is more of it: nothing else may come before that. */
  addPart(batch: Batch): boolean
  /** Whether anything of this source was ever written, and it is not removed since. */
  knows(source: Source): boolean
  /** Gives what is begun to `emit`. */
  flush(): void
  readonly pendingPoints: number
}

type Known = {
  plan: EncodePlan
  hasEnded: boolean
  /** The number of the request that has the last points of it. */
  request: number
}

/** A batch of which there may be more, and where to go on in it. */
type UnderWay = {
  readonly one: Known
  readonly batch: Batch
  next: number
}

export function createOtlpEncoder(options: OtlpEncoderOptions): OtlpEncoder {
  const { encoding, emit } = options
  const dialect = encoding === 'proto' ? createProtobufDialect() : createJsonDialect()
  const createPattern = encoding === 'proto' ? createProtobufPattern : undefined
  const planFor = createEncodePlanner({ ...options, split: createSplit(options), dialect, createPattern })
  const writer: RequestWriter = encoding === 'proto' ? new ProtobufWriter() : new JsonWriter()
  const walk = new Walk(writer, { ...options, full: send })
  const known = new WeakMap<Source, Known>()
  const samples = new RepeatedSamples()
  let request = 0
  let underWay: UnderWay | undefined

  function send(points: number): void {
    request++
    emit({ body: writer.take(), points, ...(writer.keep !== undefined && { keep: writer.keep }) })
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

  /** What there is to write of a batch. */
  function begin(batch: Batch): UnderWay | undefined {
    const { source, layout, timeMs, outcome } = batch
    let one = known.get(source)
    // Sources whose series all go elsewhere.
    if (one === undefined && columnCount(layout) === 0) return undefined
    // In a request the order of points is not kept, so that no series is in it twice.
    if (one?.request === request) flush()
    if (outcome !== 'ok') {
      end(source, undefined, timeMs)
      samples.end(batch)
      // A target that failed mostly comes back with the series that it had.
      if (outcome === 'failed' && one !== undefined) Object.assign(one, { hasEnded: true, request })
      else known.delete(source)
      return undefined
    }
    const before = one?.plan
    const plan = before?.layout === layout ? before : planFor(source, layout, before)
    end(source, plan, timeMs)
    if (one === undefined) {
      one = { plan, hasEnded: false, request }
      known.set(source, one)
    }
    if (before !== undefined && before !== plan) release(before)
    one.plan = plan
    one.hasEnded = false
    const fresh = samples.leaveOut(batch)
    if (fresh.repeated > 0) options.leftOut('repeated', fresh.repeated)
    return { one, batch: fresh.batch, next: 0 }
  }

  function addPart(batch: Batch): boolean {
    const way = underWay ?? begin(batch)
    // A failure is the end of this batch, and of no other.
    underWay = undefined
    if (way === undefined) return true
    way.next = walk.batch(way.one.plan, way.batch, way.next)
    way.one.request = request
    if (way.next < 0) return true
    underWay = way
    return false
  }

  return {
    add(batch) {
      while (!addPart(batch));
    },
    addPart,
    knows: source => known.has(source),
    flush,
    get pendingPoints() {
      return walk.points
    },
  }
}

/** Plans have most of the bytes, and each has its own: of those that come and go none waits for garbage to be looked for. */
function release({ groups, blocks, columns }: EncodePlan): void {
  groups.resources.release()
  blocks.release()
  ;(columns.buffer as ArrayBuffer).transfer(0)
}

export type { LeftOut }
