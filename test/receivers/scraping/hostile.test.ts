/** Targets that misbehave, over real connections, next to one that does not. */
import assert from 'node:assert/strict'
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import { createSystemClock } from '../../../pipeline/clock/system-clock.ts'
import { createNetwork } from '../../../pipeline/http/network.ts'
import type { Batch } from '../../../pipeline/model/batch.ts'
import { columnCount, metricAt } from '../../../pipeline/model/layout.ts'
import { createScrapeReceiver } from '../../../receivers/scraping/scrape-receiver.ts'
import { scrapeConfig } from '../../support/scrape-config.ts'
import { testHost } from '../../support/test-host.ts'

const HEAD = 'HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nConnection: close\r\n'
const MEGABYTE = Buffer.alloc(1024 * 1024, 'x')
// The servers are in the process of the scraper: what they take long for is made before.
const BOMB = gzipSync(Buffer.alloc(100 * 1024 * 1024))
const MANY_SERIES = Array.from({ length: 20_000 }, (_, i) => `a{i="${i}"} 1\n`).join('')
const VERY_MANY_SERIES = Array.from({ length: 150_000 }, (_, i) => `a{i="${i}"} 1\n`).join('')

/**
 * What each target does when it is asked, and what is said about it; undefined is a good scrape. On a slow machine the time may be
 * over before a limit is reached, which bounds the target just as well.
 */
const TARGETS: Record<string, { answer: (socket: Socket) => void; problem: RegExp | undefined }> = {
  'behaves well': { answer: socket => socket.end(`${HEAD}\r\na 1\nb 2\n`), problem: undefined },
  'never stops sending lines': {
    answer: socket => flood(socket, `${HEAD}\r\n`, Buffer.from('a{x="1"} 1\n'.repeat(10_000))),
    problem: /body_size_limit|timed out/,
  },
  'never ends a line': {
    answer: socket => flood(socket, `${HEAD}\r\na{x="`, MEGABYTE),
    problem: /body_size_limit|timed out/,
  },
  'never ends its headers': {
    answer: socket => flood(socket, HEAD, Buffer.from(`X-Header: ${'x'.repeat(1000)}\r\n`.repeat(100))),
    problem: /headers|timed out/,
  },
  'never ends a header': {
    answer: socket => flood(socket, `${HEAD}X-Header: `, MEGABYTE),
    problem: /headers|timed out/,
  },
  'sends a byte now and then': { answer: drip, problem: /timed out/ },
  'says nothing': { answer: () => {}, problem: /timed out/ },
  'hangs up at once': { answer: socket => socket.destroy(), problem: /./ },
  'hangs up in a line': {
    answer: socket =>
      socket.end(`HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 1000\r\n\r\na 1\nb{x="`),
    problem: /./,
  },
  'sends a bomb': {
    answer: socket => {
      socket.write(`${HEAD}Content-Encoding: gzip\r\nContent-Length: ${BOMB.length}\r\n\r\n`)
      socket.end(BOMB)
    },
    problem: /body_size_limit|timed out/,
  },
  'sends bytes of any kind': {
    answer: socket => {
      const bytes = Buffer.from(Array.from({ length: 100_000 }, (_, i) => (i * 31 + (i >> 7) * 17) & 0xff))
      socket.end(Buffer.concat([Buffer.from(`${HEAD}\r\n`), bytes]))
    },
    problem: /nothing in the body can be read/,
  },
  'sends more series than it may': {
    answer: socket => socket.end(`${HEAD}\r\n${MANY_SERIES}`),
    problem: /20000 samples, sample_limit is 10000/,
  },
  'sends very many series': {
    answer: socket => socket.end(`${HEAD}\r\n${VERY_MANY_SERIES}`),
    problem: /more than 100000 series/,
  },
  'is no HTTP server': { answer: socket => socket.end('SSH-2.0-OpenSSH_9.2\r\n'), problem: /./ },
  'has bad lines among good ones': {
    answer: socket => socket.end(Buffer.from(`${HEAD}\r\na{x="\xff"} 1\n\0\0\na 1\nb ERROR\nb 2`, 'latin1')),
    problem: undefined,
  },
}

describe('targets that misbehave', function () {
  this.timeout(30_000)

  it('fail with a clear message, and cost the others nothing', async () => {
    const servers = new Map<string, Server>()
    for (const [name, { answer }] of Object.entries(TARGETS)) servers.set(name, await listen(answer))
    const clock = createSystemClock()
    const network = createNetwork(clock)
    const host = testHost({ clock, network })
    const nameOf = new Map([...servers].map(([name, server]) => [`http://${addressOf(server)}/metrics`, name]))
    const firstBatches = new Map<string, Batch>()
    const reported = new Set<string>()
    let done = (): void => {}
    const allReported = new Promise<void>(resolve => {
      done = resolve
    })
    const receiver = createScrapeReceiver(
      scrapeConfig({
        static_targets: [...nameOf.keys()],
        scrape_interval: '60s',
        scrape_timeout: '8s',
        body_size_limit: '4MiB',
        sample_limit: 10_000,
        enable_compression: true,
      }),
      {
        urls: { scheme: 'http', port: 80, path: '/metrics' },
        fallback: 'text',
        emptyIsFailure: false,
        isOfNode: false,
      },
      host,
      batch => {
        const name = nameOf.get(batch.source.name)!
        if (batch.outcome === 'ok' && columnCount(batch.layout) > 0 && metricAt(batch.layout, 0).name === 'up') {
          reported.add(name)
          if (reported.size === nameOf.size) done()
        } else if (!firstBatches.has(name)) firstBatches.set(name, batch)
      },
    )
    try {
      await receiver.start!()
      await allReported
      for (const [name, { problem }] of Object.entries(TARGETS)) {
        const batch = firstBatches.get(name)!
        const url = [...nameOf].find(([, other]) => other === name)![0]
        const said = host.logged.find(line => line.startsWith(`failing ${url}: `))
        if (problem === undefined) {
          assert.equal(batch.outcome, 'ok', `a target that ${name}: ${said}`)
          assert.deepEqual([...batch.values], [1, 2])
        } else {
          assert.equal(batch.outcome, 'failed', `a target that ${name}`)
          assert.match(said ?? '', problem, `a target that ${name}`)
        }
      }
    } finally {
      await receiver.stop!(0)
      await network.close()
      for (const server of servers.values()) server.close()
    }
  })
})

/** Answers as soon as a request has arrived. */
function listen(answer: (socket: Socket) => void): Promise<Server> {
  const server = createServer(socket => {
    socket.on('error', () => {})
    socket.once('data', () => answer(socket))
  })
  return new Promise(resolve => server.listen(0, '127.0.0.1', () => resolve(server)))
}

function addressOf(server: Server): string {
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Writes the same again and again, for as long as somebody takes it. */
function flood(socket: Socket, first: string, piece: Buffer): void {
  socket.write(first)
  const more = (): void => {
    while (!socket.destroyed && socket.write(piece));
  }
  socket.on('drain', more)
  more()
}

function drip(socket: Socket): void {
  socket.write(`${HEAD}\r\n`)
  const timer = setInterval(() => socket.write('a'), 50)
  socket.on('close', () => clearInterval(timer))
}
