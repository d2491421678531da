import assert from 'node:assert/strict'
import { gunzipSync, zstdDecompressSync } from 'node:zlib'
import { otlpHttp } from '../../exporters/otlp-http.ts'
import { resolveSettings } from '../../exporters/otlp-http/settings.ts'
import type { NetworkRequest } from '../../pipeline/component.ts'
import { parseSize } from '../../pipeline/config/fields.ts'
import { loadVendor, readVendor, vendorNames } from '../../pipeline/catalog/vendors.ts'
import type { Batch } from '../../pipeline/model/batch.ts'
import { batchFromText, createSource } from '../support/batch-from-text.ts'
import { configOf } from '../support/config-of.ts'
import { decodeRequest, pointsOf } from '../support/otlp-judge.ts'
import { testHost, TEST_START_MS, type TestHost } from '../support/test-host.ts'
import { complaint, VENDOR_RULES } from '../support/vendor-rules.ts'

/** Series with all that vendors stumble over, and more of them than fit into one request. */
const SERIES = 4000

const FILLER = 'f'.repeat(300)
const SOURCE = createSource('http://a:1', { job: 'dcgm', instance: 'a:1' })

function batchOf(step: number, after?: Batch): Batch {
  const gpus = Array.from(
    { length: SERIES },
    (_, i) =>
      `util{UUID="GPU-${i % 1000}",Hostname="node-${i % 100}",err_code="${i}",filler="${FILLER}",pod="p-${i % 500}",job="dcgm",instance="a:1"} ${i}`,
  )
  const buckets = Array.from({ length: 40 }, (_, i) => `h_bucket{le="${i}"} ${i * step}`)
  const unit = 'u'.repeat(70)
  const text = [
    '# TYPE util gauge',
    `# HELP util ${'h'.repeat(1100)}`,
    ...gpus,
    '# TYPE temp gauge',
    'temp{UUID="GPU-1",job="dcgm",instance="a:1"} 1',
    'temp{UUID="GPU-2",job="dcgm",instance="a:1"} 2',
    '# TYPE not_a_number gauge',
    'not_a_number NaN',
    'infinite +Inf',
    '# TYPE c counter',
    `c_total ${10 * step}`,
    '# TYPE not_a_sum histogram',
    `not_a_sum_bucket{le="+Inf"} ${step}`,
    'not_a_sum_sum NaN',
    `not_a_sum_count ${step}`,
    '# TYPE h histogram',
    ...buckets,
    `h_bucket{le="+Inf"} ${50 * step}`,
    `h_sum ${100 * step}`,
    `h_count ${50 * step}`,
    '# TYPE s summary',
    's{quantile="0.5"} NaN',
    `s_sum ${step}`,
    `s_count ${step}`,
    `# TYPE a_${unit} gauge`,
    `# UNIT a_${unit} ${unit}`,
    `a_${unit} 1`,
    `job:rule:sum{Upper="1",upper="2","with.dot"="${'v'.repeat(5000)}","ünicode"="3","0day"="4","${'k'.repeat(300)}"="5","${'k'.repeat(300)}2"="6"} 1`,
    `{"with space-ünï"} 1`,
    `${'n'.repeat(300)} 1`,
    '_private{} 1',
    `many{${Array.from({ length: 160 }, (_, i) => `l${i}="x"`).join(',')}} 1`,
    '# EOF',
  ].join('\n')
  return batchFromText(text, {
    source: SOURCE,
    dialect: 'openmetrics',
    timeMs: TEST_START_MS + step * 15_000,
    ...(after && { after }),
  })
}

/** Names of metrics and keys of attributes. */
function keysIn({ headers = {}, body = new Uint8Array(0) }: NetworkRequest): string[] {
  const unpack = { gzip: gunzipSync, zstd: zstdDecompressSync }[headers['content-encoding'] ?? '']
  const encoding = headers['content-type'] === 'application/json' ? 'json' : 'proto'
  const { resourceMetrics } = decodeRequest(encoding, unpack?.(body) ?? body)
  const metrics = resourceMetrics.flatMap(({ scopeMetrics }) => scopeMetrics.flatMap(scope => scope.metrics))
  return metrics.flatMap(metric => [
    metric.name,
    ...pointsOf(metric).flatMap(({ point }) => (point.attributes ?? []).map(({ key }) => key)),
  ])
}

