import assert from 'node:assert/strict'
import { gunzipSync, zstdDecompressSync } from 'node:zlib'
import { otlpHttp } from '../../exporters/otlp-http.ts'
import type { Exporter } from '../../pipeline/component.ts'
import { createVirtualClock } from '../../pipeline/clock/virtual-clock.ts'
import type { Answer } from '../../pipeline/http/virtual-network.ts'
import { endBatch, type Batch } from '../../pipeline/model/batch.ts'
import { batchFromText, createSource } from '../support/batch-from-text.ts'
import { configOf } from '../support/config-of.ts'
import { decodeRequest, encodeResponse, linesOf } from '../support/otlp-judge.ts'
import { sharedJson } from '../support/shared.ts'
import { testHost, TEST_START_MS, type TestHost } from '../support/test-host.ts'

const URL = 'http://destination.test/v1/metrics'
const BASE = { endpoint: 'http://destination.test', compression: 'none' }
const SOURCE = createSource('http://node-a:9400/metrics', { job: 'j', instance: 'i' })

async function startExporter(
  given: object = {},
  answer: Answer = {},
  host = testHost() as TestHost,
): Promise<{ host: TestHost; exporter: Exporter }> {
  host.network.answer(URL, answer)
  const exporter = otlpHttp.create(configOf(otlpHttp, { ...BASE, ...given }), host)
  await exporter.start?.()
  return { host, exporter }
}

async function stop({ clock }: TestHost, exporter: Exporter): Promise<void> {
  const stopped = exporter.stop?.(clock.monotonic() + 1000)
  await clock.advance(1000)
  await stopped
}

function batchOf(text: string, after?: Batch): Batch {
  return batchFromText(text, after === undefined ? { source: SOURCE, timeMs: TEST_START_MS } : { after })
}

/** What the last requests said, without their resources. */
function sent(host: TestHost, encoding: 'proto' | 'json' = 'proto'): string[] {
  return host.network.requests.flatMap(({ body }) =>
    linesOf(decodeRequest(encoding, body!)).map(line => line.replace('{service.instance.id=i, service.name=j} ', '')),
  )
}

function problemsOf(given: object): string[] {
  const problems = otlpHttp.check?.(configOf(otlpHttp, given)) ?? []
  return problems.map(({ path, message }) => `${path.join('.')}: ${message}`)
}

