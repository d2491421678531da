/**
 * What vendors take, told independently of the presets, and a server that takes nothing else. Facts are from the documentation that
 * the presets name.
 */
import { gunzipSync, zstdDecompressSync } from 'node:zlib'
import type { NetworkRequest } from '../../pipeline/component.ts'
import { decodeRequest, pointsOf, type KeyValue, type OtlpRequest, type Point } from './otlp-judge.ts'

export type VendorRules = {
  readonly vendor: string
  /** What a user says. */
  readonly config: object
  readonly url: string
  /** Headers without which nothing is taken. */
  readonly headers?: Readonly<Record<string, string>>
  readonly encodings: readonly ('proto' | 'json')[]
  /** Content encodings, '' being none. */
  readonly compressions: readonly string[]
  /** Where the row is about one compression only: all that it takes. */
  readonly takes?: readonly string[]
  /** What it takes; what it would rather have is `advised`. */
  readonly temporality?: 'delta' | 'cumulative'
  readonly advised?: 'delta' | 'cumulative'
  readonly maxBytes?: number
  readonly maxPoints?: number
  readonly maxAttributes?: number
  readonly maxBuckets?: number
  readonly attributeKey?: RegExp
  /** What becomes of keys that it does not take as they are. */
  readonly keys?: readonly string[]
  readonly maxValueLength?: number
  readonly metricName?: RegExp
  readonly maxUnitLength?: number
  readonly maxDescriptionLength?: number
  readonly resourceHas?: readonly string[]
  readonly takesNaN?: true
  readonly takesNoSummaries?: true
  /** Series that differ in nothing but their resource are one: only these attributes of it count. */
  readonly resourceIs?: readonly string[]
}

const KEY = { api_key: 'secret-key' }
const ANY = ['proto', 'json'] as const
const GZIP = ['', 'gzip']
const ZSTD = ['', 'gzip', 'zstd']
const TARGET = ['service.namespace', 'service.name', 'service.instance.id']

