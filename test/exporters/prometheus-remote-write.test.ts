import assert from 'node:assert/strict'
import { prometheusRemoteWrite } from '../../exporters/prometheus-remote-write.ts'
import { endBatch, type Batch } from '../../pipeline/model/batch.ts'
import { labelsFrom } from '../../pipeline/model/labels.ts'
import { layoutFromSeries } from '../../pipeline/model/layout.ts'
import { metricFrom } from '../../pipeline/model/series.ts'
import { scaleOf } from '../../pipeline/model/scale.ts'
import { batchFromText, createSource } from '../support/batch-from-text.ts'
import { configOf } from '../support/config-of.ts'
import { STALE_BITS } from '../support/remote-write-messages.ts'
import type { Behaviour, WriteReceiver } from '../support/remote-write-receiver.ts'
import { startWritePipeline, startWriter } from '../support/remote-write-pipeline.ts'

type Writer = Awaited<ReturnType<typeof startWriter>>

/** Samples by series, `value@time`, markers as `stale@time`. */
function arrived(receiver: WriteReceiver): Record<string, string[]> {
  const entries = [...receiver.samples()].map(([series, samples]): [string, string[]] => [
    series,
    samples.map(({ value, bits, timeMs }) => `${bits === STALE_BITS ? 'stale' : value}@${timeMs}`),
  ])
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)))
}

async function give({ exporter, host }: Writer, ...batches: Batch[]): Promise<void> {
  for (const batch of batches) exporter.consume(batch)
  await host.clock.advance(1000)
}

