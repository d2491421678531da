/** Every fault, as a client meets it. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { byName, samplesIn } from './samples.ts'
import { START_MS, startTestSimulation, type TestSimulation } from './test-simulation.ts'

const PATH = '/nodes/node-0/metrics'

type Seen = { readonly status: number; readonly headers: Headers; readonly text: string }

describe('faults of the simulated cluster', () => {
  let simulation: TestSimulation | undefined
  afterEach(async () => {
    await simulation?.end()
    simulation = undefined
  })

  /** From the first minute on, for a minute, unless told otherwise. */
  async function withFault(
    fault: Record<string, unknown>,
    more: Record<string, unknown> = {},
  ): Promise<TestSimulation> {
    simulation = await startTestSimulation({ faults: [{ from: '1m', for: '1m', ...fault }], ...more })
    return simulation
  }

  async function fetchText({ address }: TestSimulation, path = PATH): Promise<Seen> {
    const response = await fetch(`http://${address}${path}`)
    return { status: response.status, headers: response.headers, text: await response.text() }
  }

  async function codeOf(work: Promise<unknown>): Promise<string | undefined> {
    const error = await work.then(
      () => assert.fail('it was answered'),
      (error: Error & { code?: string }) => error,
    )
    return error.code ?? (error.cause as { code?: string } | undefined)?.code
  }

  it('come and go by the clock, at their endpoints only', async () => {
    const { clock, ...simulated } = await withFault({ kind: 'error', endpoints: ['node-0'], every: '5m' })
    const test = { clock, ...simulated } as TestSimulation
    const statuses: number[] = []
    for (let minute = 0; minute < 8; minute++) {
      statuses.push((await fetchText(test)).status)
      assert.equal((await fetchText(test, '/nodes/node-1/metrics')).status, 200)
      assert.equal((await fetchText(test, '/kube-state-metrics/metrics')).status, 200)
      await clock.advance(60_000)
    }
    assert.deepEqual(statuses, [200, 500, 200, 200, 200, 200, 500, 200])
  })

  it('error: answers with a status', async () => {
    const test = await withFault({ kind: 'error', status: 503, face: 'kube_state_metrics' })
    await test.clock.advance(60_000)
    const { status, text } = await fetchText(test, '/kube-state-metrics/metrics')
    assert.equal(status, 503)
    assert.equal(text, 'something went wrong\n')
  })

  it('slow: answers only after a while, with what is then', async () => {
    const test = await withFault({ kind: 'slow', delay: '20s' })
    await test.clock.advance(60_000)
    let answered = false
    const answer = fetchText(test).then(seen => {
      answered = true
      return seen
    })
    await requestArrives(test)
    await test.clock.advance(19_000)
    assert.equal(answered, false)
    await test.clock.advance(1000)
    const { headers, text } = await answer
    assert.equal(headers.get('date'), new Date(START_MS + 80_000).toUTCString())
    assert.ok(samplesIn(text).length > 100)
  })

  it('hang: never answers', async () => {
    const test = await withFault({ kind: 'hang' })
    await test.clock.advance(60_000)
    const abort = new AbortController()
    const answer = fetch(`http://${test.address}${PATH}`, { signal: abort.signal })
    await requestArrives(test)
    await test.clock.advance(600_000)
    abort.abort()
    await assert.rejects(answer, { name: 'AbortError' })
  })

  it('refuse: hangs up without a word on the listener for everything', async () => {
    const test = await withFault({ kind: 'refuse' })
    await test.clock.advance(60_000)
    assert.ok(['ECONNRESET', 'UND_ERR_SOCKET'].includes((await codeOf(fetchText(test)))!))
    await test.clock.advance(60_000)
    assert.equal((await fetchText(test)).status, 200)
  })

  it('refuse: refuses connections to the listener of the node, and takes them again afterwards', async () => {
    const test = await withFault({ kind: 'refuse', endpoints: ['node-0'] }, { node_ports: true })
    const [first, second] = test.nodeAddresses
    const scrape = async (address: string): Promise<number> => (await fetch(`http://${address}/metrics`)).status
    assert.equal(await scrape(first!), 200)
    await test.clock.advance(61_000)
    assert.equal(await codeOf(scrape(first!)), 'ECONNREFUSED')
    assert.equal(await scrape(second!), 200)
    await test.clock.advance(61_000)
    assert.equal(await scrape(first!), 200)
  })

  it('truncate: breaks off in the middle', async () => {
    const test = await withFault({ kind: 'truncate', share: 0.25 })
    const { text: whole } = await fetchText(test)
    await test.clock.advance(60_000)
    const response = await new Promise<IncomingMessage>(resolve => get(`http://${test.address}${PATH}`, resolve))
    let text = ''
    response.setEncoding('latin1').on('data', (chunk: string) => (text += chunk))
    const [error] = (await once(response, 'error')) as [Error & { code: string }]
    assert.equal(error.code, 'ECONNRESET')
    assert.equal(response.complete, false)
    assert.ok(Math.abs(text.length / whole.length - 0.25) < 0.02)
  })

  it('garbage: mixes in lines that are no samples', async () => {
    const test = await withFault({ kind: 'garbage', share: 0.1 })
    await test.clock.advance(60_000)
    const { status, text } = await fetchText(test)
    assert.equal(status, 200)
    assert.throws(() => samplesIn(text), /no sample|no labels/)
    const good = text.split('\n').filter(line => /^DCGM_FI_DEV_POWER_USAGE\{.*\} \d+\.\d{6}$/.test(line))
    assert.equal(good.length, 8)
  })

  it('sentinel: prints values that stand for none', async () => {
    const test = await withFault({ kind: 'sentinel', share: 0.2 })
    await test.clock.advance(60_000)
    const samples = samplesIn((await fetchText(test)).text)
    const sentinels = samples.filter(({ value }) =>
      /^(2147483632|922337203685477579\d|140737488355328\.0+)$/.test(value),
    )
    assert.ok(sentinels.length > 10 && sentinels.length < 0.5 * samples.length)
  })

  it('out_of_range: prints utilisation and temperatures that cannot be', async () => {
    const test = await withFault({ kind: 'out_of_range', share: 0.5 })
    await test.clock.advance(60_000)
    const samples = samplesIn((await fetchText(test)).text)
    const beyond = samples.filter(
      ({ name, value }) => /_UTIL$|_TEMP$/.test(name) && (Number(value) > 200 || Number(value) < 0),
    )
    assert.ok(beyond.length > 5)
    assert.ok(
      byName(samples)
        .get('DCGM_FI_DEV_POWER_USAGE')!
        .every(({ value }) => Number(value) < 1000),
    )
  })

  it('duplicate_rows: prints lines twice', async () => {
    const test = await withFault({ kind: 'duplicate_rows', share: 0.2 })
    await test.clock.advance(60_000)
    const lines = (await fetchText(test)).text.split('\n')
    const repeated = lines.filter((line, at) => line !== '' && line === lines[at - 1])
    assert.ok(repeated.length > 10)
  })

  it('restart: is away for a while and then counts from zero, again and again', async () => {
    const test = await withFault({ kind: 'restart', endpoints: ['node-0'], for: '30s', every: '10m' })
    const energy = async (node: number): Promise<number> => {
      const { text } = await fetchText(test, `/nodes/node-${node}/metrics`)
      return Number(byName(samplesIn(text)).get('DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION')![0]!.value)
    }
    const before = await energy(0)
    const other = await energy(1)
    await test.clock.advance(70_000)
    assert.ok((await codeOf(fetchText(test))) !== undefined)
    await test.clock.advance(30_000)
    const after = await energy(0)
    assert.ok(before > 1e9 && after < 1e7 && after > 0, `${before}, then ${after}`)
    assert.ok((await energy(1)) > other)
    await test.clock.advance(300_000)
    const later = await energy(0)
    assert.ok(later > after)
    await test.clock.advance(300_000)
    assert.ok((await energy(0)) < later)
  })

  it('clock_skew: the server thinks it is another time', async () => {
    const test = await withFault({ kind: 'clock_skew', skew_seconds: -90 })
    assert.equal((await fetchText(test)).headers.get('date'), new Date(START_MS).toUTCString())
    await test.clock.advance(60_000)
    assert.equal((await fetchText(test)).headers.get('date'), new Date(START_MS - 30_000).toUTCString())
  })

  it('error: is a Status of the Kubernetes API', async () => {
    const test = await withFault({ kind: 'error', status: 503, face: 'kubernetes_api' })
    assert.equal((await fetchText(test, '/api/v1/nodes')).status, 200)
    await test.clock.advance(60_000)
    const { status, text } = await fetchText(test, '/api/v1/nodes')
    assert.equal(status, 503)
    assert.equal((JSON.parse(text) as { kind: string }).kind, 'Status')
  })

  for (const kind of ['drop_watches', 'hang_watches']) {
    it(`${kind}: ${kind === 'drop_watches' ? 'breaks watches' : 'lets watches stand without a word'}`, async () => {
      const test = await withFault({ kind, face: 'kubernetes_api', for: '10m' })
      const response = await new Promise<IncomingMessage>(resolve =>
        get(`http://${test.address}/api/v1/pods?watch=1&resourceVersion=0`, resolve),
      )
      let events = 0
      let broken = false
      response.on('data', (chunk: Buffer) => (events += chunk.toString().split('\n').length - 1))
      response.on('error', () => (broken = true))
      await test.clock.advance(50_000)
      assert.ok(events > 0)
      await test.clock.advance(10_000)
      const heard = events
      await test.clock.advance(540_000)
      // One more exchange on the wire: whatever was sent before has arrived by then.
      await fetchText(test, '/version')
      assert.equal(events, heard)
      assert.equal(broken, kind === 'drop_watches')
      response.destroy()
    })
  }

  it('expire_watches: tells watches that their version is too old', async () => {
    const test = await withFault({ kind: 'expire_watches', face: 'kubernetes_api' })
    await test.clock.advance(60_000)
    const { text } = await fetchText(test, '/api/v1/pods?watch=1&resourceVersion=1')
    assert.match(text, /"type":"ERROR".*"code":410/)
  })

  /** Resolves when the server has begun with a request that was sent before. */
  async function requestArrives(test: TestSimulation): Promise<void> {
    await fetchText(test, '/version')
  }
})
