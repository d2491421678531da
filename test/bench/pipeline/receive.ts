/**
 * What it costs in Node to receive and nothing else: asks COUNT targets every INTERVAL seconds over connections that stay open, and
 * throws away what they answer. `receive.ts PORT COUNT INTERVAL PATH HOW`.
 *
 * `plain` is a program as most would write it: a `net.Socket` for each target and a listener for its data. `shared` is the cheapest way
 * that is known: all sockets read into one buffer. In both, targets that are due at about the same time are asked together, a second
 * apart, as the scraper does with so many; asked one by one they would cost twice as much.
 */
import { connect, type Socket, type TcpNetConnectOpts } from 'node:net'
import { targetAddress } from './addresses.ts'

const [port, count, interval] = process.argv.slice(2, 5).map(Number) as [number, number, number]
const [path, how] = process.argv.slice(5) as [string, 'plain' | 'shared']
const GRID_MS = 1000
const moments = Math.round((interval * 1000) / GRID_MS)

const buffer = Buffer.allocUnsafeSlow(256 * 1024)
const sockets = Array.from({ length: count }, (_, target) => open(target))
const groups = Array.from({ length: moments }, (_, moment) =>
  sockets.filter((_, target) => target % moments === moment),
)
const request = Buffer.from(`GET ${path} HTTP/1.1\r\nhost: localhost\r\n\r\n`)

let moment = 0
const startMs = performance.now()
function tick(): void {
  for (const socket of groups[moment++ % moments]!) socket.write(request)
  setTimeout(tick, startMs + moment * GRID_MS - performance.now())
}
tick()

/** The end of an answer need not be found: the next request comes long after it. */
function open(target: number): Socket {
  const options: TcpNetConnectOpts = { host: targetAddress(target), port, noDelay: true }
  if (how === 'shared') return connect({ ...options, onread: { buffer, callback: () => true } })
  return connect(options).on('data', () => {})
}
