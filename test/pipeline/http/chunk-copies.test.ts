import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createSystemClock } from '../../../pipeline/clock/system-clock.ts'
import { createNetwork } from '../../../pipeline/http/network.ts'
import { readBody } from '../../../pipeline/http/read-body.ts'

describe('a body that arrives in many pieces', () => {
  it('is whole, although all pieces land in the same place', async () => {
    const body = Buffer.from(Array.from({ length: 400_000 }, (_, i) => String(i)).join(','))
    const server = createServer((_request, response) => {
      response.writeHead(200)
      for (let at = 0; at < body.length; at += 50_000) response.write(body.subarray(at, at + 50_000))
      response.end()
    })
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    const network = createNetwork(createSystemClock())
    try {
      const { port } = server.address() as AddressInfo
      const answer = await readBody(network, { url: `http://127.0.0.1:${port}/`, timeoutMs: 10_000 }, 10_000_000)
      assert.ok(body.equals(answer.body), 'the body is not what was sent')
    } finally {
      await network.close()
      server.closeAllConnections()
      server.close()
    }
  })

  it('comes as bytes whose slice is a copy', async () => {
    const server = createServer((_request, response) => response.end('abc'))
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    const network = createNetwork(createSystemClock())
    try {
      const { port } = server.address() as AddressInfo
      const isBuffer = await new Promise<boolean>((resolve, reject) => {
        network.request(
          { url: `http://127.0.0.1:${port}/`, timeoutMs: 10_000 },
          { head() {}, chunk: bytes => resolve(Buffer.isBuffer(bytes)), end() {}, failed: reject },
        )
      })
      assert.equal(isBuffer, false)
    } finally {
      await network.close()
      server.closeAllConnections()
      server.close()
    }
  })
})