export const VENDOR_RULES: readonly VendorRules[] = [
  {
    vendor: 'datadog',
    config: { ...KEY, vendor_parameters: { site: 'us5.datadoghq.com' } },
    url: 'https://otlp.us5.datadoghq.com/v1/metrics',
    headers: { 'dd-api-key': 'secret-key' },
    encodings: ANY,
    compressions: GZIP,
    temporality: 'delta',
    maxBytes: 5_000_000,
  },
  {
    vendor: 'datadog',
    config: { ...KEY, compression: 'none' },
    url: 'https://otlp.datadoghq.com/v1/metrics',
    headers: { 'dd-api-key': 'secret-key', 'dd-otel-metric-config': '{"resource_attributes_as_tags":true}' },
    encodings: ANY,
    compressions: [''],
    takes: ['none', 'gzip'],
    temporality: 'delta',
    maxBytes: 500_000,
  },
  {
    vendor: 'newrelic',
    config: { ...KEY, vendor_parameters: { region: 'eu' } },
    url: 'https://otlp.eu01.nr-data.net/v1/metrics',
    headers: { 'api-key': 'secret-key' },
    encodings: ANY,
    compressions: ZSTD,
    advised: 'delta',
    maxBytes: 1_000_000,
    attributeKey: /^.{1,255}$/u,
    maxValueLength: 4095,
  },
  {
    vendor: 'newrelic',
    config: KEY,
    url: 'https://otlp.nr-data.net/v1/metrics',
    headers: { 'api-key': 'secret-key' },
    encodings: ANY,
    compressions: ZSTD,
  },
  {
    vendor: 'newrelic',
    config: { ...KEY, vendor_parameters: { region: 'gov' } },
    url: 'https://gov-otlp.nr-data.net/v1/metrics',
    encodings: ANY,
    compressions: ZSTD,
  },
  {
    vendor: 'grafana_cloud',
    config: { ...KEY, vendor_parameters: { region: 'eu-west-2', instance_id: '1234' } },
    url: 'https://otlp-gateway-prod-eu-west-2.grafana.net/otlp/v1/metrics',
    headers: { authorization: `Basic ${Buffer.from('1234:secret-key').toString('base64')}` },
    encodings: ANY,
    compressions: GZIP,
    temporality: 'cumulative',
    takesNaN: true,
    resourceIs: TARGET,
  },
  {
    vendor: 'mimir',
    config: { vendor_parameters: { base_url: 'http://mimir:8080', tenant: 'team-a' } },
    url: 'http://mimir:8080/otlp/v1/metrics',
    headers: { 'x-scope-orgid': 'team-a' },
    encodings: ANY,
    compressions: ZSTD,
    temporality: 'cumulative',
    maxBytes: 100 * 2 ** 20,
    takesNaN: true,
    resourceIs: TARGET,
  },
  {
    vendor: 'mimir',
    config: { ...KEY, vendor_parameters: { base_url: 'http://mimir:8080/prefix/' } },
    url: 'http://mimir:8080/prefix/otlp/v1/metrics',
    headers: { authorization: 'Bearer secret-key' },
    encodings: ANY,
    compressions: ZSTD,
    temporality: 'cumulative',
    takesNaN: true,
    resourceIs: TARGET,
  },
  {
    vendor: 'prometheus',
    config: { ...KEY, vendor_parameters: { base_url: 'https://prometheus:9090/' } },
    url: 'https://prometheus:9090/api/v1/otlp/v1/metrics',
    headers: { authorization: 'Bearer secret-key' },
    encodings: ANY,
    compressions: GZIP,
    temporality: 'cumulative',
    takesNaN: true,
    resourceIs: TARGET,
  },
  {
    vendor: 'prometheus',
    config: {},
    url: 'http://127.0.0.1:9090/api/v1/otlp/v1/metrics',
    encodings: ANY,
    compressions: GZIP,
    temporality: 'cumulative',
    takesNaN: true,
    resourceIs: TARGET,
  },
  {
    vendor: 'dynatrace',
    config: { ...KEY, vendor_parameters: { environment: 'abc12345' } },
    url: 'https://abc12345.live.dynatrace.com/api/v2/otlp/v1/metrics',
    headers: { authorization: 'Api-Token secret-key' },
    encodings: ['proto'],
    compressions: GZIP,
    temporality: 'delta',
    maxBytes: 4_000_000,
    maxPoints: 15_000,
    maxAttributes: 50,
    attributeKey: /^[a-z0-9_.:-]{1,100}$/,
    keys: ['upper', 'upper_2', 'with.dot', '_nicode', '0day'],
    maxValueLength: 255,
    metricName: /^[a-zA-Z0-9_.-]{1,255}$/,
    maxUnitLength: 63,
    maxDescriptionLength: 1023,
    takesNoSummaries: true,
  },
  {
    vendor: 'honeycomb',
    config: { ...KEY, vendor_parameters: { region: 'eu' } },
    url: 'https://api.eu1.honeycomb.io/v1/metrics',
    headers: { 'x-honeycomb-team': 'secret-key' },
    encodings: ANY,
    compressions: ZSTD,
    advised: 'cumulative',
    maxBytes: 20 * 2 ** 20,
  },
  {
    vendor: 'honeycomb',
    config: { ...KEY, vendor_parameters: { dataset: 'gpus' } },
    url: 'https://api.honeycomb.io/v1/metrics',
    headers: { 'x-honeycomb-team': 'secret-key', 'x-honeycomb-dataset': 'gpus' },
    encodings: ANY,
    compressions: ZSTD,
  },
  {
    vendor: 'splunk',
    config: { ...KEY, vendor_parameters: { realm: 'us1' } },
    url: 'https://ingest.us1.signalfx.com/v2/datapoint/otlp',
    headers: { 'x-sf-token': 'secret-key' },
    encodings: ['proto'],
    compressions: GZIP,
    advised: 'delta',
    maxBuckets: 31,
  },
  {
    vendor: 'chronosphere',
    config: { ...KEY, vendor_parameters: { tenant: 'acme' } },
    url: 'https://acme.chronosphere.io/data/opentelemetry/v1/metrics',
    headers: { 'api-token': 'secret-key' },
    encodings: ['proto'],
    compressions: ZSTD,
    maxBytes: 16_000_000,
    advised: 'cumulative',
    maxPoints: 2000,
    resourceHas: ['service.instance.id'],
  },
  {
    vendor: 'elastic',
    config: { ...KEY, vendor_parameters: { host: 'my.ingest.elastic.cloud' } },
    url: 'https://my.ingest.elastic.cloud/v1/metrics',
    headers: { authorization: 'ApiKey secret-key' },
    encodings: ['proto'],
    compressions: GZIP,
    advised: 'delta',
    maxBytes: 4_000_000,
  },
  {
    vendor: 'elasticsearch',
    config: { ...KEY, vendor_parameters: { base_url: 'https://es:9200' } },
    url: 'https://es:9200/_otlp/v1/metrics',
    headers: { authorization: 'ApiKey secret-key' },
    encodings: ['proto'],
    compressions: GZIP,
    advised: 'delta',
    maxBytes: 4_000_000,
  },
  {
    vendor: 'cloudwatch',
    config: { ...KEY, vendor_parameters: { region: 'eu-central-1' } },
    url: 'https://monitoring.eu-central-1.amazonaws.com/v1/metrics',
    headers: { authorization: 'Bearer secret-key' },
    encodings: ANY,
    compressions: GZIP,
    advised: 'cumulative',
    maxBytes: 1_000_000,
    maxPoints: 1000,
    maxAttributes: 150,
  },
  {
    vendor: 'google_cloud',
    config: { ...KEY, vendor_parameters: { project: 'my-project' } },
    url: 'https://telemetry.googleapis.com/v1/metrics',
    headers: { 'x-goog-user-project': 'my-project', authorization: 'Bearer secret-key' },
    encodings: ANY,
    compressions: GZIP,
    temporality: 'cumulative',
    attributeKey: /^[a-zA-Z_][a-zA-Z0-9_.]*$/,
    keys: ['Upper', 'upper', 'with.dot', '_nicode', 'x0day'],
    metricName: /^[a-zA-Z][a-zA-Z0-9_:./]*$/,
    resourceHas: ['location', 'service.instance.id'],
    resourceIs: TARGET,
  },
  {
    vendor: 'azure_monitor',
    config: {
      ...KEY,
      vendor_parameters: { endpoint: 'dce.westeurope-1.metrics.ingest.monitor.azure.com', rule: 'dcr-1' },
    },
    url: 'https://dce.westeurope-1.metrics.ingest.monitor.azure.com/datacollectionRules/dcr-1/streams/microsoft-otelmetrics/otlp/v1/metrics',
    headers: { authorization: 'Bearer secret-key' },
    encodings: ['proto'],
    compressions: GZIP,
    advised: 'delta',
  },
]

