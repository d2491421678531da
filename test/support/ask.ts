/** One HTTP request as it is written, for what `fetch` does not let a test say. */
import { request, type IncomingHttpHeaders } from 'node:http'

export type Answer = { readonly status: number; readonly headers: IncomingHttpHeaders; readonly body: string }

/** `line` is `GET /path`; the address `host:port`. */
export function ask(address: string, line: string, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
  const [method, path] = line.split(' ') as [string, string]
  const [host, port] = address.split(':') as [string, string]
  return new Promise((resolve, reject) => {
    request({ host, port, method, path, headers, agent: false }, response => {
      let body = ''
      response.setEncoding('utf8')
      response.on('data', (text: string) => (body += text))
      response.on('end', () => resolve({ status: response.statusCode!, headers: response.headers, body }))
      response.on('error', reject)
    })
      .on('error', reject)
      .end()
  })
}
