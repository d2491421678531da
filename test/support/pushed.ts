/** The receiver `otlp` without HTTP: requests in, batches out. */
import type { Batch } from '../../pipeline/model/batch.ts'
import { createVirtualClock } from '../../pipeline/clock/virtual-clock.ts'
import { createPushes } from '../../receivers/otlp/push-batches.ts'
import { Sources, type SourceLimits } from '../../receivers/otlp/sources.ts'
import { TEST_START_MS } from './test-host.ts'
import { textFromBatch } from './text-from-batch.ts'
import { finishNow } from '../../pipeline/formats/render-work.ts'

type Point = Readonly<Record<string, unknown>>
export type Data = Readonly<Record<string, unknown>>

const LIMITS: SourceLimits = { sources: 100, series: 1000, seriesPerSource: 500, attributesPerPoint: 20 }

export function pushed(limits: Partial<SourceLimits> = {}) {
  const clock = createVirtualClock(TEST_START_MS)
  const batches: Batch[] = []
  const sources = new Sources('otlp', { ...LIMITS, ...limits })
  const behind = { next: (_batch: Batch): void => {} }
  let refused = 0
  const pushes = createPushes(
    sources,
    clock,
    batch => {
      behind.next(batch)
      batches.push(batch)
    },
    points => (refused += points),
  )
  return {
    clock,
    sources,
    batches,
    behind,
    pushes,
    refusedPoints: () => refused,
    push: (...resources: Data[]) =>
      finishNow(pushes.take(Buffer.from(JSON.stringify({ resourceMetrics: resources })), 'json')),
    /** The batches since the last call, as text. */
    texts: () => batches.splice(0).map(batch => textFromBatch(batch)),
  }
}

/** A resource with these metrics. */
export function resource(metrics: readonly Data[], attributes: Data = {}, scope: Data = {}): Data {
  return { resource: { attributes: attributesOf(attributes) }, scopeMetrics: [{ scope, metrics }] }
}

export function gauge(name: string, ...dataPoints: Point[]): Data {
  return { name, gauge: { dataPoints } }
}

export function sum(name: string, temporality: 'delta' | 'cumulative', ...dataPoints: Point[]): Data {
  return {
    name,
    sum: { aggregationTemporality: temporality === 'delta' ? 1 : 2, isMonotonic: true, dataPoints },
  }
}

export function histogram(name: string, temporality: 'delta' | 'cumulative', ...dataPoints: Point[]): Data {
  return { name, histogram: { aggregationTemporality: temporality === 'delta' ? 1 : 2, dataPoints } }
}

/** A point at so many seconds, with these attributes. */
export function at(seconds: number, value: number | Data, attributes: Data = {}, startSeconds?: number): Point {
  return {
    timeUnixNano: `${seconds}000000000`,
    ...(startSeconds !== undefined && { startTimeUnixNano: `${startSeconds}000000000` }),
    attributes: attributesOf(attributes),
    ...(typeof value === 'number' ? { asDouble: value } : value),
  }
}

export function attributesOf(attributes: Data): unknown[] {
  return Object.entries(attributes).map(([key, value]) => ({ key, value: anyValue(value) }))
}

function anyValue(value: unknown): unknown {
  if (typeof value === 'string') return { stringValue: value }
  if (typeof value === 'number') return Number.isInteger(value) ? { intValue: value } : { doubleValue: value }
  if (typeof value === 'boolean') return { boolValue: value }
  return value
}
