import assert from 'node:assert/strict'
import { readBody } from '../../../pipeline/http/read-body.ts'
import { testHost } from '../../support/test-host.ts'

describe('readBody', () => {
  it('gives status, headers and the whole body', async () => {
    const { network, clock } = testHost()
    network.answer('http://a/', { status: 404, contentType: 'text/plain', body: 'nothing here' })
    const reading = readBody(network, { url: 'http://a', timeoutMs: 1000 }, 100)
    await clock.advance(0)
    const { status, headers, body } = await reading
    assert.equal(status, 404)
    assert.equal(headers.get('content-type'), 'text/plain')
    assert.equal(body.toString(), 'nothing here')
  })

  it('takes a body of exactly the limit, and gives up on a larger one', async () => {
    const { network, clock } = testHost()
    let cancelled = false
    network.serve('http://a/', (_, response) => {
      response.onCancel(() => (cancelled = true))
      response.head(200)
      response.chunk('12345')
      response.chunk('67890')
      response.end()
    })
    const exact = readBody(network, { url: 'http://a/', timeoutMs: 1000 }, 10)
    await clock.advance(0)
    assert.equal((await exact).body.length, 10)
    const tooLarge = assert.rejects(
      readBody(network, { url: 'http://a/', timeoutMs: 1000 }, 9),
      /the response is larger than 9 bytes/,
    )
    await clock.advance(0)
    await tooLarge
    assert.equal(cancelled, true)
  })

  it('rejects when the request fails', async () => {
    const { network, clock } = testHost()
    const failing = assert.rejects(
      readBody(network, { url: 'http://gpu-a:9400/', timeoutMs: 1000 }, 9),
      /connection refused by gpu-a:9400/,
    )
    await clock.advance(0)
    await failing
  })

  it('rejects with the reason of a signal, and cancels the request', async () => {
    const { network, clock } = testHost()
    let cancelled = false
    network.serve('http://a/', (_, response) => response.onCancel(() => (cancelled = true)))
    const controller = new AbortController()
    const reading = readBody(network, { url: 'http://a/', timeoutMs: 1000 }, 9, controller.signal)
    await clock.advance(0)
    controller.abort(new Error('stopped'))
    await assert.rejects(reading, /stopped/)
    assert.equal(cancelled, true)
    await assert.rejects(readBody(network, { url: 'http://a/', timeoutMs: 1000 }, 9, controller.signal), /stopped/)
  })
})
