import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { request, type IncomingMessage } from 'node:http'
import { connect, Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync, zstdDecompressSync } from 'node:zlib'
import { prometheus } from '../../exporters/prometheus.ts'
import { createSystemClock } from '../../pipeline/clock/system-clock.ts'
import { createNetwork } from '../../pipeline/http/network.ts'
import { endBatch, type Batch } from '../../pipeline/model/batch.ts'
import { labelsFrom } from '../../pipeline/model/labels.ts'
import { layoutFromSeries } from '../../pipeline/model/layout.ts'
import { metricFrom } from '../../pipeline/model/series.ts'
import { renderText } from '../../pipeline/formats/render-text.ts'
import { ask } from '../support/ask.ts'
import { batchFromText, createSource } from '../support/batch-from-text.ts'
import { recordResponse } from '../pipeline/http/record-response.ts'
import { createTestAuthority } from '../pipeline/http/test-certificates.ts'
import { configOf, serving, type Served, type ServedConfig } from '../support/served-prometheus.ts'
import { testHost } from '../support/test-host.ts'

const LOAD = '# HELP load Load of a GPU.\n# TYPE load gauge\nload{gpu="0"} 0.5\nload{gpu="1"} 1\n'

type Config = ServedConfig

describe('the prometheus exporter', () => {
  it('shows what is made at the moment it is asked', () =>
    serving({}, async ({ exporter, host, scrape }) => {
      const source = createSource('made')
      let made = 0
      const stop = host.demand.answer(() => exporter.consume({ ...batchFromText(`made ${++made}\n`), source }))
      assert.match(await scrape(), /^made 1$/m)
      await host.clock.advance(5000)
      assert.match(await scrape(), /^made 2$/m)
      stop()
    }))

  it('serves the latest values of all sources', () =>
    serving({}, async ({ exporter, scrape }) => {
      assert.equal(await scrape(), '')
      const first = batchFromText(LOAD)
      exporter.consume(first)
      assert.equal(await scrape(), LOAD)
      exporter.consume(batchFromText(LOAD.replace('0.5', '0.75'), { after: first }))
      assert.equal(await scrape(), LOAD.replace('0.5', '0.75'))
      exporter.consume(batchFromText('load{gpu="2"} 7\n', { source: createSource('other') }))
      assert.match(await scrape(), /^load\{gpu="2"\} 7$/m)
    }))

  it('ends series at once when a scrape no longer has them, fails, or the source is removed', () =>
    serving({}, async ({ exporter, scrape, host }) => {
      const first = batchFromText(LOAD)
      exporter.consume(first)
      exporter.consume(batchFromText('# TYPE load gauge\nload{gpu="1"} 1\n', { after: first }))
      assert.equal(await scrape(), '# TYPE load gauge\nload{gpu="1"} 1\n')
      assert.deepEqual(host.observed('gpucol_exporter_live_series'), new Map([['', 1]]))
      for (const outcome of ['failed', 'removed'] as const) {
        exporter.consume(first)
        exporter.consume(endBatch(first.source, 1, outcome))
        assert.equal(await scrape(), '')
        assert.deepEqual(host.observed('gpucol_exporter_live_series'), new Map([['', 0]]))
      }
    }))

  it('serves for metric_expiration what a source said before it fell silent', () =>
    serving({ metric_expiration: '1m' }, async ({ exporter, scrape, host }) => {
      exporter.consume(batchFromText('a 1\n'))
      await host.clock.advance(30_000)
      exporter.consume(batchFromText('b 1\n', { source: createSource('b') }))
      await host.clock.advance(29_999)
      assert.match(await scrape(), /^a 1$/m)
      await host.clock.advance(1)
      assert.equal(await scrape(), '# TYPE b untyped\nb 1\n')
      await host.clock.advance(60_000)
      assert.deepEqual(host.observed('gpucol_exporter_live_series'), new Map([['', 0]]))
    }))

  it('writes as its config says', () =>
    serving(
      { namespace: 'our', const_labels: { cluster: 'east' }, send_timestamps: true },
      async ({ exporter, scrape }) => {
        exporter.consume(batchFromText('a{n="1"} 1\n', { timeMs: 1_700_000_000_000 }))
        assert.equal(await scrape(), '# TYPE our_a untyped\nour_a{cluster="east",n="1"} 1 1700000000000\n')
      },
    ))

  it('answers in the format that is asked for', () =>
    serving({}, async ({ exporter, address }) => {
      exporter.consume(batchFromText('# TYPE "gpu.energy_total" counter\n{"gpu.energy_total"} 1\n'))
      const plain = await ask(address, 'GET /metrics')
      assert.equal(plain.status, 200)
      assert.equal(plain.headers['content-type'], 'text/plain; version=0.0.4; charset=utf-8')
      assert.equal(plain.headers['content-length'], String(plain.body.length))
      assert.equal(plain.body, '# TYPE gpu_energy_total counter\ngpu_energy_total 1\n')
      const accept = 'application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5,*/*;q=0.1'
      const open = await ask(address, 'GET /metrics', { accept })
      assert.match(open.headers['content-type']!, /^application\/openmetrics-text; .*escaping=allow-utf-8$/)
      assert.equal(open.body, '# TYPE "gpu.energy" counter\n{"gpu.energy_total"} 1\n# EOF\n')
    }))

  it('answers HEAD without a body, 404 elsewhere and 405 to other methods, and counts', () =>
    serving({}, async ({ exporter, address, host }) => {
      exporter.consume(batchFromText(LOAD))
      const head = await ask(address, 'HEAD /metrics')
      assert.deepEqual([head.status, head.body], [200, ''])
      assert.equal(head.headers['content-type'], 'text/plain; version=0.0.4; charset=utf-8')
      assert.equal((await ask(address, 'GET /metrics?x=1')).body, LOAD)
      assert.equal((await ask(address, 'GET /other')).status, 404)
      const post = await ask(address, 'POST /metrics')
      assert.deepEqual([post.status, post.headers.allow], [405, 'GET, HEAD'])
      assert.deepEqual(
        [...host.counted].filter(([name]) => name.startsWith('gpucol_exporter_requests{')),
        [
          ['gpucol_exporter_requests{status="200"}', 2],
          ['gpucol_exporter_requests{status="404"}', 1],
          ['gpucol_exporter_requests{status="405"}', 1],
        ],
      )
    }))

  it('sends many pieces, plain and compressed, that are what was collected', () =>
    serving({}, async ({ exporter, address }) => {
      const batches = Array.from({ length: 40 }, (_, node) => nodeWith(50, 500, node))
      for (const batch of batches) exporter.consume(batch)
      const expected = renderText(batches)
      assert.ok(expected.length > 5 * 128 * 1024)
      const plain = await bytesOf(address, {})
      assert.equal(plain.toString(), expected)
      const compressed = await bytesOf(address, { 'accept-encoding': 'gzip' })
      assert.ok(compressed.length < plain.length / 3)
      assert.equal(gunzipSync(compressed).toString(), expected)
      const frame = await bytesOf(address, { 'accept-encoding': 'zstd' })
      assert.ok(frame.length < plain.length / 3)
      assert.equal(zstdDecompressSync(frame).toString(), expected)
    }))

  it('writes a piece with all that stands around it in one go', () =>
    serving({}, async ({ exporter, address }) => {
      for (const batch of Array.from({ length: 40 }, (_, node) => nodeWith(50, 500, node))) exporter.consume(batch)
      const { received, writes } = await rawScrape(address)
      // The head comes with the first one, and the end with the last.
      assert.equal(writes, chunkCount(received))
      assert.ok(writes > 5)
    }))

  it('sends all of a piece that can hardly be compressed', () =>
    serving({}, async ({ exporter, address }) => {
      const lines = Array.from(
        { length: 8000 },
        (_, i) => `a{l="${createHash('sha512').update(String(i)).digest('base64')}"} 1\n`,
      )
      const batch = batchFromText(lines.join(''))
      exporter.consume(batch)
      const compressed = await bytesOf(address, { 'accept-encoding': 'gzip' })
      assert.equal(gunzipSync(compressed).toString(), renderText([batch]))
      assert.ok(compressed.length > 500_000, 'every piece fills several of the buffers that zlib has')
      const frame = await bytesOf(address, { 'accept-encoding': 'zstd' })
      assert.equal(zstdDecompressSync(frame).toString(), renderText([batch]))
    }))

  it('compresses also what is empty', () =>
    serving({}, async ({ address }) => {
      assert.equal(gunzipSync(await bytesOf(address, { 'accept-encoding': 'gzip' })).toString(), '')
      assert.equal(zstdDecompressSync(await bytesOf(address, { 'accept-encoding': 'zstd' })).toString(), '')
    }))

  it('says how it packed what it sends, and when nothing it has is accepted', () =>
    serving({}, async ({ address }) => {
      const head = await ask(address, 'HEAD /metrics', { 'accept-encoding': 'gzip;q=0.5, zstd' })
      assert.deepEqual([head.headers['content-encoding'], head.headers.vary], ['zstd', 'Accept, Accept-Encoding'])
      assert.equal((await ask(address, 'HEAD /metrics')).headers['content-encoding'], undefined)
      const refused = await ask(address, 'GET /metrics', { 'accept-encoding': 'identity;q=0, br' })
      assert.deepEqual(
        [refused.status, refused.body],
        [406, 'nothing that is accepted can be sent: there are zstd, gzip, identity\n'],
      )
    }))

  it('answers so many at once and no more', () =>
    serving({ max_concurrent_requests: 2 }, async ({ exporter, address, host, scrape }) => {
      const batches = Array.from({ length: 100 }, (_, node) => nodeWith(4, 50_000, node))
      for (const batch of batches) exporter.consume(batch)
      const slow = [await open(address), await open(address, { 'accept-encoding': 'zstd' })]
      const refused = await ask(address, 'GET /metrics')
      assert.equal(refused.status, 503)
      assert.equal(refused.headers['retry-after'], '5')
      assert.equal(refused.body, '2 requests are being answered, which is the limit: try again later\n')
      assert.equal((await ask(address, 'HEAD /metrics')).status, 200)
      assert.equal(host.counted.get('gpucol_exporter_requests{status="503"}'), 1)
      const expected = renderText(batches)
      assert.equal((await bodyOf(slow[0]!)).toString(), expected)
      assert.equal(zstdDecompressSync(await bodyOf(slow[1]!)).toString(), expected)
      assert.equal(await scrape(), expected)
    })).timeout(30_000)

  it('lets in only whom its config names, and counts the others', () =>
    serving(
      { authorization: { type: 'Bearer', credentials: 'secret' } },
      async ({ exporter, address, scrape, host }) => {
        exporter.consume(batchFromText(LOAD))
        for (const line of ['GET /metrics', 'HEAD /metrics', 'GET /other']) {
          assert.equal((await ask(address, line)).status, 401)
        }
        assert.equal(await scrape({ authorization: 'Bearer secret' }), LOAD)
        assert.equal(host.counted.get('gpucol_exporter_requests{status="401"}'), 3)
      },
    ))

  it('serves HTTPS with a certificate from files', async () => {
    const authority = createTestAuthority('authority')
    const { cert, key } = authority.issue('server', { addresses: ['127.0.0.1'] })
    const folder = mkdtempSync(join(tmpdir(), 'gpucol-'))
    const tls = { cert_file: join(folder, 'cert.pem'), key_file: join(folder, 'key.pem') }
    await assert.rejects(
      serving({ tls }, () => Promise.resolve()),
      /cannot read ".*cert\.pem"/,
    )
    writeFileSync(tls.cert_file, cert)
    writeFileSync(tls.key_file, key)
    try {
      await serving({ tls }, async ({ exporter, address }) => {
        exporter.consume(batchFromText(LOAD))
        assert.equal(exporter.describe!(), `https://${address}/metrics`)
        const network = createNetwork(createSystemClock())
        const request = { url: `https://${address}/metrics`, tls: { ca: authority.cert } }
        assert.equal((await recordResponse(network, request)).body, LOAD)
        await network.close()
      })
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  it('gives scrapers that come together one collection, and those who come later a new one', () =>
    serving({}, async ({ exporter, address, host }) => {
      const batches = Array.from({ length: 100 }, (_, node) => nodeWith(4, 50_000, node))
      for (const batch of batches) exporter.consume(batch)
      const expected = renderText(batches)

      // Far more than the sockets hold, so that it is under way until somebody reads.
      const slow = await open(address)
      const changed = { ...batches[0]!, values: batches[0]!.values.map(() => 12_345) }
      exporter.consume(changed)
      assert.equal((await bytesOf(address, {})).toString(), expected, 'it joins the one that is under way')
      await host.clock.advance(1001)
      const later = (await bytesOf(address, {})).toString()
      assert.equal(later, renderText([changed, ...batches.slice(1)]), 'it is too late to join')
      assert.equal((await bodyOf(slow)).toString(), expected, 'the slow one gets what it began with')
      assert.equal((await bytesOf(address, {})).toString(), later)
    })).timeout(30_000)

  it('goes on when a scraper goes away in the middle', () =>
    serving({}, async ({ exporter, address, scrape }) => {
      const batches = Array.from({ length: 100 }, (_, node) => nodeWith(4, 50_000, node))
      for (const batch of batches) exporter.consume(batch)
      for (const headers of [{}, { 'accept-encoding': 'gzip' }]) {
        const response = await open(address, headers)
        response.destroy()
      }
      assert.equal(await scrape(), renderText(batches))
    })).timeout(30_000)

  it('drops a scraper that does not read', () =>
    serving({}, async ({ exporter, address, responses, host }) => {
      for (let node = 0; node < 100; node++) exporter.consume(nodeWith(4, 50_000, node))
      const received = await open(address)
      // It takes some turns of the event loop until the sockets are full.
      for (let turn = 0; turn < 10_000 && !responses[0]!.destroyed; turn++) await host.clock.advance(60_000)
      await assert.rejects(bodyOf(received), /aborted/)
    })).timeout(30_000)

  it('says once that sources do not agree, and counts where', () =>
    serving({}, async ({ exporter, scrape, host }) => {
      exporter.consume(batchFromText('# HELP a one\n# TYPE a gauge\na{n="1"} 1\na{n="2"} 1\n'))
      exporter.consume(batchFromText('# HELP a two\n# TYPE a counter\na{n="2"} 2\n', { source: createSource('b') }))
      await scrape()
      await scrape()
      assert.deepEqual(
        host.observed('gpucol_exporter_conflicts'),
        new Map([
          ['{what="type"}', 1],
          ['{what="help"}', 1],
          ['{what="unit"}', 0],
          ['{what="name"}', 0],
          ['{what="label"}', 0],
          ['{what="series"}', 1],
        ]),
      )
      assert.deepEqual(
        host.logged.filter(line => line.startsWith('warn')),
        [
          'warn: sources do not agree on the type of "a": the first is believed, not "counter"',
          'warn: several sources have the same series: the newest batch is believed series=1',
        ],
      )
    }))

  it('can be stopped without a start, twice, and lets its address go', async () => {
    await prometheus.create(configOf({}), testHost()).stop!(0)
    let served: Served | undefined
    await serving({}, one => Promise.resolve(void (served = one)))
    await served!.exporter.stop!(0)
    await assert.rejects(ask(served!.address, 'GET /metrics'), /ECONNREFUSED/)
    assert.deepEqual(served!.host.observed('gpucol_exporter_live_series'), new Map())
  })

  const PROBLEMS: readonly [Partial<Config>, string][] = [
    [{ namespace: '0x' }, `namespace: "0x" cannot be the beginning of a metric's name`],
    [{ const_labels: { 'a.b': '1' } }, 'const_labels.a.b: "a.b" cannot be the name of a label'],
    [{ const_labels: { __name__: '1' } }, 'const_labels.__name__: "__name__" cannot be the name of a label'],
    [{ metric_expiration: '0s' }, 'metric_expiration: must be longer than 0, or nothing can ever be scraped'],
  ]
  for (const [options, problem] of PROBLEMS) {
    it(`refuses ${JSON.stringify(options)}`, () => {
      const problems = prometheus.check!(configOf(options))
      assert.deepEqual(
        problems.map(({ path, message }) => `${path.join('.')}: ${message}`),
        [problem],
      )
    })
  }
})

/** A batch of so many series with a label value of that length. */
function nodeWith(count: number, length: number, node: number): Batch {
  const metric = metricFrom({ name: 'load', type: 'gauge' })
  const model = 'H100 '.repeat(length / 5)
  const series = Array.from({ length: count }, (_, gpu) => ({
    metric,
    labels: labelsFrom(Object.entries({ gpu: String(gpu), node: String(node), model })),
  }))
  return {
    source: createSource(`node-${node}`),
    timeMs: 0,
    outcome: 'ok',
    layout: layoutFromSeries(series),
    values: Float64Array.from(series, (_, gpu) => (node * gpu) / 8),
  }
}

/** The response whose body nobody has begun to read. */
function open(address: string, headers: Record<string, string> = {}): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request(`http://${address}/metrics`, { headers, agent: false }, resolve).on('error', reject).end()
  })
}

