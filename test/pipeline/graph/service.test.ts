import assert from 'node:assert/strict'
import { RefusedError } from '../../../pipeline/component.ts'
import type { LoadedConfig } from '../../../pipeline/config/loaded-config.ts'
import { observeExporter } from '../../../pipeline/graph/observe.ts'
import { createStopwatch } from '../../../pipeline/graph/stopwatch.ts'
import { createService, type Service, type Surroundings } from '../../../pipeline/graph/service.ts'
import { createLog } from '../../../pipeline/telemetry/log.ts'
import {
  fakeBatch,
  fakeComponents,
  fakeSource,
  type FakeConfig,
  type FakeParts,
  type FakeWorld,
} from '../../support/fake-components.ts'
import { testHost, type TestHost } from '../../support/test-host.ts'

type World = FakeWorld & {
  host: TestHost
  lines: string[]
  reloads: string[]
  service: Service
  reloadTo(parts: FakeParts): void
  next: { load: () => Promise<LoadedConfig> }
}

function worldOf(parts: FakeParts): World {
  const fakes = fakeComponents()
  const host = testHost()
  const lines: string[] = []
  const reloads: string[] = []
  const surroundings: Surroundings = {
    ...host,
    version: '1.2.3',
    reloaded: outcome => void reloads.push(outcome),
    log: createLog({ level: 'info', encoding: 'console', write: line => lines.push(line), now: () => 0 }),
    counters: component => ({
      ...host.counters,
      add: (name, amount, labels) => host.counters.add(name, amount, { ...labels, id: component.id }),
      counter: (name, labels) => host.counters.counter(name, { ...labels, id: component.id }),
    }),
  }
  const next = { load: () => Promise.resolve(fakes.config(parts)) }
  const service = createService(fakes.config(parts), surroundings, () => next.load())
  return {
    ...fakes,
    host,
    lines,
    reloads,
    service,
    next,
    reloadTo: changed => (next.load = () => Promise.resolve(fakes.config(changed))),
  }
}

const one: FakeParts = {
  receivers: { r: {} },
  processors: { p: {}, q: {} },
  exporters: { e: {} },
  extensions: { x: {} },
  pipelines: { metrics: [['r'], ['p', 'q'], ['e']] },
}

