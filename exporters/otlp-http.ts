/**
 * Pushes metrics by OTLP over HTTP to whoever takes them: a Collector, Prometheus, a vendor.
 *
 * A resource is what a series is about (a GPU, a pod, a workload, a node), with OpenTelemetry's names for it; all other labels are
 * attributes of points. A series that ends is sent once more, with the flag that says so.
 */
import { defineExporter, type ConfigSchema, type Host, type Problem } from '../pipeline/component.ts'
import { otlpSettings } from '../pipeline/catalog/otlp-settings.ts'
import type { Vendor } from '../pipeline/catalog/vendor-schema.ts'
import { loadVendor } from '../pipeline/catalog/vendors.ts'
import { messagesOf } from '../pipeline/catalog/catalogs.ts'
import { duration, parseDuration, parseSize, secret, url } from '../pipeline/config/fields.ts'
import { asDelta, createDeltaConversion, type DeltaConversion } from '../pipeline/deltas/delta-conversion.ts'
import { createOtlpEncoder } from '../pipeline/formats/otlp-encoder.ts'
import type { Encoder } from './delivery/payload.ts'
import { createPush } from './delivery/push.ts'
import type { HttpRequest } from './delivery/send.ts'
import { checkPushConfig, pushProperties } from './delivery/push-config.ts'
import { withApiKey } from './otlp-http/api-key.ts'
import { checkDestination, metricsUrl, vendorHeaders } from './otlp-http/destination.ts'
import { createInOrder, withHint } from './otlp-http/in-order.ts'
import { judgeOtlp } from './otlp-http/judge.ts'
import { createLeftOut } from './otlp-http/left-out.ts'
import { allBut, encoderOptions, resolveSettings } from './otlp-http/settings.ts'

const config = {
  type: 'object',
  properties: {
    endpoint: url('Where the destination is; `/v1/metrics` is put behind it.'),
    metrics_endpoint: url('Where metrics go, as a whole URL to which nothing is added.'),
    vendor: {
      type: 'string',
      minLength: 1,
      description:
        'Name of a preset in `configs/vendors`, or a path to one of your own: it says where to send, how, and what the vendor wants.',
    },
    vendor_parameters: {
      type: 'object',
      additionalProperties: { type: 'string', minLength: 1 },
      default: {},
      description: 'What the preset asks for, such as site or region.',
    },
    api_key: secret('Key or token of the vendor; the preset knows how it is sent.'),
    api_key_file: { type: 'string', minLength: 1, description: 'File that holds it; read again when it changes.' },
    ...otlpSettings,
    delta: {
      type: 'object',
      properties: {
        initial_value: {
          type: 'string',
          enum: ['auto', 'drop', 'keep'],
          default: 'auto',
          description:
            'What becomes of the first value of a series: its increase is not known, so it is dropped, or kept as if it were the increase. `auto` keeps it where the source says that the counter began after this exporter.',
        },
        max_staleness: duration('How long a series may be away before its next value is a first one again.', '1h'),
      },
      default: {},
      additionalProperties: false,
      description: 'How increases are made where `temporality` is `delta`.',
    },
    ...pushProperties,
  },
  additionalProperties: false,
} as const satisfies ConfigSchema

const CONTENT_TYPES: Readonly<Record<string, string>> = { proto: 'application/x-protobuf', json: 'application/json' }

