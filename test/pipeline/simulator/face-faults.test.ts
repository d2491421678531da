/** Faults of the servers that every node has, besides dcgm-exporter: the same as there, each in its own way. */
import assert from 'node:assert/strict'
import { get, type IncomingMessage } from 'node:http'
import { once } from 'node:events'
import { byName, samplesIn, type Sample } from './samples.ts'
import { START_MS, startTestSimulation, type TestSimulation } from './test-simulation.ts'

const FACES = [
  { face: 'kubelet', path: '/metrics/resource' },
  { face: 'kubelet', path: '/metrics/cadvisor' },
  { face: 'node_exporter', path: '/node-exporter/metrics' },
  { face: 'runai_node_exporter', path: '/runai-node-exporter/metrics' },
]

describe('faults of the servers of a simulated node', () => {
  let simulation: TestSimulation | undefined
  afterEach(async () => {
    await simulation?.end()
    simulation = undefined
  })

  /** From the first minute on, for a minute, on the first node, unless told otherwise. */
  async function withFault(fault: Record<string, unknown>): Promise<TestSimulation> {
    simulation = await startTestSimulation({ faults: [{ from: '1m', for: '1m', endpoints: ['node-0'], ...fault }] })
    return simulation
  }

  for (const { face, path } of FACES) {
    const scrape = (test: TestSimulation, node = 0): Promise<Response> =>
      fetch(`http://${test.address}/nodes/node-${node}${path}`)

    it(`error: hits ${path} of its node, and nothing else`, async () => {
      const test = await withFault({ kind: 'error', status: 503, face })
      assert.equal((await scrape(test)).status, 200)
      await test.clock.advance(60_000)
      assert.equal((await scrape(test)).status, 503)
      assert.equal((await scrape(test, 1)).status, 200)
      assert.equal((await fetch(`http://${test.address}/nodes/node-0/metrics`)).status, 200)
      for (const other of FACES) {
        const { status } = await fetch(`http://${test.address}/nodes/node-0${other.path}`)
        assert.equal(status, other.face === face ? 503 : 200)
      }
      await test.clock.advance(60_000)
      assert.equal((await scrape(test)).status, 200)
    })

    it(`refuse: hangs up at ${path}`, async () => {
      const test = await withFault({ kind: 'refuse', face })
      await test.clock.advance(60_000)
      await assert.rejects(scrape(test))
      assert.equal((await scrape(test, 1)).status, 200)
    })

    it(`truncate: breaks off in the middle of ${path}, compressed or not`, async () => {
      const test = await withFault({ kind: 'truncate', share: 0.5, face })
      await test.clock.advance(60_000)
      for (const headers of [{}, { 'accept-encoding': 'gzip' }]) {
        const response = await new Promise<IncomingMessage>(resolve =>
          get(`http://${test.address}/nodes/node-0${path}`, { headers }, resolve),
        )
        response.resume()
        await once(response, 'error')
        assert.equal(response.complete, false)
      }
    })

    it(`garbage and duplicate_rows: spoil ${path}`, async () => {
      const test = await startTestSimulation({
        faults: [
          { kind: 'garbage', face, endpoints: ['node-0'] },
          { kind: 'duplicate_rows', face, endpoints: ['node-1'] },
        ],
      })
      simulation = test
      const garbage = await (await scrape(test, 0)).text()
      assert.throws(() => samplesIn(garbage), /no sample|no labels/)
      const lines = (await (await scrape(test, 1)).text()).split('\n')
      assert.ok(lines.some((line, at) => line !== '' && line === lines[at - 1]))
    })
  }

  it('sentinel: leaves the times of samples alone', async () => {
    const test = await withFault({ kind: 'sentinel', share: 1, face: 'kubelet' })
    const read = async (): Promise<Sample[]> => samplesIn(await test.text('/nodes/node-0/metrics/resource'))
    await test.clock.advance(60_000)
    const samples = await read()
    for (const { value } of samples) assert.match(value, /^(2147483632|922337203685477579\d|140737488355328\.0+)$/)
    const times = new Set(samples.flatMap(({ timeMs }) => timeMs ?? []))
    assert.equal(times.size, 1)
    for (const time of times) assert.ok(time > START_MS + 50_000 && time <= START_MS + 60_000)
  })

  it('clock_skew: a kubelet stamps its samples wrongly, and a node tells the wrong time', async () => {
    const test = await startTestSimulation({
      faults: ['kubelet', 'node_exporter'].map(face => ({
        kind: 'clock_skew',
        face,
        endpoints: ['node-0'],
        skew_seconds: 3600,
      })),
    })
    simulation = test
    const times = async (node: number): Promise<number[]> =>
      samplesIn(await test.text(`/nodes/node-${node}/metrics/cadvisor`)).flatMap(({ timeMs }) => timeMs ?? [])
    for (const time of await times(0)) assert.ok(time > START_MS + 3_580_000 && time <= START_MS + 3_600_000)
    for (const time of await times(1)) assert.ok(time > START_MS - 20_000 && time <= START_MS)
    const shown = async (node: number): Promise<number> =>
      Number(
        byName(samplesIn(await test.text(`/nodes/node-${node}/node-exporter/metrics`))).get('node_time_seconds')![0]!
          .value,
      )
    assert.equal((await shown(0)) - (await shown(1)), 3600)
  })

  for (const face of ['kubelet', 'node_exporter']) {
    it(`restart: of ${face} is a boot of the node, whose counters begin at zero wherever they are shown`, async () => {
      const test = await withFault({ kind: 'restart', face, for: '30s', every: '10m' })
      const one = async (node: number, path: string, name: string): Promise<number> =>
        Number(byName(samplesIn(await test.text(`/nodes/node-${node}${path}`))).get(name)![0]!.value)
      const counters = async (node: number): Promise<number[]> => [
        await one(node, '/metrics/resource', 'node_cpu_usage_seconds_total'),
        await one(node, '/metrics/cadvisor', 'container_cpu_usage_seconds_total'),
        await one(node, '/node-exporter/metrics', 'node_cpu_seconds_total'),
      ]
      const before = await counters(0)
      const other = await counters(1)
      await test.clock.advance(70_000)
      await assert.rejects(
        test.text(face === 'kubelet' ? '/nodes/node-0/metrics/resource' : '/nodes/node-0/node-exporter/metrics'),
      )
      // The kubelet has no sample from after the boot before its next one.
      await test.clock.advance(40_000)
      const after = await counters(0)
      for (const [at, value] of after.entries()) assert.ok(before[at]! > 1e5 && value < 5000 && value > 0, `${value}`)
      assert.equal(await one(0, '/node-exporter/metrics', 'node_boot_time_seconds'), (START_MS + 90_000) / 1000)
      for (const [at, value] of (await counters(1)).entries()) assert.ok(value >= other[at]!)
      await test.clock.advance(300_000)
      const later = await counters(0)
      for (const [at, value] of later.entries()) assert.ok(value > after[at]!)
      await test.clock.advance(300_000)
      for (const [at, value] of (await counters(0)).entries()) assert.ok(value < later[at]!)
    })
  }
})