describe('prometheus_remote_write', () => {
  const running: { stop(): Promise<void> }[] = []
  async function start(config?: object, behaviour?: Behaviour): Promise<Writer> {
    const writer = await startWriter(config, behaviour)
    running.push(writer)
    return writer
  }
  afterEach(async () => {
    for (const one of running.splice(0)) await one.stop()
  })

  for (const version of [1, 2] as const) {
    describe(`version ${version}`, () => {
      it('sends samples with their labels in order, upper-case names before __name__', async () => {
        const writer = await start({ version })
        await give(writer, batchFromText('DCGM_FI{UUID="u",gpu="0",Hostname="h"} 5\nb 1.5', { timeMs: 1000 }))
        const labels = writer.receiver.requests.flatMap(({ series }) => series.map(one => one.labels))
        assert.deepEqual(
          labels.toSorted((a, b) => b.length - a.length),
          [
            [
              ['Hostname', 'h'],
              ['UUID', 'u'],
              ['__name__', 'DCGM_FI'],
              ['gpu', '0'],
            ],
            [['__name__', 'b']],
          ],
        )
        assert.deepEqual(arrived(writer.receiver), {
          'DCGM_FI{Hostname="h",UUID="u",gpu="0"}': ['5@1000'],
          'b{}': ['1.5@1000'],
        })
      })

      it('tells the end of series that a scrape has no more, and of all when a scrape fails', async () => {
        const writer = await start({ version })
        const first = batchFromText('a 1\nb{x="1"} 2\nb{x="2"} 3', { timeMs: 1000 })
        const second = batchFromText('a 1\nb{x="2"} 4', { after: first, timeMs: 2000 })
        await give(
          writer,
          first,
          second,
          endBatch(first.source, 3000, 'failed'),
          endBatch(first.source, 4000, 'failed'),
        )
        assert.deepEqual(arrived(writer.receiver), {
          'a{}': ['1@1000', '1@2000', 'stale@3000'],
          'b{x="1"}': ['2@1000', 'stale@2000'],
          'b{x="2"}': ['3@1000', '4@2000', 'stale@3000'],
        })
        const third = { ...second, timeMs: 5000 }
        await give(writer, third, endBatch(first.source, 6000, 'removed'))
        assert.deepEqual(arrived(writer.receiver)['a{}'], ['1@1000', '1@2000', 'stale@3000', '1@5000', 'stale@6000'])
      })

      it('writes a NaN that is a number of the source as one, whatever its bits', async () => {
        const writer = await start({ version })
        const batch = batchFromText('a 1', { timeMs: 1000 })
        new BigUint64Array(batch.values.buffer)[0] = 0x7ff0000000000002n
        await give(writer, batch)
        assert.equal(writer.receiver.samples().get('a{}')![0]!.bits, '7ff8000000000001')
      })

      it('adds external labels that a series has not itself, and relabels after that', async () => {
        const writer = await start({
          version,
          external_labels: { cluster: 'east', Zone: 'z' },
          write_relabel_configs: [
            { source_labels: ['__name__'], regex: 'drop_.*', action: 'drop' },
            { source_labels: ['cluster'], target_label: 'site' },
            { source_labels: ['__name__'], regex: 'old_(.*)', target_label: '__name__', replacement: 'new_$1' },
          ],
        })
        await give(writer, batchFromText('old_a{cluster="own"} 1\ndrop_b 2', { timeMs: 1000 }))
        assert.deepEqual(arrived(writer.receiver), { 'new_a{Zone="z",cluster="own",site="own"}': ['1@1000'] })
      })

      it('sends no more than max_samples_per_send together, each series always by the same shard', async () => {
        const writer = await start({ version, max_samples_per_send: 7, shards: 3 })
        const text = Array.from({ length: 100 }, (_, i) => `a{i="${i}"} ${i}`).join('\n')
        const first = batchFromText(text, { timeMs: 1000 })
        await give(writer, first, { ...first, timeMs: 2000 }, { ...first, timeMs: 3000 })
        for (const { series } of writer.receiver.requests) assert.ok(series.length <= 7)
        const samples = Object.entries(arrived(writer.receiver))
        assert.equal(samples.length, 100)
        for (const [series, values] of samples) {
          const value = /"(\d+)"/.exec(series)![1]
          assert.deepEqual(values, [`${value}@1000`, `${value}@2000`, `${value}@3000`])
        }
        assert.equal(writer.host.counted.get('gpucol_exporter_sent_metric_points'), 300)
      })

      it('applies scales exactly', async () => {
        const writer = await start({ version })
        const batch = batchFromText('a 29', { timeMs: 1000 })
        const layout = { ...batch.layout, id: -1, labels: batch.layout.labels, scales: [scaleOf(1, 100)] }
        await give(writer, { ...batch, layout })
        assert.equal(writer.receiver.samples().get('a{}')![0]!.value, 0.29)
      })
    })
  }

  it('has the times of samples that have their own, sends none twice and none after a later one', async () => {
    const writer = await start()
    const first = batchFromText('a 1 500\nb 2', { timeMs: 1000 })
    const second = batchFromText('a 1 500\nb 3', { after: first, timeMs: 2000 })
    const third = batchFromText('a 2 400\nb 4', { after: second, timeMs: 3000 })
    const fourth = batchFromText('a 3 600\nb 5', { after: third, timeMs: 2500 })
    await give(writer, first, second, third, fourth, endBatch(first.source, 3500, 'failed'))
    assert.deepEqual(arrived(writer.receiver), {
      'a{}': ['1@500', '3@600', 'stale@3500'],
      'b{}': ['2@1000', '3@2000', '4@3000', 'stale@3500'],
    })
    assert.equal(writer.host.counted.get('gpucol_exporter_left_out_metric_points{reason="repeated"}'), 3)
  })

  it('writes nothing for absent columns, and no end of what was never there', async () => {
    const writer = await start()
    const first: Batch = { ...batchFromText('a 1\nb 2', { timeMs: 1000 }), absent: Uint32Array.of(1) }
    await give(writer, first, { ...first, timeMs: 2000 }, endBatch(first.source, 3000, 'removed'))
    assert.deepEqual(arrived(writer.receiver), { 'a{}': ['1@1000', '1@2000', 'stale@3000'] })
  })

  it('a metric that is described anew goes on', async () => {
    const writer = await start()
    const first = batchFromText('# HELP a one\na 1', { timeMs: 1000 })
    await give(writer, first, batchFromText('# HELP a two\na 2', { after: first, timeMs: 2000 }))
    assert.deepEqual(arrived(writer.receiver), { 'a{}': ['1@1000', '2@2000'] })
  })

  it('sends one sample where two sources have the same series at the same time', async () => {
    const writer = await start()
    const first = batchFromText('up 1\na 1', { timeMs: 1000 })
    const other = batchFromText('up 0\nb 2', { timeMs: 1000, source: createSource('other') })
    await give(writer, first, other, endBatch(first.source, 2000, 'failed'), { ...other, timeMs: 2000 })
    assert.deepEqual(arrived(writer.receiver), {
      'a{}': ['1@1000', 'stale@2000'],
      'b{}': ['2@1000', '2@2000'],
      'up{}': ['1@1000', 'stale@2000'],
    })
    assert.equal(writer.host.counted.get('gpucol_exporter_left_out_metric_points{reason="repeated"}'), 2)
  })

  it('leaves increases out, counts them and says so once', async () => {
    const writer = await start()
    const labels = labelsFrom([])
    const layout = layoutFromSeries([
      { metric: metricFrom({ name: 'd', type: 'counter', isDelta: true }), labels },
      { metric: metricFrom({ name: 'g', type: 'gauge' }), labels },
    ])
    const batch: Batch = {
      source: createSource(),
      timeMs: 1000,
      outcome: 'ok',
      layout,
      values: Float64Array.of(1, 2),
    }
    await give(writer, batch, { ...batch, timeMs: 2000 })
    assert.deepEqual(arrived(writer.receiver), { 'g{}': ['2@1000', '2@2000'] })
    assert.equal(writer.host.counted.get('gpucol_exporter_left_out_metric_points{reason="delta"}'), 2)
    assert.equal(writer.host.logged.filter(line => line.includes('increases')).length, 1)
  })

  it('calls what came by OTLP as Prometheus does, and says what is known of the resource', async () => {
    const writer = await start({ version: 2 })
    const origin = {
      resource: {
        attributes: new Map<string, string | number>([
          ['service.name', 'trainer'],
          ['k8s.pod.name', 'p'],
          ['restarts', 3],
        ]),
        schemaUrl: '',
      },
      scope: { name: '', version: '', attributes: new Map(), schemaUrl: '' },
    }
    const own = labelsFrom([['job', 'trainer']])
    const source = { component: 'otlp', name: 'trainer', labels: own, origin }
    const metric = metricFrom({ name: 'http.requests', type: 'counter', unit: '{request}', isOtel: true })
    const labels = labelsFrom([
      ['http.method', 'GET'],
      ['job', 'trainer'],
    ])
    const layout = layoutFromSeries([{ metric, labels }])
    const starts = Float64Array.of(500)
    const batch: Batch = { source, timeMs: 1000, outcome: 'ok', layout, values: Float64Array.of(7), starts }
    await give(writer, batch, { ...batch, timeMs: 2000 }, endBatch(source, 3000, 'removed'))
    assert.deepEqual(arrived(writer.receiver), {
      'http_requests_total{http_method="GET",job="trainer"}': ['7@1000', '7@2000', 'stale@3000'],
      'target_info{job="trainer",k8s_pod_name="p",restarts="3"}': ['1@1000', 'stale@3000'],
    })
    const [sample] = writer.receiver.samples().get('http_requests_total{http_method="GET",job="trainer"}')!
    assert.equal(sample!.startMs, 500)
  })

  it('says in version 1 what metrics are, once at the beginning and then every minute, unless that is not wanted', async () => {
    const batch = batchFromText('# HELP a Some help.\n# TYPE a counter\na 1\nb 2', { timeMs: 1000 })
    const writer = await start()
    await give(writer, batch)
    const said = (): number => writer.receiver.requests.filter(({ metadata }) => metadata.length > 0).length
    const [request] = writer.receiver.requests.filter(({ metadata }) => metadata.length > 0)
    assert.deepEqual(request!.metadata, [{ family: 'a', type: 'counter', help: 'Some help.', unit: '' }])
    assert.equal(said(), 1)
    await writer.host.clock.advance(60_000)
    assert.equal(said(), 2)
    await writer.host.clock.advance(120_000)
    assert.equal(said(), 4)
    const silent = await start({ send_metadata: false })
    await give(silent, batch)
    await silent.host.clock.advance(60_000)
    assert.equal(silent.receiver.requests.filter(({ metadata }) => metadata.length > 0).length, 0)
  })

  for (const [what, behaviour] of [
    ['answers 415', (_number, version) => (version === 2 ? { status: 415 } : {})],
    ['takes it and says nothing', (_number, version) => (version === 2 ? { isSilent: true } : {})],
  ] satisfies [string, Behaviour][]) {
    it(`goes back to version 1 where a destination ${what}, and loses nothing`, async () => {
      const writer = await start({ version: 2, shards: 2, max_samples_per_send: 3 }, behaviour)
      const text = `# TYPE a counter\n${Array.from({ length: 20 }, (_, i) => `a{i="${i}",Z="z"} ${i}`).join('\n')}`
      const first = batchFromText(text, { timeMs: 1000 })
      await give(writer, first)
      await give(writer, { ...first, timeMs: 2000 }, endBatch(first.source, 3000, 'failed'))
      const taken = writer.receiver.requests.filter(({ version }) => version === 1)
      const samples = taken.flatMap(({ series }) => series.flatMap(one => one.samples))
      assert.equal(samples.length, 60)
      assert.equal(samples.filter(({ bits }) => bits === STALE_BITS).length, 20)
      for (const one of taken) assert.equal(one.headers['x-prometheus-remote-write-version'], '0.1.0')
      assert.ok(taken.every(({ series }) => series.every(({ labels }) => labels[1]![0] === '__name__')))
      assert.equal(writer.host.logged.filter(line => line.includes('remote write 2.0')).length, 1)
      assert.equal(writer.host.counted.get('gpucol_exporter_sent_metric_points'), 60)
      assert.ok(!writer.host.logged.some(line => line.startsWith('failing')))
      const asked = writer.receiver.requests.length
      await give(writer, { ...first, timeMs: 4000 })
      assert.ok(writer.receiver.requests.slice(asked).every(({ version }) => version === 1))
    })
  }

  it('counts what a receiver of version 2 did not write, and shows why', async () => {
    const headers = { 'X-Prometheus-Remote-Write-Samples-Written': '1' }
    const writer = await start({ version: 2, shards: 1 }, () => ({
      status: 400,
      headers,
      body: 'out of order sample: a',
    }))
    await give(writer, batchFromText('a 1\nb 2\nc 3', { timeMs: 1000 }))
    assert.equal(writer.host.counted.get('gpucol_exporter_sent_metric_points'), 1)
    assert.equal(writer.host.counted.get('gpucol_exporter_rejected_metric_points'), 2)
    assert.ok(writer.host.logged.some(line => line.includes('out of order sample: a')))
    assert.equal(writer.receiver.requests.length, 1)
  })

  it('drops, counts and shows what a receiver refuses, and goes on', async () => {
    const writer = await start({ shards: 1, send_metadata: false }, number =>
      number === 0 ? { status: 400, body: 'out of order sample' } : {},
    )
    const first = batchFromText('a 1', { timeMs: 1000 })
    await give(writer, first)
    await give(writer, { ...first, timeMs: 2000 })
    assert.deepEqual(arrived(writer.receiver), { 'a{}': ['1@2000'] })
    assert.equal(writer.host.counted.get('gpucol_exporter_send_failed_metric_points'), 1)
    assert.ok(writer.host.logged.some(line => line.includes('it answered 400: out of order sample')))
  })

  it('waits as long as Retry-After says, and the shard waits with it', async () => {
    const writer = await start({ shards: 1, send_metadata: false }, number =>
      number === 0 ? { status: 429, headers: { 'Retry-After': '120' } } : {},
    )
    const first = batchFromText('a 1', { timeMs: 1000 })
    await give(writer, first)
    await give(writer, { ...first, timeMs: 2000 })
    await writer.host.clock.advance(110_000)
    assert.equal(writer.receiver.requests.length, 1)
    await writer.host.clock.advance(60_000)
    assert.deepEqual(arrived(writer.receiver), { 'a{}': ['1@1000', '1@2000'] })
  })

  it('escapes names of facts and UTF-8 unless the strategy keeps them', async () => {
    const labels = labelsFrom([['k8s.pod', 'p']])
    const layout = layoutFromSeries([{ metric: metricFrom({ name: 'hw.gpu.utilization', type: 'gauge' }), labels }])
    const batch: Batch = { source: createSource(), timeMs: 1000, outcome: 'ok', layout, values: Float64Array.of(1) }
    const writer = await start({ namespace: 'gpu' })
    await give(writer, batch)
    assert.deepEqual(arrived(writer.receiver), { 'gpu_hw_gpu_utilization{k8s_pod="p"}': ['1@1000'] })
    const other = await start({ translation_strategy: 'NoTranslation' })
    await give(other, batch)
    assert.deepEqual(arrived(other.receiver), { 'hw.gpu.utilization{k8s.pod="p"}': ['1@1000'] })
  })

  it('refuses headers of the protocol, and names that cannot be', () => {
    const config = configOf(prometheusRemoteWrite, {
      endpoint: 'http://a/b',
      headers: { 'Content-Type': 'x' },
      external_labels: { __name__: 'x', 'a-b': 'y' },
      namespace: '1',
      write_relabel_configs: [{ action: 'kep' }],
    })
    assert.deepEqual(
      prometheusRemoteWrite.check!(config).map(({ path }) => path.join('.')),
      [
        'external_labels.__name__',
        'external_labels.a-b',
        'namespace',
        'headers.Content-Type',
        'write_relabel_configs.0.action',
      ],
    )
  })

  it('sends what a scrape says, up and down', async () => {
    const pipeline = await startWritePipeline()
    running.push(pipeline)
    pipeline.answer('a{job="own"} 1\n')
    await pipeline.scrape(2)
    pipeline.answer(undefined)
    await pipeline.scrape(1)
    const samples = arrived(pipeline.receiver)
    const series = 'a{exported_job="own",instance="127.0.0.1:9400",job="test"}'
    assert.deepEqual(
      samples[series]!.map(text => text.split('@')[0]),
      ['1', '1', 'stale'],
    )
    assert.deepEqual(
      samples['up{instance="127.0.0.1:9400",job="test"}']!.map(text => text.split('@')[0]),
      ['1', '1', '0'],
    )
  })
})