async function bodyOf(response: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = []
  for await (const piece of response) pieces.push(piece as Buffer)
  return Buffer.concat(pieces)
}

async function bytesOf(address: string, headers: Record<string, string>): Promise<Buffer> {
  return bodyOf(await open(address, headers))
}

/** All bytes of a scrape, and how often the server wrote. */
async function rawScrape(address: string): Promise<{ received: Buffer; writes: number }> {
  const port = Number(address.split(':').at(-1))
  const sockets = Socket.prototype as unknown as Record<'_write' | '_writev', (...given: unknown[]) => void>
  const { _write, _writev } = sockets
  let writes = 0
  const counted = (write: (...given: unknown[]) => void) =>
    function (this: Socket, ...given: unknown[]) {
      if (this.localPort === port) writes++
      write.apply(this, given)
    }
  Object.assign(sockets, { _write: counted(_write), _writev: counted(_writev) })
  try {
    const client = connect(port, '127.0.0.1')
    client.write(`GET /metrics HTTP/1.1\r\nhost: ${address}\r\nconnection: close\r\n\r\n`)
    const pieces: Buffer[] = []
    for await (const piece of client) pieces.push(piece as Buffer)
    return { received: Buffer.concat(pieces), writes }
  } finally {
    Object.assign(sockets, { _write, _writev })
  }
}

function chunkCount(received: Buffer): number {
  let count = 0
  for (let at = received.indexOf('\r\n\r\n') + 4; ;) {
    const end = received.indexOf('\r\n', at)
    const length = Number.parseInt(received.subarray(at, end).toString(), 16)
    if (length === 0) return count
    count++
    at = end + 2 + length + 2
  }
}