describe('otlp_http', () => {
  it('pushes what it gets after the flush timeout', async () => {
    const { host, exporter } = await startExporter()
    exporter.consume(batchOf('a 1\nb 2'))
    await host.clock.advance(200)
    assert.deepEqual(sent(host), ['a gauge 1 @1700000000', 'b gauge 2 @1700000000'])
    const [request] = host.network.requests
    assert.equal(request?.url, URL)
    assert.equal(request?.method, 'POST')
    assert.equal(request?.headers?.['content-type'], 'application/x-protobuf')
    assert.equal(request?.headers?.['content-encoding'], undefined)
    assert.equal(host.counted.get('gpucol_exporter_sent_metric_points'), 2)
    await stop(host, exporter)
  })

  const endpoints = [
    [{ endpoint: 'http://h' }, 'http://h/v1/metrics'],
    [{ endpoint: 'http://h/' }, 'http://h/v1/metrics'],
    [{ endpoint: 'http://h:4318/otlp/' }, 'http://h:4318/otlp/v1/metrics'],
    [{ endpoint: 'http://h/otlp?token=x' }, 'http://h/otlp/v1/metrics?token=x'],
    [{ metrics_endpoint: 'http://h/v2/datapoint/otlp' }, 'http://h/v2/datapoint/otlp'],
  ] as const
  for (const [given, expected] of endpoints) {
    it(`pushes to ${expected} for ${JSON.stringify(given)}`, async () => {
      const host = testHost() as TestHost
      const exporter = otlpHttp.create(configOf(otlpHttp, given), host)
      await exporter.start?.()
      exporter.consume(batchOf('a 1'))
      await host.clock.advance(200)
      assert.equal(host.network.requests[0]?.url, expected)
      assert.equal(exporter.describe?.(), expected.replace('?token=x', ''))
      await stop(host, exporter)
    })
  }

  for (const [compression, unpack] of [
    ['gzip', gunzipSync],
    ['zstd', zstdDecompressSync],
  ] as const) {
    it(`pushes JSON, compressed by ${compression}`, async () => {
      const { host, exporter } = await startExporter({ encoding: 'json', compression })
      exporter.consume(batchOf('a 1'))
      await host.clock.advance(200)
      const [request] = host.network.requests
      assert.equal(request?.headers?.['content-type'], 'application/json')
      assert.equal(request?.headers?.['content-encoding'], compression)
      assert.match(unpack(request!.body!).toString(), /"asDouble":1,|"asDouble":1}/)
      await stop(host, exporter)
    })
  }

  it('pushes increases, from the second value on, and says since when', async () => {
    const { host, exporter } = await startExporter({ temporality: 'delta' })
    const first = batchOf('# TYPE c counter\nc 10\n# TYPE h histogram\nh_bucket{le="1"} 1\nh_count 3\ng 1')
    exporter.consume(first)
    await host.clock.advance(15_000)
    assert.deepEqual(sent(host), ['g gauge 1 @1700000000'])
    const second = batchOf('# TYPE c counter\nc 14\n# TYPE h histogram\nh_bucket{le="1"} 2\nh_count 9\ng 2', first)
    exporter.consume(second)
    await host.clock.advance(15_000)
    assert.deepEqual(sent(host).slice(1), [
      'c sum delta monotonic 4 since 1700000000 @1700000015',
      'g gauge 2 @1700000015',
      'h histogram delta count=6 [1 5] le [1] since 1700000000 @1700000015',
    ])
    exporter.consume(endBatch(SOURCE, TEST_START_MS + 30_000, 'removed'))
    await host.clock.advance(200)
    assert.deepEqual(sent(host).slice(4), [
      'c sum delta monotonic ended @1700000030',
      'g gauge ended @1700000030',
      'h histogram delta [0 0] le [1] ended @1700000030',
    ])
    assert.equal(host.counted.get('gpucol_exporter_left_out_metric_points{reason="first"}'), 3)
    await stop(host, exporter)
  })

  it('takes a counter that begins anew for what it is', async () => {
    const { host, exporter } = await startExporter({ temporality: 'delta' })
    const first = batchOf('# TYPE c counter\nc 10')
    exporter.consume(first)
    exporter.consume(batchOf('# TYPE c counter\nc 3', first))
    await host.clock.advance(200)
    assert.deepEqual(sent(host), ['c sum delta monotonic 3 since 1700000000 @1700000015'])
    assert.equal(host.counted.get('gpucol_exporter_resets'), 1)
    await stop(host, exporter)
  })

  it('knows the last values again after a restart', async () => {
    const { host, exporter } = await startExporter({ temporality: 'delta' })
    const first = batchOf('# TYPE c counter\nc 10')
    exporter.consume(first)
    await stop(host, exporter)
    const { exporter: again } = await startExporter({ temporality: 'delta' }, {}, host)
    again.consume(batchOf('# TYPE c counter\nc 12', first))
    await host.clock.advance(200)
    assert.deepEqual(sent(host), ['c sum delta monotonic 2 since 1700000000 @1700000015'])
    await stop(host, again)
  })

  it('leaves out what the destination cannot take, counts it, and says so once', async () => {
    const { host, exporter } = await startExporter({ nan: 'drop', summaries: 'drop' })
    const batch = batchOf('a NaN\nb 1\n# TYPE s summary\ns_sum 1\ns_count 1')
    exporter.consume(batch)
    exporter.consume(batch)
    await host.clock.advance(200)
    assert.deepEqual(sent(host), ['b gauge 1 @1700000000', 'b gauge 1 @1700000000'])
    assert.equal(host.counted.get('gpucol_exporter_left_out_metric_points{reason="not a number"}'), 2)
    assert.equal(host.counted.get('gpucol_exporter_left_out_metric_points{reason="summary"}'), 2)
    assert.equal(host.logged.filter(line => line.includes('left out')).length, 2)
    await stop(host, exporter)
  })

  for (const [name, answer] of [
    [
      'protobuf',
      {
        contentType: 'application/x-protobuf',
        body: encodeResponse({ rejectedDataPoints: 1, errorMessage: 'too old' }),
      },
    ],
    [
      'JSON',
      {
        contentType: 'application/json',
        body: '{"partialSuccess":{"rejectedDataPoints":"1","errorMessage":"too old"}}',
      },
    ],
  ] as const) {
    it(`counts what was rejected and shows why, told in ${name}`, async () => {
      const { host, exporter } = await startExporter({}, answer)
      exporter.consume(batchOf('a 1\nb 2'))
      await host.clock.advance(60_000)
      assert.equal(host.network.requests.length, 1)
      assert.equal(host.counted.get('gpucol_exporter_rejected_metric_points'), 1)
      assert.equal(host.counted.get('gpucol_exporter_sent_metric_points'), 1)
      assert.ok(
        host.logged.some(line => line.includes('too old')),
        host.logged.join('\n'),
      )
      await stop(host, exporter)
    })
  }

  it('shows what a destination says when it refuses', async () => {
    const { host, exporter } = await startExporter(
      {},
      { status: 400, contentType: 'application/json', body: '{"code":3,"message":"bad unit"}' },
    )
    exporter.consume(batchOf('a 1'))
    await host.clock.advance(60_000)
    assert.equal(host.network.requests.length, 1)
    assert.equal(host.counted.get('gpucol_exporter_send_failed_metric_points{reason="refused"}'), 1)
    assert.ok(
      host.logged.some(line => line.includes('it answered 400: bad unit')),
      host.logged.join('\n'),
    )
    await stop(host, exporter)
  })

  it('says what helps where a destination refuses points for their order', async () => {
    for (const [in_order, expected] of [
      [false, /it answered 400: out of order sample \(with `in_order: true`/],
      [true, /it answered 400: out of order sample /],
    ] as const) {
      const answer = { status: 400, contentType: 'text/plain', body: 'out of order sample\n' }
      const { host, exporter } = await startExporter({ in_order }, answer)
      exporter.consume(batchOf('a 1'))
      await host.clock.advance(1000)
      assert.match(host.logged.join('\n'), expected)
      await stop(host, exporter)
    }
  })

  it('changes which labels are attributes of the resource', async () => {
    const { host, exporter } = await startExporter({
      resource_attributes: { zone: 'cloud.availability_zone', pod: '' },
      resource_defaults: { 'deployment.environment.name': 'test' },
    })
    exporter.consume(batchOf('a{zone="z",pod="p"} 1'))
    await host.clock.advance(200)
    assert.deepEqual(sent(host), [
      '{cloud.availability_zone=z, deployment.environment.name=test, service.instance.id=i, service.name=j} a gauge {pod=p} 1 @1700000000',
    ])
    await stop(host, exporter)
  })

  it('leaves everything but the target with the points where that is wanted', async () => {
    const { host, exporter } = await startExporter({ resource: 'target' })
    exporter.consume(batchOf('a{pod="p",job="x",instance="y"} 1'))
    await host.clock.advance(200)
    assert.deepEqual(sent(host), ['{service.instance.id=y, service.name=x} a gauge {pod=p} 1 @1700000000'])
    await stop(host, exporter)
  })

  it('finds what is wrong with a config', () => {
    assert.deepEqual(problemsOf({}), [': needs an endpoint, a metrics_endpoint or a vendor'])
    assert.deepEqual(problemsOf({ endpoint: 'http://h', metrics_endpoint: 'http://h/x' }), [
      'metrics_endpoint: there is an endpoint already: one of the two is enough',
    ])
    assert.deepEqual(problemsOf({ endpoint: 'http://h', max_bytes: '1KiB', delta: { max_staleness: '0s' } }), [
      'max_bytes: must be at least 4096: a point has to fit',
      'delta.max_staleness: must be above 0: memory of series that end would grow',
    ])
    assert.deepEqual(problemsOf({ endpoint: 'http://h', attribute_keys: { characters: 'z-a' } }), [
      'attribute_keys.characters: "z-a" is no set of characters as in a regular expression',
    ])
    assert.deepEqual(problemsOf({ vendor: 'datadgo', api_key: 'x' }), [
      'vendor: there is no vendor "datadgo"; did you mean "datadog"?',
    ])
    assert.deepEqual(problemsOf({ endpoint: 'http://h', api_key: 'x' }), [
      'api_key: only a vendor says how an api_key is sent: use headers',
    ])
  })
})

