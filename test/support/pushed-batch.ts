/** Batches as the receiver `otlp` makes them: names are OpenTelemetry's, labels are attributes, and the source knows its resource. */
import type { Batch, Source } from '../../pipeline/model/batch.ts'
import { EMPTY_LABELS, labelsFrom } from '../../pipeline/model/labels.ts'
import { layoutFromSeries, type Layout } from '../../pipeline/model/layout.ts'
import type { AttributeValue } from '../../pipeline/model/origin.ts'
import { metricFrom, type Metric } from '../../pipeline/model/series.ts'

export type PushedPoint = {
  readonly metric: { name: string } & Partial<Metric>
  readonly attributes?: Readonly<Record<string, string>>
  /** Undefined where the request has no such point. */
  readonly value: number | undefined
  readonly timeMs?: number
}

export function pushedSource(resource: Readonly<Record<string, AttributeValue>>, scope = 'test'): Source {
  const attributes = new Map(Object.entries(resource))
  return {
    component: 'otlp',
    name: `${JSON.stringify(resource)} ${scope}`,
    labels: EMPTY_LABELS,
    origin: {
      resource: { attributes, schemaUrl: '' },
      scope: { name: scope, version: '', attributes: new Map(), schemaUrl: '' },
    },
  }
}

export function pushedBatch(
  source: Source,
  points: readonly PushedPoint[],
  { timeMs = 0, after }: { timeMs?: number; after?: Layout } = {},
): Batch {
  const series = points.map(({ metric, attributes = {} }) => ({
    metric: metricFrom({ ...metric, isOtel: true }),
    labels: labelsFrom(Object.entries(attributes)),
  }))
  const absent = points.flatMap(({ value }, column) => (value === undefined ? [column] : []))
  return {
    source,
    timeMs,
    outcome: 'ok',
    layout: layoutFromSeries(series, after),
    values: Float64Array.from(points, ({ value = 0 }) => value),
    times: Float64Array.from(points, point => point.timeMs ?? NaN),
    ...(absent.length > 0 && { absent: Uint32Array.from(absent) }),
  }
}
