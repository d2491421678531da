/**
 * Who takes what comes out, as a process of its own: a sink for OTLP that counts, and a client that scrapes Prometheus endpoints every
 * INTERVAL seconds. `clients.ts INTERVAL URL...`; prints the sink's port. `/taken` of the sink says what came.
 */
import { createServer, get, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

const [interval, ...urls] = process.argv.slice(2)
/** Requests and bytes by path or URL, and how many bytes the last answer had. */
const taken: Record<string, { requests: number; bytes: number; last: number; status: number }> = {}

async function drain(name: string, status: number, message: IncomingMessage): Promise<void> {
  let bytes = 0
  for await (const chunk of message) bytes += (chunk as Buffer).length
  const sum = (taken[name] ??= { requests: 0, bytes: 0, last: 0, status })
  taken[name] = { requests: sum.requests + 1, bytes: sum.bytes + bytes, last: bytes, status }
}

const sink = createServer({ keepAliveTimeout: 120_000 }, (request, response) => {
  if (request.url === '/taken') return void response.end(JSON.stringify(taken))
  void drain(request.url!, 200, request).then(() => {
    // The empty answer: everything was accepted.
    response.writeHead(200, { 'content-type': request.headers['content-type'] ?? 'application/x-protobuf' })
    response.end(request.headers['content-type'] === 'application/json' ? '{}' : '')
  })
})
sink.listen(0, '127.0.0.1', () => console.log((sink.address() as AddressInfo).port))

async function scrape(url: string): Promise<void> {
  for (;;) {
    await sleep(Number(interval) * 1000)
    await new Promise<void>(resolve => {
      get(url, response => void drain(url, response.statusCode!, response).then(resolve)).on('error', () => resolve())
    })
  }
}
for (const url of urls) void scrape(url)
