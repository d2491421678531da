/** Stands between a scraper and its target, changes nothing, and remembers in which form the answers were. */
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'

export type ScrapeTap = {
  readonly address: string
  /** Content-Type and Content-Encoding, by what was asked for. */
  readonly forms: ReadonlyMap<string, string>
  close(): Promise<void>
}

export async function startScrapeTap(port: number): Promise<ScrapeTap> {
  const forms = new Map<string, string>()
  const server = createServer(({ url = '', headers }, response) => {
    const forwarded = request({ host: '127.0.0.1', port, path: url, headers }, answer => {
      const { 'content-type': type, 'content-encoding': encoding } = answer.headers
      forms.set(headers.accept ?? '', `${type} ${encoding}`)
      response.writeHead(answer.statusCode!, answer.headers)
      answer.pipe(response)
    })
    forwarded.on('error', () => response.destroy())
    forwarded.end()
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    forms,
    close() {
      server.closeAllConnections()
      return new Promise(resolve => server.close(() => resolve()))
    },
  }
}
