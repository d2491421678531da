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
import { Walk, type WalkOptions } from './otlp-walk.ts'

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
  /** A part of a batch, about as much as one request takes. False if there is more of it: nothing else may come before that. */
  addPart(batch: Batch): boolean
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

export function createOtlpEncoder(options: OtlpEncoderOptions): OtlpEncoder {
  const { encoding, emit } = options
  const dialect = encoding === 'proto' ? createProtobufDialect() : createJsonDialect()
  const planFor = createEncodePlanner({ ...options, split: createSplit(options), dialect })
  const writer = encoding === 'proto' ? new ProtobufWriter() : new JsonWriter()
  const walk = new Walk(writer, { ...options, full: send })
  const known = new WeakMap<Source, Known>()
  let request = 0
  /** Where to go on in a batch of which there is more. */
  let nextGroup = 0

  function send(points: number): void {
    request++
    emit({ body: writer.take(), points })
  }

  function end(source: Source, after: EncodePlan | undefined, timeMs: number): void {
    const before = known.get(source)
    if (before === undefined || before.hasEnded || before.plan === after) return
    walk.ended(before.plan, goesOn(before.plan, after), timeMs)
  }

  function flush(): void {
    const { points } = walk
    walk.points = 0
    if (points > 0) send(points)
  }

  /** What there is to write of a batch. */
  function begin({ source, layout, timeMs, outcome }: Batch): Known | undefined {
    let one = known.get(source)
    // Sources whose series all go elsewhere.
    if (one === undefined && columnCount(layout) === 0) return undefined
    // In a request the order of points is not kept, so that no series is in it twice.
    if (one?.request === request) flush()
    if (outcome !== 'ok') {
      end(source, undefined, timeMs)
      // A target that failed mostly comes back with the series that it had.
      if (outcome === 'failed' && one !== undefined) Object.assign(one, { hasEnded: true, request })
      else known.delete(source)
      return undefined
    }
    const before = one?.plan
    const plan = before?.layout === layout ? before : planFor(source, layout, before)
    end(source, plan, timeMs)
    if (one === undefined) known.set(source, (one = { plan, hasEnded: false, request }))
    if (before !== undefined && before !== plan) release(before)
    one.plan = plan
    one.hasEnded = false
    return one
  }

  function addPart(batch: Batch): boolean {
    const one = nextGroup > 0 ? known.get(batch.source) : begin(batch)
    if (one === undefined) return true
    // A failure is the end of this batch, and of no other.
    const from = nextGroup
    nextGroup = 0
    const next = walk.batch(one.plan, batch, from)
    one.request = request
    if (next < 0) return true
    nextGroup = next
    return false
  }

  return {
    add(batch) {
      while (!addPart(batch));
    },
    addPart,
    flush,
    get pendingPoints() {
      return walk.points
    },
  }
}

/** Plans have most of the bytes, and each has its own: of those that come and go none waits for garbage to be looked for. */
function release({ groups, blocks }: EncodePlan): void {
  groups.release()
  blocks.release()
}

export type { LeftOut }
