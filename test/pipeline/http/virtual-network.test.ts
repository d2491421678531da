import assert from 'node:assert/strict'
import type { NetworkRequest } from '../../../pipeline/component.ts'
import type { ResponseWriter } from '../../../pipeline/http/virtual-network.ts'
import { testHost } from '../../support/test-host.ts'
import { recordResponse } from './record-response.ts'

describe('virtual network', () => {
  it('answers what it was told, and never from inside the call', async () => {
    const { network, clock } = testHost()
    network.answer('http://node-a:9400/metrics', {
      contentType: 'text/plain; version=0.0.4',
      headers: { 'X-Node': 'a' },
      body: Buffer.of(97, 255),
    })
    const events: string[] = []
    const handler = {
      head: (status: number, headers: ReadonlyMap<string, string>) =>
        events.push(`head ${status} ${[...headers].flat().join(' ')}`),
      chunk: (bytes: Uint8Array) => events.push(`chunk ${bytes.join(' ')}`),
      end: () => events.push('end'),
      failed: () => events.push('failed'),
    }
    network.request({ url: 'http://node-a:9400/metrics', timeoutMs: 1000 }, handler)
    await new Promise(resolve => setImmediate(resolve))
    assert.deepEqual(events, [])
    await clock.advance(0)
    const head = 'head 200 content-type text/plain; version=0.0.4 x-node a'
    assert.deepEqual(events, [head, 'chunk 97 255', 'end'])
  })

  it('compares URLs with default port, empty path and without user and fragment', async () => {
    const same: [string, string][] = [
      ['http://a', 'http://a/'],
      ['http://a:80/', 'http://a/'],
      ['https://A.example:443', 'https://a.example/'],
      ['http://user:pw@a/x', 'http://a/x'],
      ['http://a/x?y=1#z', 'http://a/x?y=1'],
    ]
    const { network, clock } = testHost()
    for (const [told, asked] of same) {
      for (const [one, other] of [
        [told, asked],
        [asked, told],
      ] as const) {
        network.answer(one, { body: one })
        const response = recordResponse(network, { url: other })
        await clock.advance(0)
        assert.equal((await response).body, one)
      }
    }
  })

  it('gives the answer that held when it was asked', async () => {
    const { network, clock } = testHost()
    network.answer('http://a/', { body: 'old' })
    const first = recordResponse(network, { url: 'http://a/' })
    network.answer('http://a/', { body: 'new' })
    const second = recordResponse(network, { url: 'http://a/' })
    await clock.advance(0)
    assert.deepEqual([(await first).body, (await second).body], ['old', 'new'])
  })

  it('refuses where nobody answers, or was told to', async () => {
    const { network, clock } = testHost()
    network.answer('http://b:1/', { error: 'refused' })
    const responses = ['http://a/', 'https://[::1]/', 'http://b:1/', 'nonsense'].map(url =>
      recordResponse(network, { url }),
    )
    await clock.advance(0)
    assert.deepEqual(
      (await Promise.all(responses)).map(response => response.error),
      [
        'connection refused by a:80',
        'connection refused by [::1]:443',
        'connection refused by b:1',
        '"nonsense" is not a URL',
      ],
    )
  })

  it('times out at the time limit, not before', async () => {
    const { network, clock } = testHost()
    network.answer('http://a/', { error: 'timeout' })
    let failed: string | undefined
    void recordResponse(network, { url: 'http://a/', timeoutMs: 10_000 }).then(({ error }) => (failed = error))
    await clock.advance(9999)
    assert.equal(failed, undefined)
    await clock.advance(1)
    assert.equal(failed, 'timed out after 10s')
  })

  it('remembers what was asked, which URLs nobody answers and which answers nobody wanted', async () => {
    const { network, clock } = testHost()
    network.answer('http://a/', {})
    network.answer('http://unused/', {})
    network.serve('http://api', (_, response) => response.end())
    const urls = ['http://a', 'http://b/x', 'http://api/pods', 'http://late/']
    for (const url of urls) void recordResponse(network, { url })
    network.answer('http://late/', {})
    await clock.advance(0)
    assert.deepEqual(
      network.requests.map(request => request.url),
      urls,
    )
    assert.deepEqual(network.unanswered(), ['http://b/x'])
    assert.deepEqual(network.unasked(), ['http://unused/'])
  })

  it('remembers the latest requests of a long run only', async () => {
    const { network, clock } = testHost()
    for (let i = 0; i < 1500; i++) void recordResponse(network, { url: `http://a/?${i % 3}&${i}` })
    await clock.advance(0)
    assert.equal(network.requests.length, 1000)
    assert.equal(network.requests.at(-1)!.url, 'http://a/?2&1499')
  })

  describe('lets a server', () => {
    it('stream its response for as long as it likes', async () => {
      const { network, clock } = testHost()
      let writer: ResponseWriter | undefined
      let asked: NetworkRequest | undefined
      network.serve('https://api', (request, response) => {
        asked = request
        writer = response
        response.head(200, { 'Content-Type': 'application/json' })
      })
      const url = 'https://api/api/v1/pods?watch=1'
      const watching = recordResponse(network, { url, timeoutMs: Infinity })
      await clock.advance(1000)
      assert.equal(asked?.url, url)
      for (const event of ['{"type":"ADDED"}\n', '{"type":"DELETED"}\n']) {
        writer!.chunk(event)
        await clock.advance(3600_000)
      }
      writer!.end()
      await clock.advance(0)
      const { headers, body } = await watching
      assert.equal(headers.get('content-type'), 'application/json')
      assert.equal(body, '{"type":"ADDED"}\n{"type":"DELETED"}\n')
    })

    it('deliver nothing from inside its own call', async () => {
      const { network, clock } = testHost()
      let writer: ResponseWriter | undefined
      network.serve('http://api', (_, response) => (writer = response))
      const watching = recordResponse(network, { url: 'http://api/' })
      await clock.advance(0)
      let heard: unknown
      void watching.then(response => (heard = response))
      writer!.end()
      await new Promise(resolve => setImmediate(resolve))
      assert.equal(heard, undefined)
      await clock.advance(0)
      assert.notEqual(heard, undefined)
    })

    it('fail, and write into the void after that', async () => {
      const { network, clock } = testHost()
      network.serve('http://api', (_, response) => {
        response.head(200)
        response.chunk('x')
        response.fail(new Error('connection reset by api:80'))
        response.chunk('y')
        response.end()
      })
      const response = recordResponse(network, { url: 'http://api/' })
      await clock.advance(0)
      assert.deepEqual((await response).events, ['head 200', 'chunk', 'failed'])
      assert.equal((await response).body, 'x')
    })

    it('know when its client cancels or runs out of time', async () => {
      const { network, clock } = testHost()
      const cancelled: string[] = []
      network.serve('http://api', (request, response) => {
        response.onCancel(() => cancelled.push(request.url))
        response.head(200)
      })
      const events: string[] = []
      const handler = { head: () => events.push('head'), chunk() {}, end() {}, failed: () => events.push('failed') }
      const cancel = network.request({ url: 'http://api/a', timeoutMs: 1000 }, handler)
      network.request({ url: 'http://api/b', timeoutMs: 1000 }, handler)
      network.request({ url: 'http://api/never-sent', timeoutMs: 1000 }, handler)()
      await clock.advance(0)
      cancel()
      cancel()
      await clock.advance(1000)
      assert.deepEqual(cancelled, ['http://api/a', 'http://api/b'])
      assert.deepEqual(events, ['head', 'head', 'failed'])
    })

    it('answer the longest beginning, and what has no answer of its own', async () => {
      const { network, clock } = testHost()
      for (const prefix of ['http://a/', 'http://a/b', 'http://a/b/c/']) {
        network.serve(prefix, (_, response) => {
          response.head(200)
          response.chunk(prefix)
          response.end()
        })
      }
      network.answer('http://a/own', { body: 'own' })
      const bodies: string[] = []
      for (const url of ['http://a/x', 'http://a/b/c', 'http://a/b/c/d', 'http://a/own']) {
        const response = recordResponse(network, { url })
        await clock.advance(0)
        bodies.push((await response).body)
      }
      assert.deepEqual(bodies, ['http://a/', 'http://a/b', 'http://a/b/c/', 'own'])
    })
  })

  it('binds nothing, and remembers who listens', async () => {
    const { network } = testHost()
    const handle = (): void => {}
    const listener = await network.listen('127.0.0.1:9464', handle)
    assert.equal(network.listeners.get('127.0.0.1:9464'), handle)
    await assert.rejects(network.listen('127.0.0.1:9464', handle), /127.0.0.1:9464 is in use/)
    const free = [await network.listen('127.0.0.1:0', handle), await network.listen('127.0.0.1:0', handle)]
    assert.equal(new Set(free.map(({ address }) => address)).size, 2)
    await listener.close(0)
    await listener.close(0)
    assert.equal(network.listeners.has('127.0.0.1:9464'), false)
  })

  it('fails the request of a handler that throws', async () => {
    const { network, clock } = testHost()
    network.answer('http://a/', { body: 'x' })
    let error: Error | undefined
    const handler = { head() {}, chunk: () => assert.fail('broken'), end() {}, failed: (it: Error) => (error = it) }
    network.request({ url: 'http://a/', timeoutMs: 1000 }, handler)
    await clock.advance(0)
    assert.equal(error?.message, 'broken')
  })
})