describe('the service', () => {
  it('starts what is behind first and stops receivers first', async () => {
    const { service, events } = worldOf(one)
    assert.equal(service.state(), 'starting')
    await service.start()
    assert.equal(service.state(), 'running')
    await service.stop(1000)
    assert.equal(service.state(), 'stopped')
    const order = ['extension x', 'exporter e', 'processor q', 'processor p', 'receiver r']
    assert.deepEqual(events, [...order.map(node => `start ${node}`), ...order.toReversed().map(node => `stop ${node}`)])
    await service.stop(1000)
    assert.equal(events.length, 10, 'stopping again does nothing')
  })

  it('stops what it had started when one component cannot be started, and says which', async () => {
    const { service, events } = worldOf({ ...one, receivers: { r: { failStart: 'no such host: gpu-a' } } })
    await assert.rejects(service.start(), { name: 'StartError', message: 'receiver r: no such host: gpu-a' })
    assert.equal(events.filter(event => event.startsWith('stop')).length, 5)
  })

  it('leaves behind a component that does not stop in time', async () => {
    const { service, events, lines, host } = worldOf({ ...one, exporters: { e: { hangStop: true } } })
    await service.start()
    const stopped = service.stop(host.clock.monotonic() + 1000)
    await host.clock.advance(1400)
    assert.ok(!events.includes('stop extension x'))
    await host.clock.advance(200)
    await stopped
    assert.ok(events.includes('stop extension x'))
    assert.match(lines.join(''), /exporter e {2}did not stop in time/)
  })

  it('stops all exporters at once, so that one takes no time from the others', async () => {
    const { service, events } = worldOf({
      ...one,
      exporters: { e: { hangStop: true }, f: {} },
      pipelines: { metrics: [['r'], [], ['e', 'f']] },
    })
    await service.start()
    void service.stop(1000)
    await new Promise(resolve => setImmediate(resolve))
    assert.ok(events.includes('stop exporter e') && events.includes('stop exporter f'))
  })

  it('gives every exporter of a pipeline the same batch, not a copy', async () => {
    const { service, receivers, exported } = worldOf({
      ...one,
      exporters: { e: {}, f: {} },
      pipelines: { metrics: [['r'], [], ['e', 'f']] },
    })
    await service.start()
    receivers.get('r')!(fakeBatch(fakeSource('t')))
    assert.equal(exported.get('e')![0], exported.get('f')![0])
  })

  it('counts what each node received, sent, dropped and refused', async () => {
    const { service, receivers, host } = worldOf(one)
    await service.start()
    receivers.get('r')!(fakeBatch(fakeSource('t')))
    assert.equal(host.counted.get('gpucol_receiver_accepted_metric_points{id="r"}'), 1)
    assert.equal(host.counted.get('gpucol_processor_incoming_metric_points{id="p"}'), 1)
    assert.equal(host.counted.get('gpucol_processor_outgoing_metric_points{id="q"}'), 1)
    assert.equal(host.counted.get('gpucol_exporter_sent_metric_points{id="e"}'), 1)
    assert.equal(host.counted.get('gpucol_processor_duration_seconds_count'), 2)
  })

  it('leaves it to an exporter that delivers later to count what it delivered', () => {
    const host = testHost()
    const batches: unknown[] = []
    const consume = observeExporter(host, createStopwatch(host.clock), {
      consume: batch => batches.push(batch),
      countsDelivery: true,
    })
    consume(fakeBatch(fakeSource('t')))
    assert.equal(batches.length, 1)
    assert.equal(host.counted.get('gpucol_exporter_sent_metric_points'), undefined)
  })

  it('does not let a failing branch stop the others, and says once that it fails', async () => {
    const { service, receivers, exported, host, lines } = worldOf({
      receivers: { r: {} },
      processors: { bad: { failConsume: new Error('broken') } },
      exporters: { e: {}, f: { failConsume: new Error('disk full') } },
      pipelines: { 'metrics/a': [['r'], ['bad'], ['e']], 'metrics/b': [['r'], [], ['e', 'f']] },
    })
    await service.start()
    for (let i = 0; i < 3; i++) receivers.get('r')!(fakeBatch(fakeSource('t')))
    assert.equal(exported.get('e')!.length, 3)
    assert.equal(host.counted.get('gpucol_processor_dropped_metric_points{id="bad"}'), 3)
    assert.equal(host.counted.get('gpucol_exporter_send_failed_metric_points{id="f",reason="failed"}'), 3)
    assert.equal(lines.filter(line => line.includes('disk full')).length, 1)
    assert.deepEqual(
      service
        .components()
        .filter(({ state }) => state === 'failing')
        .map(({ id }) => id),
      ['f', 'bad'],
    )
  })

  it('tells a receiver that its batch was refused only if nobody took it', async () => {
    const refusing = { failConsume: new RefusedError('the queue is full') }
    const { service, receivers, host } = worldOf({
      receivers: { both: {}, none: {} },
      exporters: { e: {}, f: refusing },
      pipelines: { 'metrics/a': [['both'], [], ['e', 'f']], 'metrics/b': [['none'], [], ['f']] },
    })
    await service.start()
    receivers.get('both')!(fakeBatch(fakeSource('t')))
    assert.throws(() => receivers.get('none')!(fakeBatch(fakeSource('t'))), RefusedError)
    assert.equal(host.counted.get('gpucol_exporter_refused_metric_points{id="f"}'), 2)
    assert.equal(host.counted.get('gpucol_receiver_refused_metric_points{id="none"}'), 1)
    assert.equal(host.counted.get('gpucol_receiver_accepted_metric_points{id="both"}'), 1)
  })

  it('makes the targets of a receiver other sources in each pipeline', async () => {
    const { service, receivers, exported } = worldOf({
      receivers: { r: {} },
      exporters: { e: {} },
      pipelines: { 'metrics/a': [['r'], [], ['e']], 'metrics/b': [['r'], [], ['e']] },
    })
    await service.start()
    const source = fakeSource('t')
    for (let i = 0; i < 2; i++) receivers.get('r')!(fakeBatch(source))
    const sources = exported.get('e')!.map(batch => batch.source)
    assert.equal(new Set(sources).size, 2)
    assert.equal(sources[0], sources[2])
  })
})

