/** What came by OTLP: names, labels, resources, and series of which a request may have any. */
import assert from 'node:assert/strict'
import type { TranslationStrategy } from '../../../pipeline/formats/prometheus-naming.ts'
import { endBatch } from '../../../pipeline/model/batch.ts'
import { renderText } from '../../../pipeline/formats/render-text.ts'
import { batchFromText } from '../../support/batch-from-text.ts'
import { pushedBatch, pushedSource, type PushedPoint } from '../../support/pushed-batch.ts'
import { serving } from '../../support/served-prometheus.ts'

const REQUESTS = { name: 'http.requests', type: 'counter', unit: '1', help: 'Requests.' } as const
const USED = { name: 'gpu.memory', type: 'gauge', unit: 'By' } as const
const SHARE = { name: 'gpu.busy', type: 'gauge', unit: '1' } as const
const TIME = { family: 'rpc.time', type: 'histogram', unit: 'ms' } as const
const POINTS: readonly PushedPoint[] = [
  { metric: REQUESTS, attributes: { 'http.method': 'GET', '0th': 'x' }, value: 1 },
  { metric: USED, value: 2 },
  { metric: SHARE, value: 0.5 },
  { metric: { name: 'rpc.time_bucket', ...TIME }, attributes: { le: '+Inf' }, value: 3 },
  { metric: { name: 'rpc.time_sum', ...TIME }, value: 4 },
  { metric: { name: 'rpc.time_count', ...TIME }, value: 3 },
]