/** What is wrong with a request, in words; undefined if the vendor takes it. */
export function complaint(request: NetworkRequest, rules: VendorRules): string | undefined {
  const { headers = {}, body = new Uint8Array(0) } = request
  for (const [name, value] of Object.entries(rules.headers ?? {})) {
    if (headers[name] !== value) return `403: ${name} is ${headers[name]}`
  }
  const encoding = { 'application/x-protobuf': 'proto', 'application/json': 'json' }[headers['content-type'] ?? '']
  if (!rules.encodings.some(one => one === encoding)) return `415: ${headers['content-type']}`
  const compression = headers['content-encoding'] ?? ''
  if (!rules.compressions.includes(compression)) return `415: ${compression}`
  const raw = compression === 'gzip' ? gunzipSync(body) : compression === 'zstd' ? zstdDecompressSync(body) : body
  if (raw.length > (rules.maxBytes ?? Infinity)) return `413: ${raw.length} bytes`
  return complaintOf(decodeRequest(encoding as 'proto' | 'json', raw), rules)
}

function complaintOf({ resourceMetrics }: OtlpRequest, rules: VendorRules): string | undefined {
  let points = 0
  const seen = new Set<string>()
  for (const { resource, scopeMetrics } of resourceMetrics) {
    const ofResource = resource.attributes ?? []
    for (const key of rules.resourceHas ?? []) {
      if (!ofResource.some(one => one.key === key)) return `400: no ${key}`
    }
    const identity = ofResource.filter(({ key }) => rules.resourceIs?.includes(key) ?? true)
    for (const metric of scopeMetrics.flatMap(({ metrics }) => metrics)) {
      if (rules.metricName?.test(metric.name) === false) return `400: metric ${metric.name}`
      if ((metric.unit?.length ?? 0) > (rules.maxUnitLength ?? Infinity)) return `400: unit of ${metric.name}`
      if ((metric.description?.length ?? 0) > (rules.maxDescriptionLength ?? Infinity)) {
        return `400: description of ${metric.name}`
      }
      if (metric.summary !== undefined && rules.takesNoSummaries) return `400: summary ${metric.name}`
      const { aggregationTemporality: temporality } = metric.sum ?? metric.histogram ?? {}
      const isCounter = metric.histogram !== undefined || metric.sum?.isMonotonic === true
      if ((metric.sum ?? metric.histogram) !== undefined && temporality === undefined) return `400: no temporality`
      const wanted = rules.temporality ?? rules.advised
      if (isCounter && wanted === 'delta' && temporality !== 1) return `400: ${metric.name} is cumulative`
      if (isCounter && wanted === 'cumulative' && temporality !== 2) return `400: ${metric.name} is delta`
      for (const { point } of pointsOf(metric)) {
        points++
        const attributes = point.attributes ?? []
        const wrong = attributesComplaint([...ofResource, ...attributes], attributes, rules)
        if (wrong !== undefined) return wrong
        if (rules.takesNaN !== true && isNoNumber(point)) return `400: ${metric.name} is no number`
        if ((point.bucketCounts?.length ?? 0) > (rules.maxBuckets ?? Infinity)) return `400: too many buckets`
        const series = JSON.stringify([metric.name, identity, attributes, point.timeUnixNano])
        if (seen.has(series)) return `400: ${series} is there twice`
        seen.add(series)
      }
    }
  }
  return points > (rules.maxPoints ?? Infinity) ? `400: ${points} points` : undefined
}

function isNoNumber({ asDouble, sum, quantileValues = [] }: Point): boolean {
  return [asDouble, sum, ...quantileValues.map(({ value }) => value)].some(value => typeof value === 'string')
}

function attributesComplaint(
  all: readonly KeyValue[],
  own: readonly KeyValue[],
  { maxAttributes = Infinity, attributeKey, maxValueLength = Infinity }: VendorRules,
): string | undefined {
  if (all.length > maxAttributes) return `400: ${all.length} attributes`
  if (new Set(own.map(({ key }) => key)).size !== own.length) return '400: an attribute is there twice'
  for (const { key, value } of all) {
    if (attributeKey?.test(key) === false) return `400: attribute ${key}`
    if (String(value['stringValue']).length > maxValueLength) return `400: value of ${key} is too long`
  }
  return undefined
}
