/** The OpenTelemetry SDK pushes to gpucol as users start it, and what comes out is what Prometheus would scrape. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-http'
import { resourceFromAttributes } from '@opentelemetry/resources'
import {
  AggregationTemporality,
  AggregationType,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics'
import { freePorts, get, root, startGpucol, type GpucolProcess } from '../support/gpucol-process.ts'

describe('the OpenTelemetry SDK and the receiver otlp', function () {
  this.timeout(60_000)
  let gpucol: GpucolProcess
  let endpoint = ''
  let metrics = ''
  const providers: MeterProvider[] = []

  before(async () => {
    const [push, scrape, health] = (await freePorts(3)) as [number, number, number]
    endpoint = `http://127.0.0.1:${push}/v1/metrics`
    metrics = `http://127.0.0.1:${scrape}/metrics`
    const set = [
      `receivers.otlp.endpoint=127.0.0.1:${push}`,
      `exporters.prometheus.endpoint=127.0.0.1:${scrape}`,
      `extensions.health_check.endpoint=127.0.0.1:${health}`,
      'service.telemetry.metrics.address=none',
    ]
    const args = ['run', '--config', join(root, 'configs/examples/gateway.yaml'), ...set.flatMap(one => ['--set', one])]
    gpucol = startGpucol(args)
    await gpucol.until(/is running/)
  })

  after(async () => {
    await Promise.all(providers.map(provider => provider.shutdown().catch(() => {})))
    gpucol.child.kill('SIGTERM')
    assert.equal(await gpucol.ended, 0)
  })

  function createProvider(service: string, temporality: AggregationTemporality): MeterProvider {
    const exporter = new OTLPMetricExporter({ url: endpoint, temporalityPreference: temporality as never })
    const provider = new MeterProvider({
      resource: resourceFromAttributes({
        'service.name': service,
        'service.namespace': 'shop',
        'service.instance.id': 'a',
        'host.name': 'node-a',
      }),
      readers: [new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3_600_000 })],
      views: [
        { instrumentName: 'sizes', aggregation: { type: AggregationType.EXPONENTIAL_HISTOGRAM } },
        {
          instrumentName: 'http.server.duration',
          aggregation: { type: AggregationType.EXPLICIT_BUCKET_HISTOGRAM, options: { boundaries: [0.1, 1] } },
        },
      ],
    })
    providers.push(provider)
    return provider
  }

  async function served(job: string): Promise<string[]> {
    const text = await get(metrics)
    return text
      .split('\n')
      .filter(line => line.includes(`job="shop/${job}"`))
      .sort()
  }

  for (const [what, temporality] of [
    ['cumulative', AggregationTemporality.CUMULATIVE],
    ['delta', AggregationTemporality.DELTA],
  ] as const) {
    it(`agree on what is pushed as ${what}`, async () => {
      const provider = createProvider(what, temporality)
      const meter = provider.getMeter('checkout', '1.2')
      const orders = meter.createCounter('orders', { description: 'Orders.' })
      const duration = meter.createHistogram('http.server.duration', { unit: 's' })
      const sizes = meter.createHistogram('sizes', { unit: 'By' })
      meter.createObservableGauge('queue.length').addCallback(result => result.observe(7, { queue: 'q' }))
      for (const round of [1, 2]) {
        orders.add(2, { 'http.method': 'GET' })
        duration.record(0.0625)
        duration.record(round)
        sizes.record(3)
        await provider.forceFlush()
      }
      const own = `instance="a",job="shop/${what}"`
      const scope = 'otel_scope_name="checkout",otel_scope_version="1.2"'
      const lines = await served(what)
      const isBucket = (line: string): boolean => line.startsWith('sizes_bytes_bucket')
      assert.deepEqual(
        lines.filter(line => !isBucket(line)),
        [
          `http_server_duration_seconds_bucket{${own},le="+Inf",${scope}} 4`,
          `http_server_duration_seconds_bucket{${own},le="0.1",${scope}} 2`,
          `http_server_duration_seconds_bucket{${own},le="1",${scope}} 3`,
          `http_server_duration_seconds_count{${own},${scope}} 4`,
          `http_server_duration_seconds_sum{${own},${scope}} 3.125`,
          `orders_total{http_method="GET",${own},${scope}} 4`,
          `queue_length{${own},${scope},queue="q"} 7`,
          `sizes_bytes_count{${own},${scope}} 2`,
          `sizes_bytes_sum{${own},${scope}} 6`,
          `target_info{host_name="node-a",${own}} 1`,
        ],
      )
      // The bucket that has a 3, at the finest scale there is.
      const buckets = lines.filter(isBucket).map(line => /le="([^"]+)".* (\d+)$/.exec(line)!.slice(1))
      assert.deepEqual(
        buckets.map(([, count]) => count).sort((a, b) => Number(a) - Number(b)),
        ['0', '2', '2'],
      )
      assert.ok(buckets.some(([bound]) => Number(bound) >= 3 && Number(bound) < 3.00001))
    })
  }
})