export const otlpHttp = defineExporter({
  type: 'otlp_http',
  aliases: ['otlphttp'],
  summary: 'Pushes metrics by OTLP over HTTP.',
  config,
  example: {
    endpoint: 'https://otlp.example.com',
    temporality: 'delta',
    compression: 'zstd',
    headers: { 'api-key': 'my-key' },
    resource_defaults: { 'deployment.environment.name': 'production' },
  },

  check(given) {
    const problems: Problem[] = [...checkPushConfig(given)]
    const { vendor, problems: ofVendor } = vendorOf(given.vendor)
    problems.push(...ofVendor, ...checkDestination(given, vendor, given.vendor))
    problems.push(...checkNames(given))
    if (given.max_bytes !== undefined && parseSize(given.max_bytes) < SMALLEST_BYTES) {
      problems.push({ path: ['max_bytes'], message: `must be at least ${SMALLEST_BYTES}: a point has to fit` })
    }
    if (parseDuration(given.delta.max_staleness) <= 0) {
      problems.push({
        path: ['delta', 'max_staleness'],
        message: 'must be above 0: memory of series that end would grow',
      })
    }
    return problems
  },

  create(given, host) {
    const vendor = given.vendor === undefined ? undefined : loadVendor(given.vendor)
    const settings = resolveSettings(given, vendor)
    const address = metricsUrl(given, vendor)
    const { headers: ofVendor } = vendorHeaders(given, vendor)
    const leftOut = createLeftOut(host)
    const note = `${settings.encoding} ${settings.compression}`
    const requests = new Map<string, HttpRequest>()
    function requestFor(its: string): HttpRequest {
      let request = requests.get(its)
      if (request === undefined) {
        request = { url: address, headers: { ...headersOf(its), ...ofVendor } }
        requests.set(its, request)
      }
      return request
    }
    const push = createPush(host, withApiKey(given, vendor), {
      subject: withoutSecrets(address),
      compress: settings.compression,
      createEncoder(emit) {
        const create = (shard?: number): Required<Encoder> => {
          const encoder = createOtlpEncoder({
            ...encoderOptions(settings),
            leftOut: leftOut.add,
            emit: request => emit({ ...request, note, ...(shard !== undefined && { shard }) }),
          })
          return {
            add(batch) {
              encoder.add(batch)
              leftOut.report()
            },
            addPart(batch) {
              const isWhole = encoder.addPart(batch)
              if (isWhole) leftOut.report()
              return isWhole
            },
            knows: source => encoder.knows(source),
            flush: () => encoder.flush(),
            get pendingPoints() {
              return encoder.pendingPoints
            },
          }
        }
        return settings.in_order ? createInOrder(create) : create()
      },
      // What waits on disk may have been written under another config.
      request: payload => requestFor(payload.note ?? note),
      judge: answer => (settings.in_order ? judgeOtlp(answer) : withHint(judgeOtlp(answer))),
    })
    if (settings.temporality === 'cumulative') return push
    const deltas = createDeltas(host, given.delta)
    return {
      ...push,
      async start() {
        await deltas.start()
        await push.start()
      },
      consume: batch => deltas.convert(batch, push.consume),
      async stop(deadlineMs: number) {
        await deltas.stop()
        await push.stop(deadlineMs)
      },
    }
  },
})

const SMALLEST_BYTES = 4096

function vendorOf(name: string | undefined): { vendor?: Vendor; problems: Problem[] } {
  if (name === undefined) return { problems: [] }
  try {
    return { vendor: loadVendor(name), problems: [] }
  } catch (error) {
    return { problems: messagesOf(error as Error).map(message => ({ path: ['vendor'], message })) }
  }
}

function checkNames(given: { attribute_keys?: Characters; metric_names?: Characters }): Problem[] {
  const rows = [
    [['attribute_keys', 'characters'], given.attribute_keys?.characters],
    [['attribute_keys', 'first_characters'], given.attribute_keys?.first_characters],
    [['metric_names', 'characters'], given.metric_names?.characters],
    [['metric_names', 'first_characters'], given.metric_names?.first_characters],
  ] as const
  return rows.flatMap(([path, characters]) => {
    try {
      if (characters !== undefined) allBut(characters)
      return []
    } catch {
      return [{ path, message: `"${characters}" is no set of characters as in a regular expression` }]
    }
  })
}

type Characters = { readonly characters?: string; readonly first_characters?: string }

function createDeltas(host: Host, { initial_value, max_staleness }: DeltaConfig): DeltaConversion {
  const { counters } = host
  return createDeltaConversion(host, {
    storeName: `${host.id} deltas`,
    mark: { by: 'metric', map: metric => [{ metric: asDelta(metric) }] },
    maxStalenessMs: parseDuration(max_staleness),
    initialValue: initial_value,
    resets: count => counters.add('gpucol_exporter_resets', count),
    undetermined: (reason, points) => counters.add('gpucol_exporter_left_out_metric_points', points, { reason }),
  })
}

type DeltaConfig = { readonly initial_value: 'auto' | 'drop' | 'keep'; readonly max_staleness: string }

function headersOf(note: string): Record<string, string> {
  const [encoding = '', compression = 'none'] = note.split(' ')
  return {
    'content-type': CONTENT_TYPES[encoding] ?? CONTENT_TYPES['proto']!,
    ...(compression !== 'none' && { 'content-encoding': compression }),
  }
}

function withoutSecrets(address: string): string {
  const shown = new URL(address)
  shown.username = ''
  shown.password = ''
  shown.search = ''
  return shown.href
}
