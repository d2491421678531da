import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { deadlineIn } from '../../../pipeline/clock/deadline.ts'
import { createSystemClock } from '../../../pipeline/clock/system-clock.ts'
import type { Listener, ListenOptions, Network } from '../../../pipeline/component.ts'
import { createNetwork } from '../../../pipeline/http/network.ts'
import { recordResponse } from './record-response.ts'
import { createTestAuthority } from './test-certificates.ts'

type Handle = Parameters<Network['listen']>[1]

describe('listen', () => {
  const clock = createSystemClock()
  const network = createNetwork(clock)
  const listeners: Listener[] = []

  afterEach(() => Promise.all(listeners.splice(0).map(listener => listener.close(clock.monotonic()))))
  after(() => network.close())

  async function listen(handle: Handle, endpoint = '127.0.0.1:0', options?: ListenOptions): Promise<Listener> {
    const listener = await network.listen(endpoint, handle, options)
    listeners.push(listener)
    return listener
  }

  it('serves at the address that it tells, port 0 being any free one', async () => {
    for (const endpoint of ['127.0.0.1:0', 'localhost:0', ':0']) {
      const { address } = await listen((_, response) => response.end('hello'), endpoint)
      assert.match(address, new RegExp(`^${endpoint.slice(0, -2)}:[1-9]\\d+$`))
      const url = `http://${address.startsWith(':') ? '127.0.0.1' : ''}${address}/`
      assert.equal((await recordResponse(network, { url })).body, 'hello')
    }
  })

  it('serves over IPv6', async function () {
    const listener = await listen((_, response) => response.end('six'), '[::1]:0').catch(() => undefined)
    if (listener === undefined) return this.skip()
    assert.match(listener.address, /^\[::1\]:\d+$/)
    assert.equal((await recordResponse(network, { url: `http://${listener.address}/` })).body, 'six')
  })

  it('serves TLS, and asks clients for a certificate where a CA is given', async () => {
    const authority = createTestAuthority('authority')
    const server = authority.issue('server', { addresses: ['127.0.0.1'] })
    const { address } = await listen((_, response) => response.end('safe'), '127.0.0.1:0', { tls: server })
    const url = `https://${address}/`
    assert.equal((await recordResponse(network, { url, tls: { ca: authority.cert } })).body, 'safe')

    const strict = await listen((_, response) => response.end('known'), '127.0.0.1:0', {
      tls: { ...server, ca: authority.cert },
    })
    const request = { url: `https://${strict.address}/`, tls: { ca: authority.cert } }
    assert.deepEqual((await recordResponse(network, request)).events, ['failed'])
    const client = authority.issue('client')
    const known = await recordResponse(network, { ...request, tls: { ...request.tls, ...client } })
    assert.equal(known.body, 'known')
  })

  it('says in a sentence why it cannot listen', async () => {
    const { address } = await listen((_, response) => response.end())
    const key = createTestAuthority('authority').issue('x').key
    const cases: [string, ListenOptions, RegExp][] = [
      [address, {}, new RegExp(`^${address} is in use by another process$`)],
      ['192.0.2.1:0', {}, /^cannot listen on 192.0.2.1:0: it is not an address of this machine$/],
      ['gpu-a.invalid:0', {}, /^cannot listen on gpu-a.invalid:0: no such host$/],
      ['nonsense', {}, /^"nonsense" is not an address to listen on: expected host:port$/],
      ['127.0.0.1:70000', {}, /^"127.0.0.1:70000" is not an address/],
      ['127.0.0.1:0', { tls: { key } }, /^TLS on 127.0.0.1:0 needs a certificate and a key$/],
      ['127.0.0.1:0', { tls: { key, cert: 'x' } }, /^the TLS certificate or key of 127.0.0.1:0 cannot be used: /],
    ]
    for (const [endpoint, options, message] of cases) {
      await assert.rejects(
        network.listen(endpoint, () => {}, options),
        { message },
      )
    }
  })

  it('answers 500 when the handler throws or rejects, and goes on', async () => {
    const { address } = await listen(((request, response) => {
      if (request.url === '/throws') throw new Error('secret detail')
      if (request.url === '/rejects') return Promise.reject(new Error('secret detail'))
      if (request.url === '/later') {
        response.write('part of it')
        return Promise.reject(new Error('secret detail'))
      }
      return response.end('fine')
    }) as Handle)
    for (const path of ['/throws', '/rejects']) {
      const response = await recordResponse(network, { url: `http://${address}${path}` })
      assert.equal(response.status, 500)
      assert.equal(response.body, 'internal error\n')
    }
    assert.equal((await recordResponse(network, { url: `http://${address}/later` })).events.at(-1), 'failed')
    assert.equal((await recordResponse(network, { url: `http://${address}/` })).body, 'fine')
  })

  it('survives a handler that goes on writing after the end', async () => {
    let written: Promise<unknown> | undefined
    const { address } = await listen((_, response) => {
      written = new Promise(resolve => response.end('fine', () => resolve(response.write('more'))))
    })
    assert.equal((await recordResponse(network, { url: `http://${address}/` })).body, 'fine')
    await written
  })

  it('survives clients that speak nonsense', async () => {
    const { address } = await listen((_, response) => response.end('fine'))
    const socket = connect(Number(address.split(':')[1]), '127.0.0.1')
    socket.write('nonsense\r\n\r\n')
    const [answer] = (await once(socket, 'data')) as [Buffer]
    assert.match(answer.toString(), /^HTTP\/1.1 400 /)
    assert.equal((await recordResponse(network, { url: `http://${address}/` })).body, 'fine')
  })

  it('ends idle connections at once when it is closed, and lets those at work finish', async () => {
    let release: () => void = () => {}
    const { address, close } = await listen((request, response) => {
      if (request.url === '/quick') response.end('quick')
      else release = () => response.end('slow')
    })
    await recordResponse(network, { url: `http://${address}/quick` })
    const slow = recordResponse(network, { url: `http://${address}/slow` })
    // Answered after the slow one has arrived, on a connection of its own.
    await recordResponse(network, { url: `http://${address}/quick` })
    const closed = close(deadlineIn(clock, 60_000))
    release()
    assert.equal((await slow).body, 'slow')
    await closed
    await close(deadlineIn(clock, 60_000))
    const after = await recordResponse(network, { url: `http://${address}/` })
    assert.equal(after.error, `connection refused by ${address}`)
  })

  it('breaks off what is still at work at the deadline', async () => {
    const { address, close } = await listen(() => {})
    const hanging = recordResponse(network, { url: `http://${address}/` })
    await recordResponse(network, { url: `http://${address}/`, timeoutMs: 20 })
    await close(deadlineIn(clock, 10))
    assert.equal((await hanging).events.at(-1), 'failed')
  })
})
