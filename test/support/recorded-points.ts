/** What a reader of OTLP tells, as plain data. Each kind of point has only what it has beyond the rest. */
import { readAttributes } from '../../pipeline/formats/otlp-attributes.ts'
import type { MetricsSink, Numbers } from '../../pipeline/formats/otlp-points.ts'

/** Tests know what they ask for. */
export type Told = ReturnType<typeof JSON.parse>

export function recordPoints(read: (sink: MetricsSink) => void): Told[] {
  const told: unknown[] = []
  const list = ({ values, length }: Numbers): number[] => Array.from(values.subarray(0, length))
  function point<P extends { attributes: Parameters<typeof readAttributes>[0] }>(
    kind: string,
    { attributes, ...rest }: P,
  ): void {
    const parts = Object.entries(rest).map(([key, value]) => [key, isNumbers(value) ? list(value) : value])
    told.push({ kind, attributes: [...readAttributes(attributes)], ...Object.fromEntries(parts) })
  }
  read({
    scope(resource, scope) {
      told.push({
        resource: [...readAttributes(resource.attributes)],
        resourceSchemaUrl: resource.schemaUrl,
        scope: [...readAttributes(scope.attributes)],
        name: scope.name,
        version: scope.version,
        schemaUrl: scope.schemaUrl,
      })
    },
    metric: ({ metadata, ...metric }) => told.push({ ...metric, metadata: [...metadata] }),
    number: one => point('number', one),
    histogram: one => point('histogram', one),
    exponential: one => point('exponential', one),
    summary: one => point('summary', one),
  })
  return told
}

function isNumbers(value: unknown): value is Numbers {
  return typeof value === 'object' && value !== null && 'values' in value && 'length' in value
}
