import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import { createServer as createTlsServer, type ServerOptions } from 'node:https'
import { connect, type AddressInfo } from 'node:net'
import { createSystemClock } from '../../../pipeline/clock/system-clock.ts'
import { createNetwork, type SystemNetwork } from '../../../pipeline/http/network.ts'
import { startRawServer } from './raw-server.ts'
import { recordResponse } from './record-response.ts'
import { createTestAuthority } from './test-certificates.ts'

describe('requests with TLS, proxies and bodies', () => {
  const authority = createTestAuthority('test authority')
  const localhost = authority.issue('localhost', { names: ['localhost'], addresses: ['127.0.0.1'] })
  const ok: RequestListener = (_, response) => response.end('ok')
  const servers: Server[] = []
  let network: SystemNetwork

  beforeEach(() => {
    network = createNetwork(createSystemClock())
  })
  afterEach(async () => {
    await network.close()
    for (const server of servers.splice(0)) {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    }
  })

  async function start(server: Server): Promise<string> {
    servers.push(server)
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return `127.0.0.1:${(server.address() as AddressInfo).port}`
  }
  const serveTls = (options: ServerOptions = localhost, handle = ok): Promise<string> =>
    start(createTlsServer(options, handle))

  describe('TLS', () => {
    it('reaches a server whose CA is given', async () => {
      const address = await serveTls()
      const response = await recordResponse(network, { url: `https://${address}/`, tls: { ca: authority.cert } })
      assert.equal(response.error, undefined)
      assert.deepEqual(response.events, ['head 200', 'chunk', 'end'])
      assert.equal(response.body, 'ok')
    })

    it('keeps the connection for requests that follow', async () => {
      let connections = 0
      const address = await serveTls()
      servers[0]!.on('secureConnection', () => connections++)
      for (let i = 0; i < 3; i++) {
        await recordResponse(network, { url: `https://${address}/`, tls: { ca: authority.cert } })
        await new Promise(resolve => setImmediate(resolve))
      }
      assert.equal(connections, 1)
    })

    it('goes on without verifying if told to', async () => {
      const address = await serveTls(authority.issue('other', { names: ['other'], expired: true }))
      const response = await recordResponse(network, { url: `https://${address}/`, tls: { insecureSkipVerify: true } })
      assert.equal(response.body, 'ok')
    })

    it('expects the certificate of the server name that is given', async () => {
      const address = await serveTls(authority.issue('gpu-a', { names: ['gpu-a.example'] }))
      const tls = { ca: authority.cert, serverName: 'gpu-a.example' }
      assert.equal((await recordResponse(network, { url: `https://${address}/`, tls })).error, undefined)
      const headers = { host: 'elsewhere.example' }
      assert.equal((await recordResponse(network, { url: `https://${address}/`, tls, headers })).error, undefined)
    })

    it('shows a client certificate', async () => {
      const address = await serveTls(
        { ...localhost, ca: authority.cert, requestCert: true, rejectUnauthorized: true },
        (_, response) => response.end('known'),
      )
      const url = `https://${address}/`
      const tls = { ca: authority.cert }
      assert.equal(
        (await recordResponse(network, { url, tls: { ...tls, ...authority.issue('client') } })).body,
        'known',
      )
      const without = await recordResponse(network, { url, tls })
      assert.deepEqual(without.events, ['failed'])
    })

    const untrusted = {
      'a certificate of an unknown authority': [localhost, {}, /is not trusted: unable to verify/],
      'one for another host': [
        authority.issue('other', { names: ['other'] }),
        { ca: authority.cert },
        /is not trusted: .*127\.0\.0\.1/,
      ],
      'one that has expired': [
        authority.issue('x', { addresses: ['127.0.0.1'], expired: true }),
        { ca: authority.cert },
        /is not trusted: certificate has expired/,
      ],
    } as const
    for (const [name, [certificate, tls, error]] of Object.entries(untrusted)) {
      it(`refuses ${name}`, async () => {
        const address = await serveTls(certificate)
        const response = await recordResponse(network, { url: `https://${address}/`, tls })
        assert.deepEqual(response.events, ['failed'])
        assert.ok(response.error!.startsWith(`the certificate of ${address} `))
        assert.match(response.error!, error)
      })
    }

    it('says when the server speaks no TLS', async () => {
      const address = await start(createServer(ok))
      const response = await recordResponse(network, { url: `https://${address}/` })
      assert.equal(response.error, `${address} does not speak TLS`)
    })

    it('says when a certificate or key is of no use, without showing it', async () => {
      for (const tls of [
        { cert: 'not secret', key: 'secret' },
        { cert: localhost.cert, key: authority.issue('x').key },
      ]) {
        const response = await recordResponse(network, { url: 'https://127.0.0.1:1/', tls })
        assert.match(response.error!, /^the TLS certificate or key cannot be used: /)
        assert.doesNotMatch(response.error!, /secret|BEGIN/)
      }
    })

    it('says who refused, which host is unknown, and how long it waited', async () => {
      const raw = await startRawServer(() => {})
      const silent = await recordResponse(network, { url: `https://${raw.address}/`, timeoutMs: 30 })
      assert.equal(silent.error, 'timed out after 30ms')
      await raw.close()
      assert.equal(
        (await recordResponse(network, { url: `https://${raw.address}/` })).error,
        `connection refused by ${raw.address}`,
      )
      const unknown = await recordResponse(network, { url: 'https://gpu-a.invalid/' })
      assert.match(unknown.error!, /^(no such host: |no answer from DNS for )gpu-a.invalid$/)
    })

    it('sends a GET again when the server had closed the connection it kept, and a POST never', async () => {
      const seen: string[] = []
      const address = await serveTls(localhost, (request, response) => {
        seen.push(request.method!)
        if (seen.length % 2 === 1) response.end('ok')
        else request.socket.destroy()
      })
      const request = { url: `https://${address}/`, tls: { ca: authority.cert } }
      assert.equal((await recordResponse(network, request)).body, 'ok')
      assert.equal((await recordResponse(network, request)).body, 'ok')
      assert.deepEqual(seen, ['GET', 'GET', 'GET'])
      const post = await recordResponse(network, { ...request, method: 'POST', body: Buffer.from('x') })
      assert.match(post.error!, /closed the connection before its answer was complete|connection reset/)
      assert.equal(seen.length, 4)
    })
  })

  it('sends a body, with its length, headers and the user of the URL', async () => {
    let request: IncomingMessage | undefined
    let body = ''
    const address = await start(
      createServer((itsRequest, response) => {
        request = itsRequest
        itsRequest.setEncoding('latin1').on('data', data => (body += String(data)))
        itsRequest.on('end', () => response.writeHead(202, { 'X-A': ['1', '2'] }).end())
      }),
    )
    const response = await recordResponse(network, {
      url: `http://me:secret@${address}/v1/metrics?a=b`,
      method: 'POST',
      body: Buffer.of(0, 255, 10),
      headers: { 'content-type': 'application/x-protobuf' },
    })
    assert.equal(response.status, 202)
    assert.equal(response.headers.get('x-a'), '1, 2')
    assert.equal(body, '\u0000\u00ff\n')
    assert.equal(request?.url, '/v1/metrics?a=b')
    assert.equal(request?.headers['content-length'], '3')
    assert.equal(request?.headers['content-type'], 'application/x-protobuf')
    assert.equal(request?.headers.authorization, `Basic ${Buffer.from('me:secret').toString('base64')}`)
  })

  it('delivers a redirect as it is', async () => {
    const address = await start(createServer((_, response) => response.writeHead(302, { location: '/x' }).end()))
    const response = await recordResponse(network, { url: `http://${address}/`, method: 'POST', body: Buffer.of(1) })
    assert.equal(response.status, 302)
    assert.equal(response.headers.get('location'), '/x')
  })

  it('closes the connection of a request that is cancelled in the middle of the body', async () => {
    let closed = Promise.resolve<unknown>(undefined)
    const address = await serveTls(localhost, (request, response) => {
      closed = once(request.socket, 'close')
      response.write('part')
    })
    const events: string[] = []
    await new Promise<void>(resolve => {
      const cancel = network.request(
        { url: `https://${address}/`, tls: { ca: authority.cert }, timeoutMs: Infinity },
        {
          head: () => events.push('head'),
          chunk() {
            events.push('chunk')
            cancel()
            resolve()
          },
          end: () => events.push('end'),
          failed: () => events.push('failed'),
        },
      )
    })
    await closed
    assert.deepEqual(events, ['head', 'chunk'])
  })

  it('ends when the network is closed', async () => {
    const address = await serveTls(localhost, () => void network.close())
    const response = await recordResponse(network, { url: `https://${address}/`, tls: { ca: authority.cert } })
    assert.equal(response.error, 'broken off: connections are being closed')
  })

  it('refuses endless headers', async () => {
    const raw = await startRawServer(socket =>
      socket.write(`HTTP/1.1 200 OK\r\n${`X: ${'y'.repeat(100)}\r\n`.repeat(2000)}`),
    )
    const response = await recordResponse(network, { url: raw.url, method: 'PUT' })
    assert.equal(response.error, 'the headers of the response are larger than 64 KiB')
    await raw.close()
  })

  describe('proxy', () => {
    /** Forwards plain requests by answering them itself, and tunnels the others. */
    async function startProxy(status = 200): Promise<{ address: string; seen: string[] }> {
      const seen: string[] = []
      const proxy = createServer((request, response) => {
        seen.push(`${request.method} ${request.url} ${request.headers['proxy-authorization'] ?? ''}`.trim())
        response.writeHead(status).end('forwarded')
      })
      proxy.on('connect', (request: IncomingMessage, socket) => {
        seen.push(`CONNECT ${request.url}`)
        if (status !== 200) return socket.end(`HTTP/1.1 ${status} No\r\n\r\n`)
        const [host = '', port] = request.url!.split(':')
        const server = connect(Number(port), host, () => {
          socket.write('HTTP/1.1 200 Fine\r\n\r\n')
          server.pipe(socket).pipe(server)
        })
        server.on('error', () => socket.destroy())
        socket.on('error', () => server.destroy())
        return undefined
      })
      return { address: await start(proxy), seen }
    }

    it('forwards plain requests, with the user of the proxy', async () => {
      const proxy = await startProxy()
      const request = { url: 'http://gpu-a.example:9400/metrics', proxyUrl: `http://me:pw@${proxy.address}` }
      assert.equal((await recordResponse(network, request)).body, 'forwarded')
      const user = Buffer.from('me:pw').toString('base64')
      assert.deepEqual(proxy.seen, [`GET http://gpu-a.example:9400/metrics Basic ${user}`])
    })

    it('tunnels TLS, and judges the certificate of the server', async () => {
      const proxy = await startProxy()
      const address = await serveTls()
      const request = { url: `https://${address}/`, proxyUrl: `http://${proxy.address}` }
      assert.equal((await recordResponse(network, { ...request, tls: { ca: authority.cert } })).body, 'ok')
      assert.deepEqual(proxy.seen, [`CONNECT ${address}`])
      const untrusted = await recordResponse(network, request)
      assert.match(untrusted.error!, new RegExp(`^the certificate of ${address} is not trusted: `))
    })

    it('says what the proxy answered', async () => {
      const proxy = await startProxy(407)
      const proxyUrl = `http://${proxy.address}`
      for (const url of ['https://gpu-a.example/', 'http://gpu-a.example:443/']) {
        assert.equal(
          (await recordResponse(network, { url, proxyUrl })).error,
          `the proxy ${proxy.address} answered 407 for gpu-a.example:443`,
        )
      }
    })

    it('says that it was the proxy that refused', async () => {
      const raw = await startRawServer(() => {})
      await raw.close()
      for (const url of ['https://gpu-a.example/', 'http://gpu-a.example/']) {
        const response = await recordResponse(network, { url, proxyUrl: `http://${raw.address}` })
        assert.equal(response.error, `connection refused by ${raw.address}`)
      }
    })

    it('is http or https', async () => {
      for (const proxyUrl of ['socks5://me:secret@127.0.0.1:1', 'nonsense']) {
        const response = await recordResponse(network, { url: 'http://127.0.0.1:1/', proxyUrl })
        assert.equal(response.error, 'the URL of a proxy must begin with http:// or https://')
      }
    })
  })
})