describe('presets of vendors', () => {
  const first = batchOf(1)
  const second = batchOf(2, first)

  it('are there for every row of the rules, and the other way round', () => {
    assert.deepEqual([...new Set(VENDOR_RULES.map(({ vendor }) => vendor)), 'amp'].sort(), vendorNames())
  })

  for (const rules of VENDOR_RULES) {
    const { vendor, config, url, keys = [] } = rules
    const told = JSON.stringify(config)
    it(`${vendor} takes everything that it can, from ${told}`, async () => {
      const given = configOf(otlpHttp, { vendor, ...config })
      assert.deepEqual(otlpHttp.check?.(given), [])
      const host = testHost() as TestHost
      const complaints: string[] = []
      const seen = new Set<string>()
      host.network.serve(url, (request, response) => {
        const wrong = request.url === url ? complaint(request, rules) : `404: ${request.url}`
        if (wrong !== undefined) complaints.push(wrong)
        else for (const key of keysIn(request)) seen.add(key)
        response.head(wrong === undefined ? 200 : Number(wrong.slice(0, 3)))
        response.end()
      })
      const exporter = otlpHttp.create(given, host)
      await exporter.start?.()
      exporter.consume(first)
      exporter.consume(second)
      await host.clock.advance(1000)
      const stopped = exporter.stop?.(host.clock.monotonic() + 1000)
      await host.clock.advance(1000)
      await stopped
      assert.deepEqual(complaints, [])
      assert.deepEqual(host.network.unanswered(), [])
      const points = host.counted.get('gpucol_exporter_sent_metric_points') ?? 0
      assert.ok(points >= 2 * SERIES, `${points} points arrived`)
      assert.equal(host.counted.get('gpucol_exporter_send_failed_metric_points'), undefined)
      for (const name of ['c_total', 'h']) assert.ok(seen.has(name), `${name} did not arrive`)
      for (const key of keys) assert.ok(seen.has(key), `nothing has ${key}`)
    })

    it(`${vendor} is asked for no more than it takes, from ${told}`, () => {
      const { max_bytes, max_points, max_attributes, max_buckets } = resolveSettings(
        configOf(otlpHttp, { vendor, ...config }),
        loadVendor(vendor),
      )
      const { maxBytes = Infinity, maxPoints = Infinity, maxAttributes, maxBuckets } = rules
      assert.ok(parseSize(max_bytes) <= maxBytes, `${max_bytes} of ${maxBytes} bytes`)
      assert.ok(max_points <= maxPoints, `${max_points} of ${maxPoints} points`)
      assert.equal(max_attributes, maxAttributes)
      assert.equal(max_buckets, maxBuckets)
    })

    it(`${vendor} is not sent what it does not take, from ${told}`, () => {
      const problemsOf = (option: object): readonly unknown[] =>
        otlpHttp.check?.(configOf(otlpHttp, { vendor, ...config, ...option })) ?? []
      for (const encoding of ['proto', 'json'] as const) {
        assert.equal(problemsOf({ encoding }).length, rules.encodings.includes(encoding) ? 0 : 1, encoding)
      }
      for (const compression of ['none', 'gzip', 'zstd']) {
        const isTaken =
          rules.takes?.includes(compression) ?? rules.compressions.includes(compression.replace('none', ''))
        assert.equal(problemsOf({ compression }).length, isTaken ? 0 : 1, compression)
      }
      for (const temporality of ['delta', 'cumulative'] as const) {
        const isTaken = (rules.temporality ?? temporality) === temporality
        assert.equal(problemsOf({ temporality }).length, isTaken ? 0 : 1, temporality)
      }
    })
  }

  it('are needed: what is sent without them is not taken', async () => {
    const given = configOf(otlpHttp, {
      metrics_endpoint: 'http://x/y',
      compression: 'zstd',
      max_points: 100_000,
      max_bytes: '1GiB',
    })
    const host = testHost() as TestHost
    const exporter = otlpHttp.create(given, host)
    await exporter.start?.()
    exporter.consume(first)
    await host.clock.advance(1000)
    const [request] = host.network.requests
    const answers = VENDOR_RULES.map(rules => complaint(request!, { ...rules, headers: {}, compressions: ['zstd'] }))
    const takeIt = VENDOR_RULES.filter((_, i) => answers[i] === undefined).map(({ vendor }) => vendor)
    assert.deepEqual(takeIt, [])
    await exporter.stop?.(host.clock.monotonic())
  })

  it('have the options of users in front of theirs', async () => {
    const host = testHost() as TestHost
    const given = configOf(otlpHttp, {
      vendor: 'newrelic',
      api_key: 'k',
      metrics_endpoint: 'http://x/y',
      encoding: 'json',
    })
    const exporter = otlpHttp.create(given, host)
    await exporter.start?.()
    exporter.consume(batchFromText('a 1'))
    await host.clock.advance(1000)
    const [request] = host.network.requests
    assert.equal(request?.url, 'http://x/y')
    assert.equal(request?.headers?.['content-type'], 'application/json')
    assert.equal(request?.headers?.['api-key'], 'k')
    await exporter.stop?.(host.clock.monotonic())
  })

  const mistakes: readonly (readonly [config: object, expected: readonly string[]])[] = [
    [
      { vendor: 'amp', api_key: 'k' },
      [
        'vendor: Amazon Managed Service for Prometheus takes no OTLP: use prometheus_remote_write, through a proxy that signs requests (SigV4)',
      ],
    ],
    [{ vendor: 'datadog' }, ['api_key: vendor `datadog` needs an api_key, which is sent as dd-api-key']],
    [{ vendor: 'datadog', headers: { 'DD-API-KEY': 'k' } }, []],
    [
      { vendor: 'datadog', api_key: 'k', temporality: 'cumulative' },
      ['temporality: vendor `datadog` takes only delta, not cumulative'],
    ],
    [
      { vendor: 'dynatrace', api_key: 'k', encoding: 'json', vendor_parameters: { environment: 'e' } },
      ['encoding: vendor `dynatrace` takes only proto, not json'],
    ],
    [
      { vendor: 'splunk', api_key: 'k' },
      [
        'vendor_parameters.realm: vendor `splunk` needs the parameter `realm` in vendor_parameters: the realm, such as us1 or eu0',
      ],
    ],
    [
      { vendor: 'splunk', api_key: 'k', vendor_parameters: { realm: 'us1', site: 'x' } },
      ['vendor_parameters.site: vendor `splunk` has no parameter `site`: it has realm'],
    ],
    [
      { vendor: 'newrelic', api_key: 'k', vendor_parameters: { region: 'mars' } },
      ['vendor_parameters.region: `region` must be one of us, eu, gov'],
    ],
    [
      { vendor: 'prometheus', compression: 'zstd' },
      ['compression: vendor `prometheus` takes only gzip or none, not zstd'],
    ],
  ]
  for (const [config, expected] of mistakes) {
    it(`are checked: ${JSON.stringify(config)}`, () => {
      const problems = otlpHttp.check?.(configOf(otlpHttp, config)) ?? []
      assert.deepEqual(
        problems.map(({ path, message }) => `${path.join('.')}: ${message}`),
        expected,
      )
    })
  }

  it('use parameters that they declare, and declare those that they use', () => {
    for (const name of vendorNames()) {
      const vendor = loadVendor(name)
      const templates = [vendor.url ?? '', ...Object.values(vendor.headers)].join(' ')
      const used = new Set(Array.from(templates.matchAll(/\{(\w+)\}/g), ([, parameter]) => parameter!))
      if (vendor.api_key?.username !== undefined) used.add(vendor.api_key.username)
      assert.deepEqual([...used].sort(), Object.keys(vendor.parameters).sort(), name)
    }
  })

  it('that are wrong are refused, with the place', () => {
    assert.throws(() => readVendor('my.yaml', 'about: x\nsource: y\nsettings: { encoding: xml }\n'), /encoding|xml/)
    assert.throws(() => readVendor('my.yaml', 'abuot: x\nsource: y\n'), /abuot|about/)
  })
})
