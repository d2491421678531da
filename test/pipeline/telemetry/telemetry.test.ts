import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Counters } from '../../../pipeline/component.ts'
import { createNetwork } from '../../../pipeline/http/network.ts'
import { OWN_METRICS, prometheusName, type OwnMetric } from '../../../pipeline/telemetry/own-metrics.ts'
import { createTelemetry, type Telemetry } from '../../../pipeline/telemetry/telemetry.ts'
import { ask } from '../../support/ask.ts'
import { testHost } from '../../support/test-host.ts'

const ACCEPTED = 'gpucol_receiver_accepted_metric_points'
const LIVE = 'gpucol_exporter_live_series'
const anywhere = { address: '127.0.0.1:0' }

describe('telemetry', () => {
  let host = testHost()
  let network = createNetwork(host.clock)
  let telemetry: Telemetry

  beforeEach(async () => {
    host = testHost()
    network = createNetwork(host.clock)
    telemetry = createTelemetry({ clock: host.clock, version: '1.2.3', log: host.log })
  })
  afterEach(() => telemetry.stop(0))

  async function shown(of = telemetry): Promise<string> {
    const answer = await ask(of.address()!, 'GET /metrics')
    assert.equal(answer.status, 200)
    return answer.body
  }

  /** The samples on `/metrics` whose names begin so. */
  async function samples(prefix: string, of = telemetry): Promise<string[]> {
    return (await shown(of)).split('\n').filter(line => line.startsWith(prefix))
  }

  it('names the component that counted', async () => {
    await telemetry.start(anywhere, network)
    telemetry.counters({ kind: 'receiver', id: 'dcgm/a' }).add(ACCEPTED, 3)
    telemetry.counters({ kind: 'receiver', id: 'dcgm/a' }).add(ACCEPTED, 4)
    telemetry.counters({ kind: 'receiver', id: 'say "b"\n' }).add(ACCEPTED, 0.5)
    telemetry.counters({ kind: 'processor', id: 'relabel', pipeline: 'metrics' }).add('gpucol_processor_plans', 1)
    telemetry.counters({ kind: 'exporter', id: 'prometheus' }).observe(LIVE, () => [{ value: 9 }])
    telemetry.counters({ kind: 'extension', id: 'web' }).add('gpucol_http_server_failed_requests', 1)
    assert.deepEqual(await samples('gpucol_receiver'), [
      'gpucol_receiver_accepted_metric_points_total{receiver="dcgm/a"} 7',
      'gpucol_receiver_accepted_metric_points_total{receiver="say \\"b\\"\\n"} 0.5',
    ])
    assert.deepEqual(await samples('gpucol_processor'), [
      'gpucol_processor_plans_total{processor="relabel",pipeline="metrics"} 1',
    ])
    assert.deepEqual(await samples('gpucol_exporter'), ['gpucol_exporter_live_series{exporter="prometheus"} 9'])
    assert.deepEqual(await samples('gpucol_http'), ['gpucol_http_server_failed_requests_total{extension="web"} 1'])
  })

  it('counts by further labels, in whatever order they come', async () => {
    await telemetry.start(anywhere, network)
    const counters = telemetry.counters({ kind: 'exporter', id: 'x' })
    counters.add('gpucol_exporter_requests', 1, { status: '200' })
    counters.add('gpucol_exporter_requests', 2, { status: '406' })
    counters.add('gpucol_exporter_requests', 3, { status: '200' })
    counters.add('gpucol_exporter_requests', 1, { a: '1', b: '2' })
    counters.add('gpucol_exporter_requests', 1, { b: '2', a: '1' })
    assert.deepEqual(await samples('gpucol_exporter'), [
      'gpucol_exporter_requests_total{exporter="x",status="200"} 4',
      'gpucol_exporter_requests_total{exporter="x",status="406"} 2',
      'gpucol_exporter_requests_total{exporter="x",a="1",b="2"} 2',
    ])
  })

  it('shows histograms with the buckets of the table', async () => {
    await telemetry.start(anywhere, network)
    const counters = telemetry.counters({ kind: 'receiver', id: 'dcgm' })
    for (const seconds of [0.0005, 0.02, 40]) counters.record('gpucol_receiver_scrape_duration_seconds', seconds)
    const row = OWN_METRICS.find(metric => metric.name === 'gpucol_receiver_scrape_duration_seconds')!
    assert.deepEqual(await samples('gpucol_receiver_scrape_duration_seconds'), [
      'gpucol_receiver_scrape_duration_seconds_count{receiver="dcgm"} 3',
      'gpucol_receiver_scrape_duration_seconds_sum{receiver="dcgm"} 40.0205',
      ...row.buckets!.map(
        le => `gpucol_receiver_scrape_duration_seconds_bucket{receiver="dcgm",le="${le}"} ${le < 0.02 ? 1 : 2}`,
      ),
      'gpucol_receiver_scrape_duration_seconds_bucket{receiver="dcgm",le="+Inf"} 3',
    ])
  })

  it('refuses to count what is not in the table, or is something else there', () => {
    const counters = telemetry.counters({ kind: 'receiver', id: 'dcgm' })
    const mistakes: (() => void)[] = [
      () => counters.add('gpucol_nothing', 1),
      () => counters.add('__proto__', 1),
      () => counters.add(LIVE, 1),
      () => counters.record(ACCEPTED, 1),
      () => counters.observe('gpucol_receiver_scrape_duration_seconds', () => []),
    ]
    for (const mistake of mistakes) assert.throws(mistake, /in the table of own metrics/)
  })

  it('forgets a gauge with the component that showed it, and keeps its counts', async () => {
    await telemetry.start(anywhere, network)
    const counters = telemetry.counters({ kind: 'exporter', id: 'a' })
    const end = counters.observe(LIVE, () => [{ value: 1 }])
    telemetry.counters({ kind: 'exporter', id: 'b' }).observe(LIVE, () => [{ value: 2 }])
    counters.add('gpucol_exporter_sent_metric_points', 5)
    assert.equal((await samples(LIVE)).length, 2)
    end()
    assert.deepEqual(await samples(LIVE), ['gpucol_exporter_live_series{exporter="b"} 2'])
    assert.deepEqual(await samples('gpucol_exporter_sent'), [
      'gpucol_exporter_sent_metric_points_total{exporter="a"} 5',
    ])
  })

  it('gives the same numbers to all who ask at the same time', async () => {
    await telemetry.start(anywhere, network)
    telemetry.counters({ kind: 'exporter', id: 'a' }).observe(LIVE, () => [{ value: 1 }])
    for (const lines of await Promise.all([1, 2, 3, 4].map(() => samples(LIVE)))) {
      assert.deepEqual(lines, ['gpucol_exporter_live_series{exporter="a"} 1'])
    }
  })

  it('leaves out what cannot be read, and says so once', async () => {
    await telemetry.start(anywhere, network)
    const end = telemetry.counters({ kind: 'exporter', id: 'bad' }).observe(LIVE, () => {
      throw new Error('not now')
    })
    telemetry.counters({ kind: 'exporter', id: 'good' }).observe(LIVE, () => [{ value: 1 }])
    for (let scrape = 0; scrape < 3; scrape++) {
      assert.deepEqual(await samples(LIVE), ['gpucol_exporter_live_series{exporter="good"} 1'])
    }
    end()
    await shown()
    assert.deepEqual(host.logged, ['failing reading own metrics: Error: not now', 'ok reading own metrics'])
  })

  it('keeps the services of one process apart', async () => {
    const other = createTelemetry({ clock: host.clock, version: '9', log: host.log })
    await telemetry.start(anywhere, network)
    await other.start(anywhere, network)
    telemetry.counters({ kind: 'receiver', id: 'mine' }).add(ACCEPTED, 1)
    other.counters({ kind: 'receiver', id: 'other' }).add(ACCEPTED, 2)
    assert.deepEqual(await samples(ACCEPTED), [`${ACCEPTED}_total{receiver="mine"} 1`])
    assert.deepEqual(await samples(ACCEPTED, other), [`${ACCEPTED}_total{receiver="other"} 2`])
    await other.stop(0)
    assert.deepEqual(await samples(ACCEPTED), [`${ACCEPTED}_total{receiver="mine"} 1`])
  })

  it('knows what became of reloads', async () => {
    await telemetry.start(anywhere, network)
    const startSeconds = host.clock.now() / 1000
    async function check(successful: number, ok: number, failed: number, seconds: number): Promise<void> {
      assert.deepEqual(await samples('gpucol_config'), [
        `gpucol_config_reloads_total{outcome="ok"} ${ok}`,
        `gpucol_config_reloads_total{outcome="failed"} ${failed}`,
        `gpucol_config_last_reload_successful ${successful}`,
        `gpucol_config_last_reload_success_timestamp_seconds ${seconds}`,
      ])
    }
    await check(1, 0, 0, startSeconds)
    await host.clock.advance(60_000)
    telemetry.reloaded('failed')
    await check(0, 0, 1, startSeconds)
    await host.clock.advance(60_000)
    telemetry.reloaded('ok')
    await check(1, 1, 1, startSeconds + 120)
  })

  it('shows the process', async () => {
    await telemetry.start(anywhere, network)
    await host.clock.advance(90_000)
    const lines = await samples('gpucol_process')
    const value = (name: string): number => Number(lines.find(line => line.startsWith(`${name} `))?.split(' ')[1])
    assert.equal(value('gpucol_process_uptime_seconds_total'), 90)
    assert.ok(value('gpucol_process_cpu_seconds_total') > 0)
    assert.ok(value('gpucol_process_memory_rss_bytes') > value('gpucol_process_heap_used_bytes'))
    assert.ok(value('gpucol_process_heap_used_bytes') > 1e6)
    assert.ok(value('gpucol_process_interned_label_sets') >= 1)
    assert.deepEqual(await samples('gpucol_build_info'), [
      `gpucol_build_info{version="1.2.3",node="${process.versions.node}"} 1`,
    ])
  })

  it('notices an event loop that is blocked', async () => {
    await telemetry.start(anywhere, network)
    let longest = 0
    for (let attempt = 0; attempt < 50 && longest < 0.05; attempt++) {
      const endMs = performance.now() + 80
      while (performance.now() < endMs);
      await host.clock.advance(10_000)
      const [line] = await samples('gpucol_process_event_loop_delay_max_seconds')
      longest = Number(line!.split(' ')[1])
    }
    assert.ok(longest >= 0.05, `${longest}`)
  })

  describe('at its address', () => {
    const requests: [line: string, status: number][] = [
      ['GET /metrics', 200],
      ['HEAD /metrics', 200],
      ['POST /metrics', 405],
      ['GET /', 404],
      ['GET /metrics/x', 404],
    ]
    for (const [line, status] of requests) {
      it(`answers ${line} with ${status}`, async () => {
        await telemetry.start(anywhere, network)
        const answer = await ask(telemetry.address()!, line)
        assert.equal(answer.status, status)
        if (status === 200) assert.equal(answer.headers['content-type'], 'text/plain; version=0.0.4; charset=utf-8')
      })
    }

    it('rejects at the start if somebody else has it', async () => {
      const taken = await network.listen('127.0.0.1:0', () => {})
      await assert.rejects(telemetry.start({ address: taken.address }, network), {
        message: `own metrics (service.telemetry.metrics.address) cannot be served: ${taken.address} is in use by another process`,
      })
      await taken.close(0)
    })

    it('serves nothing if that is none', async () => {
      await telemetry.start({ address: 'none' }, network)
      assert.equal(telemetry.address(), undefined)
    })

    it('moves with a reload, and stays if it cannot', async () => {
      await telemetry.start(anywhere, network)
      const first = telemetry.address()!
      await telemetry.apply(anywhere)
      assert.equal(telemetry.address(), first)

      await telemetry.apply({ address: 'localhost:0' })
      const second = telemetry.address()!
      assert.equal((await ask(second, 'GET /metrics')).status, 200)
      await assert.rejects(ask(first, 'GET /metrics'), /ECONNREFUSED/)

      const taken = await network.listen('127.0.0.1:0', () => {})
      await assert.rejects(telemetry.apply({ address: taken.address }), /in use/)
      await taken.close(0)
      assert.equal((await ask(second, 'GET /metrics')).status, 200)

      await telemetry.apply({ address: 'none' })
      assert.equal(telemetry.address(), undefined)
      await assert.rejects(ask(second, 'GET /metrics'), /ECONNREFUSED/)
    })

    it('is given up by stop, which may come twice or without a start', async () => {
      await telemetry.start(anywhere, network)
      const address = telemetry.address()!
      await telemetry.stop(0)
      await telemetry.stop(0)
      await assert.rejects(ask(address, 'GET /metrics'), /ECONNREFUSED/)
      const idle = createTelemetry({ clock: host.clock, version: '1', log: host.log })
      await idle.stop(0)
    })
  })

  describe('with every metric of the table', () => {
    beforeEach(async () => {
      await telemetry.start(anywhere, network)
      for (const metric of OWN_METRICS) emit(metric, telemetry)
    })

    it('shows those and no others, with the labels of the table and no others', async () => {
      const names = new Set<string>()
      for (const line of await samples('gpucol_')) {
        const [, name, , labels = ''] = /^(\w+)(\{(.*)\})? \S+$/.exec(line)!
        const metric = OWN_METRICS.find(metric => prometheusName(metric) === name!.replace(/_(bucket|sum|count)$/, ''))
        assert.ok(metric, line)
        names.add(metric.name)
        for (const [, label] of labels.matchAll(/(\w+)="/g)) {
          assert.ok(metric.labels.includes(label!) || (label === 'le' && metric.kind === 'histogram'), line)
        }
      }
      assert.deepEqual(names, new Set(OWN_METRICS.map(metric => metric.name)))
      assert.deepEqual(
        (await shown()).split('\n').filter(line => line !== '' && !/^(# (HELP|UNIT|TYPE) )?gpucol_/.test(line)),
        [],
      )
    })

    it('gives promtool no reason to complain', async function () {
      const { error, status, stderr, stdout } = spawnSync('promtool', ['check', 'metrics'], {
        input: await shown(),
        encoding: 'utf8',
      })
      if (error !== undefined) {
        process.stderr.write(`skipped, there is no promtool here: ${error.message}\n`)
        this.skip()
      }
      assert.equal(stderr + stdout, '')
      assert.equal(status, 0)
    })
  })

  it('loads the SDK only for a service that runs', () => {
    const root = join(import.meta.dirname, '../../..')
    for (const file of globSync(['pipeline/**/*.ts', 'receivers/**/*.ts', 'processors/**/*.ts', 'exporters/**/*.ts'], {
      cwd: root,
    })) {
      assert.doesNotMatch(readFileSync(join(root, file), 'utf8'), /^import (?!type ).*'@opentelemetry/m, file)
    }
  })
})

/** Shows a metric in the name of a component that has it, unless the process shows it by itself. */
function emit(metric: OwnMetric, telemetry: Telemetry): void {
  const [own, ...labels] = metric.labels
  if (own !== 'receiver' && own !== 'processor' && own !== 'exporter') return
  const further = Object.fromEntries(
    labels.filter(label => !['pipeline', 'extension'].includes(label)).map(label => [label, 'x']),
  )
  const counters: Counters = telemetry.counters({
    kind: own,
    id: 'x',
    ...(own === 'processor' && { pipeline: 'metrics' }),
  })
  if (metric.kind === 'counter') counters.add(metric.name, 1, further)
  else if (metric.kind === 'histogram') counters.record(metric.name, 1, further)
  else counters.observe(metric.name, () => [{ value: 1, labels: further }])
}
