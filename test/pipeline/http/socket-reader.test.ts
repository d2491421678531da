import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { ResponseHandler } from '../../../pipeline/component.ts'
import { createSystemClock } from '../../../pipeline/clock/system-clock.ts'
import { createVirtualClock } from '../../../pipeline/clock/virtual-clock.ts'
import { createNetwork, type SystemNetwork } from '../../../pipeline/http/network.ts'
import { startRawServer, type RawServer } from './raw-server.ts'
import { recordResponse } from './record-response.ts'

const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'

describe('socket reader', () => {
  let network: SystemNetwork
  const servers: RawServer[] = []

  beforeEach(() => {
    network = createNetwork(createSystemClock())
  })
  afterEach(async () => {
    await network.close()
    await Promise.all(servers.splice(0).map(server => server.close()))
  })

  async function serve(respond: (socket: Socket, count: number) => void, host?: string): Promise<RawServer> {
    const server = await startRawServer(respond, host)
    servers.push(server)
    return server
  }

  it('uses what a request took for the next one of its handler, but not after a failure', async () => {
    const server = await serve((socket, count) => {
      if (count === 3) socket.destroy()
      else socket.write(OK)
    })
    const events: string[] = []
    const memos: unknown[] = []
    const cancels = new Set<() => void>()
    let finished = (): void => {}
    const handler: ResponseHandler = {
      memo: undefined,
      head: status => void events.push(`head ${status}`),
      chunk: bytes => void events.push(Buffer.from(bytes).toString()),
      end() {
        events.push('end')
        finished()
      },
      failed({ message }) {
        events.push(message.replace(/127.0.0.1:\d+/, 'it'))
        finished()
      },
    }
    for (let i = 0; i < 5; i++) {
      // POST: a GET would be sent again where the server closes the connection.
      const request = { url: server.url, method: 'POST', body: Buffer.from('x'), timeoutMs: 5000 } as const
      await new Promise<void>(resolve => {
        finished = resolve
        cancels.add(network.request(request, handler))
      })
      memos.push(handler.memo)
    }
    const answered = ['head 200', 'ok', 'end']
    assert.deepEqual(events.slice(0, 6), [...answered, ...answered])
    assert.match(events[6]!, /reset|closed/)
    assert.deepEqual(events.slice(7), [...answered, ...answered])
    assert.deepEqual(
      memos.map(memo => memos.indexOf(memo)),
      [0, 0, 0, 3, 3],
    )
    assert.equal(cancels.size, 2)
  })

  describe('understands', () => {
    const all = Array.from({ length: 256 }, (_, byte) => String.fromCharCode(byte)).join('')
    const cases: { name: string; bytes: string; close?: boolean; method?: 'HEAD'; status?: number; body: string }[] = [
      { name: 'a length', bytes: `HTTP/1.1 200 OK\r\nContent-Length: 256\r\n\r\n${all}`, body: all },
      { name: 'an empty body', bytes: 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n', body: '' },
      { name: 'the same length twice', bytes: 'HTTP/1.1 200 OK\r\nContent-Length: 1, 1\r\n\r\nx', body: 'x' },
      { name: 'no reason phrase', bytes: 'HTTP/1.1 200\r\nContent-Length: 1\r\n\r\nx', body: 'x' },
      {
        name: 'chunks',
        bytes: 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nA\r\n0123456789\r\n0\r\n\r\n',
        body: 'abc0123456789',
      },
      {
        name: 'chunks with extensions, leading zeros and trailers',
        bytes:
          'HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n0003;a=b\r\nabc\r\n1 \r\nd\r\n000\r\nX-Sum: 1\r\nY: 2\r\n\r\n',
        body: 'abcd',
      },
      { name: 'no chunk at all', bytes: 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n', body: '' },
      { name: 'bare line feeds', bytes: 'HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n2\nab\n0\n\n', body: 'ab' },
      { name: 'HTTP/1.0', bytes: 'HTTP/1.0 200 OK\r\n\r\nall of it', close: true, body: 'all of it' },
      { name: 'HTTP/1.1 until the connection ends', bytes: 'HTTP/1.1 200 OK\r\n\r\nabc', close: true, body: 'abc' },
      {
        name: 'interim responses',
        bytes: `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\nLink: x\r\n\r\n${OK}`,
        body: 'ok',
      },
      { name: '204', bytes: 'HTTP/1.1 204 No Content\r\n\r\n', status: 204, body: '' },
      { name: '304 with a length', bytes: 'HTTP/1.1 304 Same\r\nContent-Length: 5\r\n\r\n', status: 304, body: '' },
      { name: 'HEAD', bytes: 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n', method: 'HEAD', body: '' },
      {
        name: 'a redirect, as it is',
        bytes: 'HTTP/1.1 302 Found\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n',
        status: 302,
        body: '',
      },
      {
        name: 'an error status',
        bytes: 'HTTP/1.1 500 Oops\r\nContent-Length: 4\r\n\r\noops',
        status: 500,
        body: 'oops',
      },
    ]
    for (const { name, bytes, close = false, method, status = 200, body } of cases) {
      const pieces: Record<string, number> = { 'in one piece': bytes.length, 'byte by byte': 1, 'in sevens': 7 }
      for (const [how, size] of Object.entries(pieces)) {
        it(`${name}, ${how}`, async () => {
          const server = await serve(socket => void writeSlowly(socket, bytes, size, close))
          const response = await recordResponse(network, { url: server.url, ...(method && { method }) })
          assert.equal(response.error, undefined)
          assert.equal(response.status, status)
          assert.equal(response.body, body)
          assert.deepEqual(response.events, [`head ${status}`, ...(body === '' ? [] : ['chunk']), 'end'])
        })
      }
    }

    it('headers, in lower case, repeated ones joined, folded ones in one line', async () => {
      const head =
        'X-One: 1\r\nDate: today\r\n or so\r\nx-two:  2 \r\nX-ONE: 3\r\nX-Folded: a\r\n  b\r\n\tc\r\nX-Empty:\r\nContent-Length: 0'
      const server = await serve(socket => socket.write(`HTTP/1.1 200 OK\r\n${head}\r\n\r\n`))
      const { headers } = await recordResponse(network, { url: server.url })
      assert.deepEqual(Object.fromEntries(headers), {
        'x-one': '1, 3',
        'x-two': '2',
        'x-folded': 'a b c',
        'x-empty': '',
        'content-length': '0',
      })
    })

    it('heads that are as before but for the date, and those that are not', async () => {
      const body = '1\r\nx\r\n0\r\n\r\n'
      const head = (date: string, type = 'text/a') =>
        `HTTP/1.1 200 OK\r\nContent-Type: ${type}\r\nDate: ${date}\r\nTransfer-Encoding: chunked\r\n\r\n${body}`
      const answers: [bytes: string, status: number, type: string | undefined][] = [
        [head('Tue, 14 Nov 2023 22:13:20 GMT'), 200, 'text/a'],
        [head('Tue, 14 Nov 2023 22:13:25 GMT'), 200, 'text/a'],
        [head('Tue, 14 Nov 2023 22:13:30 GMT', 'text/b'), 200, 'text/b'],
        [head('Tue, 14 Nov 2023 22:13:35 GMT'), 200, 'text/a'],
        [head('none'), 200, 'text/a'],
        // As long as a date, but a line more.
        [head('Tue,\r\nContent-Type: text/later!'), 200, 'text/a, text/later!'],
        [`HTTP/1.1 503 No\r\nTransfer-Encoding: chunked\r\n\r\n${body}`, 503, undefined],
        [head('Tue, 14 Nov 2023 22:13:40 GMT'), 200, 'text/a'],
      ]
      let next = 0
      const server = await serve(socket => socket.write(answers[next++]![0], 'latin1'))
      for (const [, status, type] of answers) {
        const response = await recordResponse(network, { url: server.url })
        assert.equal(response.error, undefined)
        assert.equal(response.status, status)
        assert.equal(response.headers.get('content-type'), type)
        assert.equal(response.body, 'x')
      }
      assert.equal(server.connections, 1)
    })

    it('a body of many chunks that is larger than any buffer', async () => {
      const line = 'DCGM_FI_DEV_GPU_UTIL{gpu="0"} 29\n'
      const body = line.repeat(100_000)
      const server = await serve(socket => {
        socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n')
        for (let at = 0, size = 1; at < body.length; at += size, size = (size * 7 + 11) % 9973) {
          if (size === 0) size = 1
          const piece = body.slice(at, at + size)
          socket.write(`${piece.length.toString(16)}\r\n${piece}\r\n`)
        }
        socket.write('0\r\n\r\n')
      })
      const response = await recordResponse(network, { url: server.url })
      assert.equal(response.error, undefined)
      assert.ok(response.body === body)
    })
  })

  describe('refuses', () => {
    const head = 'HTTP/1.1 200 OK\r\n'
    const cases: { name: string; bytes: string; close?: boolean; error: RegExp }[] = [
      {
        name: 'something else than HTTP',
        bytes: 'SSH-2.0-OpenSSH_9.2\r\n',
        error: /does not speak HTTP\/1.1: it answered "SSH-2.0-OpenSSH_9.2"/,
      },
      { name: 'HTTP/2', bytes: 'HTTP/2 200\r\n\r\n', error: /does not speak HTTP\/1.1/ },
      { name: 'a status that is none', bytes: 'HTTP/1.1 2000 OK\r\n\r\n', error: /does not speak HTTP\/1.1/ },
      { name: 'a protocol nobody asked for', bytes: 'HTTP/1.1 101 Switching\r\n\r\n', error: /another protocol/ },
      { name: 'a header without a name', bytes: `${head}: x\r\n\r\n`, error: /without a name/ },
      { name: 'a header without a colon', bytes: `${head}what is this\r\n\r\n`, error: /without a name/ },
      { name: 'a blank before the colon', bytes: `${head}Content-Length : 2\r\n\r\nok`, error: /without a name/ },
      { name: 'a continued line where there is none', bytes: `${head} x\r\n\r\n`, error: /without a name/ },
      { name: 'control characters', bytes: `${head}X: a\0b\r\n\r\n`, error: /control characters/ },
      {
        name: 'a carriage return inside a line',
        bytes: `${head}X: a\rContent-Length: 1\r\n\r\n`,
        error: /control characters/,
      },
      { name: 'a negative length', bytes: `${head}Content-Length: -1\r\n\r\n`, error: /Content-Length "-1"/ },
      { name: 'a length with a sign', bytes: `${head}Content-Length: +1\r\n\r\nx`, error: /Content-Length "\+1"/ },
      {
        name: 'a length that is no number',
        bytes: `${head}Content-Length: 0x10\r\n\r\n`,
        error: /Content-Length "0x10"/,
      },
      {
        name: 'an endless length',
        bytes: `${head}Content-Length: 99999999999999999999\r\n\r\n`,
        error: /Content-Length/,
      },
      {
        name: 'two lengths',
        bytes: `${head}Content-Length: 1\r\nContent-Length: 2\r\n\r\nxx`,
        error: /Content-Length "1, 2"/,
      },
      {
        name: 'length and chunks at once',
        bytes: `${head}Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
        error: /both Content-Length and Transfer-Encoding/,
      },
      {
        name: 'an unknown encoding',
        bytes: `${head}Transfer-Encoding: gzip, chunked\r\n\r\n`,
        error: /Transfer-Encoding "gzip, chunked"/,
      },
      {
        name: 'chunks in HTTP/1.0',
        bytes: 'HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n',
        error: /Transfer-Encoding/,
      },
      ...Object.entries({
        'a chunk size that is no number': ['xyz\r\n', /no hexadecimal number/],
        'a negative chunk size': ['-1\r\n', /no hexadecimal number/],
        'a chunk size with a prefix': ['0x5\r\n', /no hexadecimal number/],
        'an empty chunk size': ['\r\nabc', /without a size/],
        'a chunk size of a thousand digits': ['f'.repeat(1000), /out of range/],
        'endless zeros': ['0'.repeat(2000), /endless chunk size/],
        'an endless extension': [`1;${'x'.repeat(2000)}`, /endless chunk size/],
        'a chunk that is longer than it says': ['3\r\nabcd\r\n', /longer than its size/],
        'an endless end of a chunk': [`1\r\na${'\r'.repeat(2000)}`, /endless chunk size/],
        'endless trailers': [`0\r\n${'x: y\r\n'.repeat(20_000)}`, /larger than 64 KiB/],
      } as const).map(([name, [bytes, error]]) => ({
        name,
        bytes: `${head}Transfer-Encoding: chunked\r\n\r\n${bytes}`,
        error,
      })),
      {
        name: 'an endless header line',
        bytes: `${head}X: ${'x'.repeat(100_000)}`,
        error: /headers of the response are larger than 64 KiB/,
      },
      { name: 'endless headers', bytes: head + 'X: y\r\n'.repeat(20_000), error: /larger than 64 KiB/ },
      { name: 'an endless status line', bytes: `HTTP/1.1 200 ${'x'.repeat(100_000)}`, error: /larger than 64 KiB/ },
      {
        name: 'endless interim responses',
        bytes: 'HTTP/1.1 100 Continue\r\n\r\n'.repeat(5000),
        error: /larger than 64 KiB/,
      },
      {
        name: 'a body that is too short',
        bytes: `${head}Content-Length: 5\r\n\r\nabc`,
        close: true,
        error: /closed the connection before its answer was complete/,
      },
      {
        name: 'chunks without an end',
        bytes: `${head}Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n`,
        close: true,
        error: /closed the connection before/,
      },
      { name: 'half a head', bytes: `${head}Content-`, close: true, error: /closed the connection before/ },
      { name: 'no answer at all', bytes: '', close: true, error: /closed the connection before/ },
    ]
    for (const { name, bytes, close = false, error } of cases) {
      it(name, async () => {
        const server = await serve(socket => {
          socket.write(bytes, 'latin1')
          if (close) socket.end()
        })
        const response = await recordResponse(network, { url: server.url })
        assert.match(response.error ?? 'no error', error)
        assert.equal(response.events.at(-1), 'failed')
        await server.openAtMost(0)
        assert.equal(server.connections, 1)
      })
    }

    it('a long run of blanks in a header at once', async () => {
      const server = await serve(socket =>
        socket.write(`${head}X: a${' '.repeat(60_000)}b\r\nContent-Length: 0\r\n\r\n`),
      )
      assert.equal((await recordResponse(network, { url: server.url })).error, undefined)
    })

    it('a connection that is reset in the middle of the body', async () => {
      const server = await serve(socket => {
        socket.write(`${head}Content-Length: 500\r\n\r\nabc`, () => socket.resetAndDestroy())
      })
      const response = await recordResponse(network, { url: server.url })
      assert.match(response.error!, /connection reset by 127.0.0.1:\d+/)
    })
  })

  describe('keeps connections', () => {
    it('sends a thousand requests over one', async () => {
      const server = await serve(socket => socket.write(OK))
      for (let i = 0; i < 1000; i++) {
        const { body } = await recordResponse(network, { url: server.url })
        assert.equal(body, 'ok')
      }
      assert.equal(server.requests.length, 1000)
      assert.equal(server.connections, 1)
    })

    it('takes the next request from inside the handler of the last', async () => {
      const server = await serve(socket => socket.write(OK))
      await new Promise<void>((resolve, reject) => {
        const handler = { head() {}, chunk() {}, end: resolve, failed: reject }
        network.request({ url: server.url, timeoutMs: 5000 }, { ...handler, end: again })
        function again(): void {
          network.request({ url: server.url, timeoutMs: 5000 }, handler)
        }
      })
      assert.equal(server.connections, 1)
    })

    it('opens one per request that is under way, and keeps a limited number', async () => {
      network = createNetwork(createSystemClock(), { maxIdlePerAddress: 3 })
      const waiting: Socket[] = []
      const server = await serve(socket => {
        waiting.push(socket)
        if (waiting.length === 10) for (const each of waiting) each.write(OK)
      })
      const responses = await Promise.all(
        Array.from({ length: 10 }, () => recordResponse(network, { url: server.url })),
      )
      assert.ok(responses.every(response => response.body === 'ok'))
      assert.equal(server.connections, 10)
      await server.openAtMost(3)
      assert.equal(server.open.size, 3)
    })

    it('closes the one that has waited longest when there are too many', async () => {
      network = createNetwork(createSystemClock(), { maxIdle: 2 })
      const three = await Promise.all([1, 2, 3].map(() => serve(socket => socket.write(OK))))
      for (const server of three) await recordResponse(network, { url: server.url })
      await three[0]!.openAtMost(0)
      assert.deepEqual(
        three.map(server => server.open.size),
        [0, 1, 1],
      )
    })

    it('drops one that nobody uses for a while', async () => {
      network = createNetwork(createSystemClock(), { idleMs: 10 })
      const server = await serve(socket => socket.write(OK))
      await recordResponse(network, { url: server.url })
      await server.openAtMost(0)
      await recordResponse(network, { url: server.url })
      assert.equal(server.connections, 2)
    })

    it('does not drop one that is waiting for its answer', async () => {
      network = createNetwork(createSystemClock(), { idleMs: 10 })
      const server = await serve(socket => setTimeout(() => socket.write(OK), 60))
      assert.equal((await recordResponse(network, { url: server.url })).body, 'ok')
    })

    const notKept: Record<string, string> = {
      'the server says close': 'HTTP/1.1 200 OK\r\nConnection: Close\r\nContent-Length: 2\r\n\r\nok',
      'it is HTTP/1.0': 'HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok',
      'there are bytes after the end': `${OK}more`,
      'there are bytes after the last chunk':
        'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\nHTTP/1.1 200 OK\r\n',
    }
    for (const [name, bytes] of Object.entries(notKept)) {
      it(`except when ${name}`, async () => {
        const server = await serve(socket => socket.write(bytes))
        for (let i = 0; i < 2; i++) assert.equal((await recordResponse(network, { url: server.url })).body, 'ok')
        await server.openAtMost(0)
        assert.equal(server.connections, 2)
      })
    }

    it('also with HTTP/1.0, if the server says so', async () => {
      const server = await serve(socket =>
        socket.write('HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok'),
      )
      for (let i = 0; i < 2; i++) await recordResponse(network, { url: server.url })
      assert.equal(server.connections, 1)
    })

    it('closes one on which bytes arrive that nobody asked for', async () => {
      const server = await serve(socket => socket.write(OK))
      await recordResponse(network, { url: server.url })
      for (const socket of server.open) socket.write('HTTP/1.1 408 Too slow\r\n\r\n')
      await server.openAtMost(0)
      assert.equal((await recordResponse(network, { url: server.url })).body, 'ok')
    })

    for (const how of ['end', 'resetAndDestroy'] as const) {
      it(`sends a request again when the server had closed the connection (${how})`, async () => {
        const server = await serve((socket, count) => {
          if (count === 1) socket.write(OK)
          else socket[how]()
        })
        for (let i = 0; i < 3; i++) {
          const response = await recordResponse(network, { url: server.url })
          assert.deepEqual(response.events, ['head 200', 'chunk', 'end'])
        }
        assert.equal(server.connections, 3)
      })
    }

    it('does not send it again once a byte of the answer has arrived', async () => {
      const answers = [OK, 'HTTP']
      const server = await serve(socket => {
        socket.write(answers.shift()!)
        if (answers.length === 0) socket.end()
      })
      await recordResponse(network, { url: server.url })
      const torn = await recordResponse(network, { url: server.url })
      assert.match(torn.error!, /closed the connection before/)
      assert.equal(server.requests.length, 2)
    })

    it('sends it again only once', async () => {
      const server = await serve(socket => {
        if (server.requests.length === 1) socket.write(OK)
        else socket.end()
      })
      await recordResponse(network, { url: server.url })
      const lost = await recordResponse(network, { url: server.url })
      assert.match(lost.error!, /closed the connection before/)
      assert.equal(server.requests.length, 3)
    })
  })

  describe('ends', () => {
    it('at the time limit, however slowly the body drips', async () => {
      const clock = createVirtualClock(0)
      network = createNetwork(clock)
      const server = await serve(socket => {
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n')
        const drip = setInterval(() => socket.write('x'), 1)
        socket.on('close', () => clearInterval(drip))
      })
      let heard = 0
      const failed = new Promise<Error>(resolve => {
        const request = { url: server.url, timeoutMs: 10_000 }
        network.request(request, {
          head() {},
          chunk() {
            if (++heard === 3) void clock.advance(10_000)
          },
          end() {},
          failed: resolve,
        })
      })
      assert.equal((await failed).message, 'timed out after 10s')
      await server.openAtMost(0)
    })

    it('at the time limit when the server says nothing', async () => {
      const server = await serve(() => {})
      const response = await recordResponse(network, { url: server.url, timeoutMs: 20 })
      assert.equal(response.error, 'timed out after 20ms')
      await server.openAtMost(0)
    })

    it('when it is cancelled, in the middle of the body, with its connection', async () => {
      const server = await serve(socket => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nabc'))
      const events: string[] = []
      await new Promise<void>(resolve => {
        const cancel = network.request(
          { url: server.url, timeoutMs: 5000 },
          {
            head: () => events.push('head'),
            chunk() {
              events.push('chunk')
              cancel()
              cancel()
              resolve()
            },
            end: () => events.push('end'),
            failed: () => events.push('failed'),
          },
        )
      })
      await server.openAtMost(0)
      assert.deepEqual(events, ['head', 'chunk'])
    })

    it('when it is cancelled before the connection is there', async () => {
      const server = await serve(socket => socket.write(OK))
      const events: string[] = []
      const handler = { head: () => events.push('head'), chunk() {}, end() {}, failed: () => events.push('failed') }
      network.request({ url: server.url, timeoutMs: 5000 }, handler)()
      await recordResponse(network, { url: server.url })
      assert.deepEqual(events, [])
      assert.equal(server.requests.length, 1)
    })

    it('when the network is closed', async () => {
      const server = await serve(socket => {
        socket.write('HTTP/1.1 200 OK\r\n')
        void network.close()
      })
      const response = await recordResponse(network, { url: server.url })
      assert.equal(response.error, 'broken off: connections are being closed')
      await server.openAtMost(0)
    })

    it('when the handler throws, for that request only', async () => {
      const server = await serve(socket => socket.write(OK))
      for (const where of ['head', 'chunk', 'end'] as const) {
        const error = await new Promise<Error>(resolve => {
          const handler = { head() {}, chunk() {}, end() {}, failed: resolve }
          handler[where] = () => {
            throw new Error(`broken ${where}`)
          }
          network.request({ url: server.url, timeoutMs: 5000 }, handler)
        })
        assert.equal(error.message, `broken ${where}`)
      }
      assert.equal((await recordResponse(network, { url: server.url })).body, 'ok')
    })
  })

  describe('says', () => {
    it('who refused the connection', async () => {
      const server = await startRawServer(() => {})
      await server.close()
      const response = await recordResponse(network, { url: server.url })
      assert.equal(response.error, `connection refused by ${server.address}`)
      assert.deepEqual(response.events, ['failed'])
    })

    it('which host does not exist', async () => {
      const response = await recordResponse(network, { url: 'http://gpu-a.invalid:9400/metrics' })
      assert.match(response.error!, /^(no such host: gpu-a.invalid|no answer from DNS for gpu-a.invalid)$/)
    })

    for (const [url, error] of Object.entries({
      'node-a:9400/metrics': '"node-a://" is neither http:// nor https://',
      'file:///etc/passwd': '"file://" is neither http:// nor https://',
      'http://': '"http://" is not a URL',
      '': '"" is not a URL',
    })) {
      it(`that ${JSON.stringify(url)} cannot be asked, and not from inside the call`, async () => {
        assert.equal((await recordResponse(network, { url })).error, error)
      })
    }

    it('which header cannot be sent, without its value', async () => {
      const headers = { authorization: 'secret\r\nX-Injected: 1' }
      const response = await recordResponse(network, { url: 'http://127.0.0.1:1/', headers })
      assert.match(response.error!, /value of header "authorization"/)
      assert.doesNotMatch(response.error!, /secret/)
      const named = await recordResponse(network, { url: 'http://127.0.0.1:1/', headers: { 'a b': '' } })
      assert.match(named.error!, /"a b" cannot be the name of a header/)
    })
  })

  describe('asks', () => {
    it('with path, query, host and headers', async () => {
      const server = await serve(socket => socket.write(OK))
      const url = `http://${server.address}/a%20b?match[]=x&y=z#part`
      await recordResponse(network, { url, headers: { Accept: 'text/plain' } })
      assert.deepEqual(server.requests[0]!.split('\r\n'), [
        'GET /a%20b?match[]=x&y=z HTTP/1.1',
        `host: ${server.address}`,
        'Accept: text/plain',
        'user-agent: gpucol',
      ])
    })

    it('with the user of the URL as basic auth, unless there is an Authorization', async () => {
      const server = await serve(socket => socket.write(OK))
      const url = `http://m%C3%A4x:p%40ss@${server.address}/`
      await recordResponse(network, { url })
      await recordResponse(network, { url, headers: { Authorization: 'Bearer x' } })
      assert.ok(server.requests[0]!.includes(`authorization: Basic ${Buffer.from('mäx:p@ss').toString('base64')}`))
      assert.ok(server.requests[1]!.includes('Authorization: Bearer x'))
      assert.ok(!server.requests[1]!.includes('Basic'))
    })

    it('over IPv6', async function () {
      const server = await serve(socket => socket.write(OK), '::1').catch(() => undefined)
      if (server === undefined) return this.skip()
      assert.equal((await recordResponse(network, { url: server.url })).body, 'ok')
      assert.match(server.requests[0]!, /host: \[::1\]:\d+/)
    })
  })

  describe('sends a body', () => {
    type Seen = { readonly method: string; readonly length: string | undefined; readonly body: string }

    const bodyServers: (() => Promise<void>)[] = []
    afterEach(() => Promise.all(bodyServers.splice(0).map(close => close())))

    /** Answers what it was sent; the connections are counted. */
    async function serveBodies(answer?: (socket: Socket, seen: readonly Seen[]) => boolean) {
      const seen: Seen[] = []
      const sockets = new Set<Socket>()
      const server = createServer((request, response) => {
        sockets.add(request.socket)
        let body = ''
        request.setEncoding('latin1').on('data', (text: string) => (body += text))
        request.on('end', () => {
          seen.push({ method: request.method!, length: request.headers['content-length'], body })
          if (answer?.(request.socket, seen) !== true) response.end(body)
        })
      })
      server.listen(0, '127.0.0.1')
      await once(server, 'listening')
      const close = (): Promise<void> => new Promise(resolve => server.close(() => resolve()).closeAllConnections())
      bodyServers.push(close)
      return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/metrics`, seen, sockets }
    }

    it('with its length, one after the other over one connection', async () => {
      const { url, seen, sockets } = await serveBodies()
      const large = Buffer.alloc(3_000_000, 'x')
      for (const body of [Buffer.from([0, 255]), large, Buffer.alloc(0)]) {
        const response = await recordResponse(network, {
          url,
          method: 'POST',
          body,
          headers: { 'Content-Length': '9' },
        })
        assert.equal(response.error, undefined)
        assert.equal(response.status, 200)
      }
      assert.deepEqual(
        seen.map(({ method, length, body }) => [method, length, body.length]),
        [
          ['POST', '2', 2],
          ['POST', '3000000', 3_000_000],
          ['POST', '0', 0],
        ],
      )
      assert.equal(seen[0]!.body, '\u0000\u00ff')
      assert.equal(sockets.size, 1)
    })

    it('never twice, even if the server had closed the connection it kept', async () => {
      const { url, seen } = await serveBodies((socket, { length }) => {
        if (length === 2) socket.destroy()
        return length === 2
      })
      const request = { url, method: 'POST', body: Buffer.from('x') } as const
      assert.equal((await recordResponse(network, request)).body, 'x')
      const lost = await recordResponse(network, request)
      assert.match(lost.error!, /closed the connection before its answer was complete|connection reset/)
      assert.equal(seen.length, 2)
    })

    it('and takes an answer that comes before the server has read it, on a connection that is not used again', async () => {
      const server = await serve(socket => {
        socket.pause()
        socket.write('HTTP/1.1 413 Too Large\r\ncontent-length: 5\r\n\r\nlarge')
      })
      const response = await recordResponse(network, {
        url: server.url,
        method: 'POST',
        body: Buffer.alloc(30_000_000),
      })
      assert.equal(response.error, undefined)
      assert.equal(response.status, 413)
      assert.equal((await recordResponse(network, { url: server.url })).status, 413)
      assert.equal(server.connections, 2)
    })
  })

  it('lets the process end while connections wait', async () => {
    const server = await serve(socket => socket.write(OK))
    await recordResponse(network, { url: server.url })
    // The other end of it is the server's.
    assert.equal(process.getActiveResourcesInfo().filter(name => name === 'TCPSocketWrap').length, server.open.size)
  })
})

/** Writes bytes (latin1) in pieces, each of which arrives by itself. */
async function writeSlowly(socket: Socket, bytes: string, size: number, close: boolean): Promise<void> {
  for (let at = 0; at < bytes.length && !socket.destroyed; at += size) {
    await new Promise(resolve => socket.write(bytes.slice(at, at + size), 'latin1', resolve))
    await new Promise(resolve => setImmediate(resolve))
  }
  if (close) socket.end()
}