describe('what came by OTLP, served for Prometheus', () => {
  const EXPECTED: Readonly<Record<TranslationStrategy, string>> = {
    UnderscoreEscapingWithSuffixes: `
      # TYPE gpu_busy_ratio gauge
      gpu_busy_ratio 0.5
      # TYPE gpu_memory_bytes gauge
      # UNIT gpu_memory_bytes bytes
      gpu_memory_bytes 2
      # HELP http_requests Requests.
      # TYPE http_requests counter
      http_requests_total{http_method="GET",key_0th="x"} 1
      # TYPE rpc_time_milliseconds histogram
      # UNIT rpc_time_milliseconds milliseconds
      rpc_time_milliseconds_bucket{le="+Inf"} 3
      rpc_time_milliseconds_sum 4
      rpc_time_milliseconds_count 3
      # EOF`,
    UnderscoreEscapingWithoutSuffixes: `
      # TYPE gpu_busy gauge
      gpu_busy 0.5
      # TYPE gpu_memory gauge
      gpu_memory 2
      # HELP http_requests Requests.
      # TYPE http_requests unknown
      http_requests{http_method="GET",key_0th="x"} 1
      # TYPE rpc_time histogram
      rpc_time_bucket{le="+Inf"} 3
      rpc_time_sum 4
      rpc_time_count 3
      # EOF`,
    NoUTF8EscapingWithSuffixes: `
      # TYPE "gpu.busy_ratio" gauge
      {"gpu.busy_ratio"} 0.5
      # TYPE "gpu.memory_bytes" gauge
      # UNIT "gpu.memory_bytes" bytes
      {"gpu.memory_bytes"} 2
      # HELP "http.requests" Requests.
      # TYPE "http.requests" counter
      {"http.requests_total","0th"="x","http.method"="GET"} 1
      # TYPE "rpc.time_milliseconds" histogram
      # UNIT "rpc.time_milliseconds" milliseconds
      {"rpc.time_milliseconds_bucket",le="+Inf"} 3
      {"rpc.time_milliseconds_sum"} 4
      {"rpc.time_milliseconds_count"} 3
      # EOF`,
    NoTranslation: `
      # TYPE "gpu.busy" gauge
      {"gpu.busy"} 0.5
      # TYPE "gpu.memory" gauge
      {"gpu.memory"} 2
      # HELP "http.requests" Requests.
      # TYPE "http.requests" unknown
      {"http.requests","0th"="x","http.method"="GET"} 1
      # TYPE "rpc.time" histogram
      {"rpc.time_bucket",le="+Inf"} 3
      {"rpc.time_sum"} 4
      {"rpc.time_count"} 3
      # EOF`,
  }
  for (const [name, expected] of Object.entries(EXPECTED)) {
    it(`has names by the strategy ${name}`, () => {
      const strategy = name as TranslationStrategy
      const batch = pushedBatch(pushedSource({}), POINTS)
      const text = renderText([batch], { syntax: 'openmetrics', escaping: 'allow-utf-8', strategy })
      assert.equal(text, `${expected.replace(/^\s+/gm, '')}\n`)
      // Names are chosen by the config, and then escaped for those who cannot read them.
      const escaped = renderText([batch], { strategy })
      assert.ok(escaped.includes(strategy.endsWith('WithSuffixes') ? 'http_requests_total{' : '\nhttp_requests{'))
    })
  }

  it('does not touch scraped names, and puts the namespace before both', () =>
    serving({ namespace: 'our' }, async ({ exporter, scrape }) => {
      exporter.consume(batchFromText('# TYPE a__b counter\na__b{c__d="1"} 1\n'))
      exporter.consume(pushedBatch(pushedSource({}), [{ metric: REQUESTS, attributes: { c__d: '1' }, value: 2 }]))
      assert.equal(
        await scrape(),
        [
          '# TYPE our_a__b counter',
          'our_a__b{c__d="1"} 1',
          '# HELP our_http_requests_total Requests.',
          '# TYPE our_http_requests_total counter',
          'our_http_requests_total{c_d="1"} 2',
          '',
        ].join('\n'),
      )
    }))

  it('joins attributes that become one label, leaves out what has no name, and says so once', () =>
    serving({}, async ({ exporter, scrape, host }) => {
      exporter.consume(
        pushedBatch(pushedSource({}), [
          { metric: USED, attributes: { 'a.b': '1', a_b: '2' }, value: 1 },
          { metric: { name: '温度' }, value: 1 },
        ]),
      )
      await scrape()
      assert.equal(await scrape(), '# TYPE gpu_memory_bytes gauge\ngpu_memory_bytes{a_b="1;2"} 1\n')
      assert.deepEqual(
        host.logged.filter(line => line.startsWith('warn')),
        [
          'warn: "温度" is not served: nothing of it can be in a name',
          'warn: attributes "a.b", "a_b" are one label, "a_b": their values are joined by ";"',
        ],
      )
      const conflicts = host.observed('gpucol_exporter_conflicts')
      assert.deepEqual([conflicts.get('{what="name"}'), conflicts.get('{what="label"}')], [1, 1])
    }))

  it('has one target_info for each resource, however many scopes that has', () =>
    serving({ const_labels: { cluster: 'east' } }, async ({ exporter, scrape }) => {
      const resource = {
        'service.name': 'train',
        'service.namespace': 'ml',
        'service.instance.id': 'pod-0',
        'k8s.pod.name': 'pod-0',
        'host.cpus': 8,
        'host.tags': ['a', 'b'],
        gone: null,
      }
      const sources = [pushedSource(resource), pushedSource(resource, 'other')]
      for (const [i, source] of sources.entries()) {
        exporter.consume(pushedBatch(source, [{ metric: USED, attributes: { scope: String(i) }, value: i }]))
      }
      // One has nothing to say but who it is, of the other nobody could tell who it is.
      exporter.consume(pushedBatch(pushedSource({ 'service.name': 'bare' }), [{ metric: SHARE, value: 1 }]))
      exporter.consume(pushedBatch(pushedSource({ 'k8s.pod.name': 'x' }), []))
      const info = `target_info{cluster="east",host_cpus="8",host_tags="[\\"a\\",\\"b\\"]",instance="pod-0",job="ml/train",k8s_pod_name="pod-0"} 1`
      const lines = (await scrape()).split('\n')
      assert.deepEqual(
        lines.filter(line => line.includes('target')),
        ['# HELP target_info Target metadata', '# TYPE target_info gauge', info],
      )
      const open = await scrape({ accept: 'application/openmetrics-text;version=1.0.0' })
      assert.ok(open.includes(`# HELP target Target metadata\n# TYPE target info\n${info}\n`))
      for (const source of sources) exporter.consume(endBatch(source, 1, 'removed'))
      assert.doesNotMatch(await scrape(), /target/)
    }))

  it('gives series the attributes of their resource that the config wants, where they have none of their own', () => {
    const resource = {
      'service.name': 'train',
      'k8s.pod.name': 'pod-0',
      'k8s.pod.uid': 'u',
      'host.name': 'h',
      job: 'no',
    }
    const point: PushedPoint = { metric: SHARE, attributes: { job: 'train', 'host.name': 'own' }, value: 1 }
    const cases: [object, string][] = [
      [{ enabled: false }, 'host_name="own",job="train"'],
      [{ enabled: true }, 'host_name="own",job="train",k8s_pod_name="pod-0",k8s_pod_uid="u",service_name="train"'],
      [
        { enabled: true, exclude_service_attributes: true },
        'host_name="own",job="train",k8s_pod_name="pod-0",k8s_pod_uid="u"',
      ],
      [
        { enabled: true, include: ['k8s.*', 'nothing'], exclude: ['*.uid'] },
        'host_name="own",job="train",k8s_pod_name="pod-0"',
      ],
    ]
    return cases.reduce(async (before, [conversion, expected]) => {
      await before
      const options = { resource_to_telemetry_conversion: conversion } as Parameters<typeof serving>[0]
      await serving(options, async ({ exporter, scrape }) => {
        exporter.consume(pushedBatch(pushedSource(resource), [point]))
        assert.ok((await scrape()).includes(`\ngpu_busy_ratio{${expected}} 1\n`), JSON.stringify(conversion))
      })
    }, Promise.resolve())
  })

  it('keeps what a request does not have, and what is newer than what it has', () =>
    serving({ send_timestamps: true }, async ({ exporter, scrape }) => {
      const source = pushedSource({})
      const series = (...values: (readonly [number | undefined, number?])[]): PushedPoint[] =>
        values.map(([value, timeMs], i) => ({
          metric: SHARE,
          attributes: { gpu: String(i) },
          value,
          ...(timeMs !== undefined && { timeMs }),
        }))
      const first = pushedBatch(source, series([1, 1000], [2, 1000]), { timeMs: 5000 })
      exporter.consume(first)
      const after = { timeMs: 6000, after: first.layout }
      const second = pushedBatch(source, series([undefined], [3, 2000], [4, 2000]), after)
      exporter.consume(second)
      const lines = async (): Promise<string[]> =>
        Array.from((await scrape()).matchAll(/\{gpu="(\d)"\} (.*)/g), ([, gpu, rest]) => `${gpu}: ${rest}`)
      assert.deepEqual(await lines(), ['0: 1 1000', '1: 3 2000', '2: 4 2000'])
      exporter.consume(
        pushedBatch(source, series([5, 900], [undefined], [6, 2000]), { ...after, after: second.layout }),
      )
      assert.deepEqual(await lines(), ['0: 1 1000', '1: 3 2000', '2: 6 2000'])
      // Nothing is known of how this layout came to be, and one series is gone.
      exporter.consume(pushedBatch(source, series([undefined], [undefined]), { timeMs: 7000 }))
      assert.deepEqual(await lines(), ['0: 1 1000', '1: 3 2000'])
    }))

  it('ends a series of which nothing comes, while others of its source go on', () =>
    serving({ metric_expiration: '1m' }, async ({ exporter, scrape, host }) => {
      const source = pushedSource({ 'service.name': 'a', b: 'c' })
      const points = (a: number | undefined, b: number | undefined): PushedPoint[] => [
        { metric: { name: 'a' }, value: a },
        { metric: { name: 'b' }, value: b },
      ]
      const first = pushedBatch(source, points(1, 1))
      exporter.consume(first)
      await host.clock.advance(30_000)
      exporter.consume(pushedBatch(source, points(undefined, 2), { after: first.layout }))
      await host.clock.advance(29_999)
      assert.match(await scrape(), /^a 1$/m)
      await host.clock.advance(1)
      assert.doesNotMatch(await scrape(), /^a/m)
      assert.match(await scrape(), /^b 2$/m)
      assert.deepEqual(host.observed('gpucol_exporter_live_series'), new Map([['', 1]]))
      exporter.consume(pushedBatch(source, points(7, undefined), { after: first.layout }))
      assert.match(await scrape(), /^a 7$/m)
      await host.clock.advance(30_000)
      assert.doesNotMatch(await scrape(), /^b/m)
      await host.clock.advance(30_000)
      assert.equal(await scrape(), '')
    }))
})