describe('a reload', () => {
  it('keeps what did not change and exchanges what did', async () => {
    const { service, events, receivers, exported, reloadTo } = worldOf(one)
    await service.start()
    const handOn = receivers.get('r')!
    events.length = 0
    reloadTo({ ...one, processors: { p: {}, q: { v: 2 } }, extensions: {} })
    const result = await service.reload()
    assert.deepEqual(result, { ok: true, changed: ['~ processor metrics q', '- extension x'] })
    assert.deepEqual(events, ['stop processor q', 'stop extension x', 'start processor q'])
    handOn(fakeBatch(fakeSource('t')))
    assert.equal(exported.get('e')!.length, 1, 'the receiver that was kept reaches the exporter')
  })

  it('loses no batch while it runs', async () => {
    const { service, receivers, exported, reloadTo } = worldOf({
      ...one,
      exporters: { e: {}, f: { port: 'p' } },
      pipelines: { metrics: [['r'], ['p'], ['e', 'f']] },
    })
    await service.start()
    const source = fakeSource('t')
    reloadTo({
      ...one,
      exporters: { e: {}, f: { port: 'p', v: 2 } },
      pipelines: { metrics: [['r'], ['p'], ['e', 'f']] },
    })
    let done = false
    const reloaded = service.reload().finally(() => (done = true))
    let sent = 0
    while (!done) {
      receivers.get('r')!(fakeBatch(source, ++sent))
      await Promise.resolve()
    }
    await reloaded
    assert.ok(sent > 3)
    assert.deepEqual(
      exported.get('e')!.map(batch => batch.values[0]),
      Array.from({ length: sent }, (_, i) => i + 1),
    )
    assert.deepEqual(
      exported.get('f')!.map(batch => batch.values[0]),
      Array.from({ length: sent }, (_, i) => i + 1),
    )
  })

  it('goes on with the old graph when the new config is bad', async () => {
    const { service, events, receivers, exported, next, reloads, lines } = worldOf(one)
    await service.start()
    events.length = 0
    next.load = () => Promise.reject(new Error('gpucol.yaml:3:1: unknown key "recievers"'))
    const result = await service.reload()
    assert.deepEqual(result, { ok: false, error: 'gpucol.yaml:3:1: unknown key "recievers"' })
    assert.deepEqual(events, [])
    receivers.get('r')!(fakeBatch(fakeSource('t')))
    assert.equal(exported.get('e')!.length, 1)
    assert.deepEqual(reloads, ['failed'])
    assert.match(lines.join(''), /error .*the one before goes on: gpucol\.yaml:3:1/)
  })

  it('touches nothing when something new cannot be started', async () => {
    const { service, events, receivers, exported, reloadTo } = worldOf(one)
    await service.start()
    events.length = 0
    reloadTo({
      ...one,
      exporters: { e: {}, f: { failStart: '127.0.0.1:9464 is in use' } },
      pipelines: { metrics: [['r'], ['p', 'q'], ['e', 'f']] },
    })
    assert.deepEqual(await service.reload(), { ok: false, error: 'exporter f: 127.0.0.1:9464 is in use' })
    assert.deepEqual(events, ['start exporter f', 'stop exporter f'])
    receivers.get('r')!(fakeBatch(fakeSource('t')))
    assert.equal(exported.get('e')!.length, 1)
    assert.equal(exported.get('f'), undefined)
  })

  it('puts back what it had exchanged when the rest cannot be started', async () => {
    const { service, events, receivers, exported, reloadTo } = worldOf(one)
    await service.start()
    reloadTo({ ...one, receivers: { r: { v: 2 } }, exporters: { e: { v: 2, failStart: 'no' } } })
    assert.equal((await service.reload()).ok, false)
    assert.deepEqual(
      service.components().map(({ state }) => state),
      ['ok', 'ok', 'ok', 'ok', 'ok'],
    )
    exported.clear()
    receivers.get('r')!(fakeBatch(fakeSource('t')))
    assert.equal(exported.get('e')!.length, 1)
    events.length = 0
    reloadTo({ ...one, extensions: {} })
    assert.deepEqual(await service.reload(), { ok: true, changed: ['- extension x'] })
  })

  it('ends the series of a pipeline that is taken away from an exporter that stays', async () => {
    const two: FakeParts = {
      receivers: { r: {} },
      exporters: { e: {} },
      pipelines: { 'metrics/a': [['r'], [], ['e']], 'metrics/b': [['r'], [], ['e']] },
    }
    const { service, receivers, exported, reloadTo } = worldOf(two)
    await service.start()
    receivers.get('r')!(fakeBatch(fakeSource('t')))
    const [a, b] = exported.get('e')!.map(batch => batch.source)
    exported.clear()
    reloadTo({ ...two, pipelines: { 'metrics/a': [['r'], [], ['e']] } })
    await service.reload()
    assert.deepEqual(
      exported.get('e')!.map(({ source, outcome }) => [source === b, outcome]),
      [[true, 'removed']],
    )
    receivers.get('r')!(fakeBatch(fakeSource('t')))
    assert.notEqual(a, b)
  })

  it('ends the series of a receiver that is taken away', async () => {
    const two: FakeParts = {
      receivers: { r: {}, s: {} },
      exporters: { e: {} },
      pipelines: { metrics: [['r', 's'], [], ['e']] },
    }
    const { service, receivers, exported, reloadTo } = worldOf(two)
    await service.start()
    receivers.get('s')!(fakeBatch(fakeSource('gone')))
    exported.clear()
    reloadTo({ ...two, pipelines: { metrics: [['r'], [], ['e']] } })
    await service.reload()
    assert.deepEqual(
      exported.get('e')!.map(({ source, outcome }) => [source.name, outcome]),
      [['gone', 'removed']],
    )
  })

  it('ends what a processor has made itself that is taken away, and leaves it to one that takes its place', async () => {
    const parts = (processors: Record<string, FakeConfig>): FakeParts => ({
      receivers: { r: {} },
      processors,
      exporters: { e: {} },
      pipelines: { metrics: [['r'], Object.keys(processors), ['e']] },
    })
    const { service, receivers, exported, reloadTo } = worldOf(parts({ p: { makes: 'sums' } }))
    await service.start()
    receivers.get('r')!(fakeBatch(fakeSource('t')))
    exported.clear()
    reloadTo(parts({ p: { makes: 'sums', v: 2 } }))
    await service.reload()
    assert.deepEqual([...exported], [])
    receivers.get('r')!(fakeBatch(fakeSource('t')))
    exported.clear()
    reloadTo(parts({}))
    await service.reload()
    assert.deepEqual(
      exported.get('e')!.map(({ source, outcome }) => [source.name, outcome]),
      [['sums', 'removed']],
    )
  })

  it('comes after one that is under way', async () => {
    const { service, reloadTo, events } = worldOf(one)
    await service.start()
    reloadTo({ ...one, exporters: { e: { v: 2 } } })
    const results = await Promise.all([service.reload(), service.reload()])
    assert.deepEqual(
      results.map(result => result.ok && result.changed.length),
      [1, 0],
    )
    assert.equal(events.filter(event => event === 'start exporter e').length, 2)
  })
})
