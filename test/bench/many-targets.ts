/**
 * Serves as many dcgm-exporters as it is asked for, each at an address of its own (127.0.x.y), with changing values and chunked
 * bodies, as the exporter does. Run as a process of its own: `many-targets.ts COUNT`; prints its port.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dcgmPayload } from './payloads.ts'

const SCRAPES = 2
const count = Number(process.argv[2])
const payloads = Array.from({ length: count }, (_, target) =>
  Array.from({ length: SCRAPES }, (_, scrape) => dcgmPayload(target, scrape)),
)
const turns = new Uint32Array(count)

const server = createServer({ keepAliveTimeout: 120_000 }, (request, response) => {
  const [, , high, low] = request.socket.localAddress!.split('.').map(Number)
  const target = high! * 250 + low! - 1
  response.setHeader('content-type', 'text/plain; charset=utf-8')
  response.write(payloads[target]![turns[target]!++ % SCRAPES])
  response.end()
})
server.listen(0, '0.0.0.0', 1024, () => console.log((server.address() as AddressInfo).port))