type Case = {
  side: string
  name: string
  response_status: number | null
  response_headers?: Record<string, string>
  response_json?: unknown
  response_body?: string
  retry?: boolean
  grpc_code?: string
  retry_delay?: string
  expect_log?: string
}

const suite = sharedJson<{ cases: Case[] }>('conformance', 'otlp', 'http-behaviour.json')
/** Of gRPC's codes, those that the specification of OTLP says may be tried again. Cases may say a code instead of what is done. */
const RETRYABLE_CODES: ReadonlySet<string> = new Set(['Unavailable', 'ResourceExhausted'])
const cases =
  suite?.cases
    .filter(({ side }) => side === 'client')
    .map(one => ({ ...one, retry: one.retry ?? RETRYABLE_CODES.has(one.grpc_code ?? '') })) ?? []

if (cases.length > 0) {
  describe('otlp_http and the answers of destinations', () => {
    for (const one of cases) {
      it(`${one.retry ? 'sends again' : 'does not send again'}: ${one.name}`, async () => {
        // A date in an answer has to be in the past.
        const clock = createVirtualClock(Date.parse('2026-01-01T00:00:00Z'))
        const { host, exporter } = await startExporter({}, answerOf(one), testHost({ clock }) as TestHost)
        exporter.consume(batchOf('a 1\nb 2'))
        await host.clock.advance(200)
        assert.equal(host.network.requests.length, 1)
        if (one.retry_delay?.includes('30 s') === true) {
          await host.clock.advance(29_999)
          assert.equal(host.network.requests.length, 1, 'not before 30 s')
        }
        await host.clock.advance(60_000)
        assert.equal(host.network.requests.length > 1, one.retry, `${host.network.requests.length} requests`)
        if (one.expect_log !== undefined)
          assert.ok(
            host.logged.some(line => line.startsWith('warn:')),
            host.logged.join('\n'),
          )
        if (!one.retry && one.response_status === 200) {
          assert.equal(host.counted.get('gpucol_exporter_send_failed_metric_points'), undefined)
        }
        await stop(host, exporter)
      })
    }
  })
}

function answerOf({ response_status, response_headers = {}, response_json, response_body }: Case): Answer {
  if (response_status === null) return { error: 'refused' }
  return {
    status: response_status,
    headers: response_headers,
    ...(response_json !== undefined && { contentType: 'application/json', body: JSON.stringify(response_json) }),
    ...(response_body !== undefined && { contentType: 'application/x-protobuf', body: response_body }),
  }
}
