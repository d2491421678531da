import assert from 'node:assert/strict'
import { gunzipSync, zstdDecompressSync } from 'node:zlib'
import { createPush } from '../../../exporters/delivery/push.ts'
import { numberParts, points, PUSH_URL, pushConfig, serveNumbers, startPush, stopPush } from '../../support/pushing.ts'
import { testHost } from '../../support/test-host.ts'

describe('pushing', () => {
  it('sends what it was given after the flush timeout', async () => {
    const { host, push } = await startPush()
    const batch = points(3)
    push.consume(batch)
    await host.clock.advance(199)
    assert.equal(host.network.requests.length, 0)
    await host.clock.advance(1)
    const [request] = host.network.requests
    assert.equal(request?.method, 'POST')
    assert.equal(request?.url, PUSH_URL)
    assert.equal(Buffer.from(request!.body!).toString(), batch.values.join(','))
    assert.deepEqual({ ...request?.headers }, { 'content-type': 'text/plain', 'x-note': 'numbers' })
    assert.equal(host.counted.get('gpucol_exporter_sent_metric_points'), 3)
    await stopPush(host, push)
  })

  it('sends a full request at once', async () => {
    const { host, push, destination } = await startPush({}, { maxPoints: 2 })
    const batch = points(5)
    push.consume(batch)
    await host.clock.advance(0)
    assert.deepEqual(destination.taken, Array.from(batch.values.slice(0, 4)))
    await stopPush(host, push, 1000)
    assert.deepEqual(destination.taken, [...batch.values])
  })

  it('drops what does not fit into the queue while a batch is encoded, not when all of it is in memory', async () => {
    const { host, push, destination } = await startPush({ sending_queue: { max_bytes: '100B' } }, { maxPoints: 1 })
    destination.answer = () => {}
    const before = process.memoryUsage().arrayBuffers
    push.consume(points(10_000))
    // The memory of what was dropped is not there any more, though no garbage was looked for.
    assert.ok(process.memoryUsage().arrayBuffers - before < 20 * 2 ** 20)
    assert.ok(host.counted.get('gpucol_exporter_enqueue_failed_metric_points')! > 9900)
    await stopPush(host, push)
  })

  const compressions = [
    ['gzip', gunzipSync],
    ['zstd', zstdDecompressSync],
    [(body: Uint8Array) => Buffer.from(body).reverse(), (body: Uint8Array) => Buffer.from(body).reverse()],
  ] as const
  for (const [compression, unpack] of compressions) {
    it(`compresses by ${typeof compression === 'string' ? compression : 'a function of the exporter'}`, async () => {
      const host = testHost()
      serveNumbers(host)
      const push = createPush(host, pushConfig(), numberParts({}, compression))
      await push.start()
      const batch = points(100)
      push.consume(batch)
      await host.clock.advance(200)
      assert.equal(Buffer.from(unpack(host.network.requests[0]!.body!)).toString(), batch.values.join(','))
      await stopPush(host, push)
    })
  }
})
