/** From the bytes of a request to batches, and what becomes of a source when they are taken, refused or cannot be read. */
import type { Clock, Next } from '../../pipeline/component.ts'
import { createJsonReader } from '../../pipeline/formats/otlp-json.ts'
import { createProtobufReader } from '../../pipeline/formats/otlp-protobuf.ts'
import type { OtlpEncoding } from '../../pipeline/formats/otlp-answer.ts'
import { pause, type Work } from '../../pipeline/formats/render-work.ts'
import { endBatch, pointCount, type Batch } from '../../pipeline/model/batch.ts'
import { columnCount } from '../../pipeline/model/layout.ts'
import { Intake, type Taken } from './intake.ts'
import type { PushedSource } from './pushed-source.ts'
import type { Sources } from './sources.ts'

export type Pushes = {
  /**
   * Throws `MalformedError`, and whatever the pipeline throws: then nothing of it counts, and the client may send it again. Nothing else
   * may be taken or expire before it is through.
   */
  take(body: Uint8Array, encoding: OtlpEncoding): Work<Taken>
  /** Ends series of which nothing came for so long. */
  expire(expirationMs: number): void
}

/** What is handed on of small sources before others have their turn. */
const COLUMNS_BETWEEN_PAUSES = 10_000

/** `refused` hears of points that were not even offered, because those before were refused. */
export function createPushes(sources: Sources, clock: Clock, next: Next, refused: (points: number) => void): Pushes {
  const readers = { json: createJsonReader(), protobuf: createProtobufReader() }

  function* read(body: Uint8Array, encoding: OtlpEncoding): Work<Taken> {
    const intake = new Intake(sources, clock.now())
    try {
      yield* readers[encoding].read(body, intake)
      return intake.taken
    } catch (error) {
      undo(intake.taken.sources)
      throw error
    }
  }

  function undo(touched: Iterable<PushedSource>): void {
    const empty = new Set<PushedSource>()
    for (const source of touched) {
      source.undo(clock.monotonic(), false)
      if (source.isEmpty) empty.add(source)
    }
    if (empty.size > 0) sources.delete(empty)
  }

  /** Hands on what came of a source. Undoes it if that fails. */
  function handOn(source: PushedSource, batches: readonly Batch[]): void {
    let taken = 0
    try {
      for (const batch of batches) {
        next(batch)
        taken++
      }
    } catch (error) {
      source.undo(clock.monotonic(), taken > 0)
      refused(batches.slice(taken + 1).reduce((points, batch) => points + pointCount(batch), 0))
      throw error
    }
  }

  function settle(source: PushedSource): void {
    if (!source.keep(clock.monotonic())) return
    source.compact()
    tellEnds(source)
  }

  /** Series have ended: the layout without them says so. Nobody has to take it now; the next batch says it again. */
  function tellEnds(source: PushedSource): void {
    try {
      if (!source.isEmpty) return next(emptyBatch(source, clock.now()))
      next(endBatch(source.source, clock.now(), 'removed'))
      sources.delete(new Set([source]))
    } catch {
      // A source that is empty is ended again when it is looked at what has expired.
    }
  }

  return {
    *take(body, encoding) {
      const taken = yield* read(body, encoding)
      const offers = Array.from(taken.sources, source => ({ source, batches: batchesOf(source, clock.now()) }))
      let columns = 0
      for (const [i, { source, batches }] of offers.entries()) {
        try {
          handOn(source, batches)
        } catch (error) {
          const rest = offers.slice(i + 1)
          refused(rest.flatMap(offer => offer.batches).reduce((points, batch) => points + pointCount(batch), 0))
          undo(rest.map(offer => offer.source))
          if (source.isEmpty) sources.delete(new Set([source]))
          throw error
        }
        settle(source)
        if (source.isEmpty) sources.delete(new Set([source]))
        columns += source.columns.count * batches.length
        if (columns < COLUMNS_BETWEEN_PAUSES) continue
        columns = 0
        yield pause
      }
      return taken
    },
    expire(expirationMs) {
      const beforeMs = clock.monotonic() - expirationMs
      for (const source of sources.all()) {
        if (!source.expire(beforeMs) && !source.isEmpty) continue
        if (!source.isEmpty) source.compact()
        tellEnds(source)
      }
    },
  }
}

function batchesOf(source: PushedSource, timeMs: number): Batch[] {
  if (source.rounds.isEmpty) return []
  const layout = source.columns.layout()
  return source.rounds.finish(source.columns.count).map(({ values, times, starts, absent }) => ({
    source: source.source,
    timeMs,
    outcome: 'ok',
    layout,
    values,
    times,
    ...(starts && { starts }),
    ...(absent && { absent }),
  }))
}

/** The source is as it was, but for series that have ended. */
function emptyBatch(source: PushedSource, timeMs: number): Batch {
  const layout = source.columns.layout()
  const columns = columnCount(layout)
  return {
    source: source.source,
    timeMs,
    outcome: 'ok',
    layout,
    values: new Float64Array(columns),
    absent: Uint32Array.from({ length: columns }, (_, column) => column),
  }
}
