/** A receiver of remote write on loopback, with the decoder of others, that answers as it is told. */
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { decodeWriteRequest, seriesText, type DecodedRequest, type DecodedSample } from './remote-write-messages.ts'

export type ReceivedRequest = DecodedRequest & {
  readonly method: string
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
  readonly version: 1 | 2
  /** What it was answered. */
  readonly status: number
}

/** What request `number` is answered, from 0 on; 204 where nothing is said, with the headers that 2.0 wants. */
export type Behaviour = (
  number: number,
  version: 1 | 2,
) => { status?: number; headers?: Record<string, string>; body?: string; isSilent?: boolean } | undefined

export type WriteReceiver = {
  readonly url: string
  readonly requests: readonly ReceivedRequest[]
  /** Every sample that was accepted, by series, in the order of arrival. */
  samples(): Map<string, DecodedSample[]>
  close(): Promise<void>
}

export async function startWriteReceiver(behaviour: Behaviour = () => undefined): Promise<WriteReceiver> {
  const requests: ReceivedRequest[] = []
  let count = 0
  const server = createServer((request, response) => {
    const number = count++
    const pieces: Buffer[] = []
    request.on('data', (piece: Buffer) => pieces.push(piece))
    request.on('end', () => {
      const version = request.headers['content-type']?.includes('proto=io.prometheus.write.v2.Request') ? 2 : 1
      const { status = 204, headers = {}, body = '', isSilent = false } = behaviour(number, version) ?? {}
      const bytes = Buffer.concat(pieces)
      const decoded = decodeWriteRequest(bytes, version)
      requests.push({
        ...decoded,
        method: request.method!,
        headers: request.headers,
        body: bytes,
        version,
        status,
      })
      const samples = decoded.series.reduce((sum, one) => sum + one.samples.length, 0)
      if (version === 2 && !isSilent && status < 300) {
        response.setHeader('X-Prometheus-Remote-Write-Samples-Written', String(samples))
        response.setHeader('X-Prometheus-Remote-Write-Histograms-Written', '0')
        response.setHeader('X-Prometheus-Remote-Write-Exemplars-Written', '0')
      }
      response.writeHead(status, headers).end(body)
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v1/write`,
    requests,
    samples() {
      const samples = new Map<string, DecodedSample[]>()
      for (const { series, status } of requests) {
        if (status >= 300) continue
        for (const one of series) {
          const text = seriesText(one)
          samples.set(text, [...(samples.get(text) ?? []), ...one.samples])
        }
      }
      return samples
    },
    close: () =>
      new Promise(resolve => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
