import assert from 'node:assert/strict'
import type { KubernetesAccess, KubernetesCredentials } from '../../../../pipeline/kubernetes/access.ts'
import { createKubernetesClient } from '../../../../pipeline/kubernetes/client.ts'
import { apiServerProxy } from '../../../../receivers/scraping/discovery/api-server-proxy.ts'
import { testHost } from '../../../support/test-host.ts'

const ACCESS: KubernetesAccess = {
  server: 'https://api.example/clusters/c1',
  headers: { authorization: 'Bearer of-the-api' },
  tls: { ca: 'CA' },
  proxyUrl: 'http://proxy.example',
}
const PROXIED = 'https://api.example/clusters/c1/api/v1/nodes/a/proxy/metrics'

describe("the API server's proxy", () => {
  function ask(access: () => Promise<KubernetesAccess>) {
    const host = testHost()
    const refused: KubernetesAccess[] = []
    const credentials: KubernetesCredentials = { access, refused: it => void refused.push(it), describe: () => '' }
    const network = apiServerProxy(
      createKubernetesClient({ ...host, credentials }),
      host.network,
      '/api/v1/nodes/a/proxy',
    )
    const heard: string[] = []
    const cancel = network.request(
      {
        url: 'https://10.0.0.1:10250/metrics',
        headers: { accept: 'text/plain', authorization: 'Bearer of-the-target' },
        timeoutMs: 5000,
        tls: { ca: 'of the target' },
      },
      {
        head: status => void heard.push(String(status)),
        chunk: bytes => void heard.push(Buffer.from(bytes).toString()),
        end: () => void heard.push('end'),
        failed: error => void heard.push(error.message),
      },
    )
    return { host, refused, heard, cancel }
  }

  it('is asked with all that the API needs, and with nothing that is meant for the target', async () => {
    const { host, heard } = ask(() => Promise.resolve(ACCESS))
    host.network.answer(PROXIED, { body: 'gpu 1' })
    await host.clock.advance(5000)
    assert.deepEqual(heard, ['200', 'gpu 1', 'end'])
    const { timeoutMs: _, ...request } = host.network.requests[0]!
    assert.deepEqual(request, {
      url: PROXIED,
      headers: { accept: 'text/plain', authorization: 'Bearer of-the-api' },
      tls: { ca: 'CA' },
      proxyUrl: 'http://proxy.example',
    })
  })

  it('gets other credentials next time when these are refused', async () => {
    const { host, refused, heard } = ask(() => Promise.resolve(ACCESS))
    host.network.answer(PROXIED, { status: 401 })
    await host.clock.advance(0)
    assert.equal(heard[0], '401')
    assert.deepEqual(refused, [ACCESS])
  })

  it('fails with the reason when there are no credentials', async () => {
    const { host, heard } = ask(() => Promise.reject(new Error('there is no token')))
    await host.clock.advance(10_000)
    assert.deepEqual(heard, ['there is no token'])
  })

  it('fails in time when credentials do not come, however late they are', async () => {
    const late = Promise.withResolvers<KubernetesAccess>()
    const { host, heard } = ask(() => late.promise)
    await host.clock.advance(5000)
    late.resolve(ACCESS)
    await host.clock.advance(5000)
    assert.deepEqual(heard, ['there are no credentials for the Kubernetes API within 5s'])
    assert.equal(host.network.requests.length, 0)
  })

  it('is silent once the request is given up', async () => {
    for (const waitMs of [undefined, 0]) {
      const { host, heard, cancel } = ask(() => Promise.resolve(ACCESS))
      host.network.serve(PROXIED, () => {})
      if (waitMs !== undefined) await host.clock.advance(waitMs)
      cancel()
      await host.clock.advance(10_000)
      assert.deepEqual(heard, [])
    }
  })
})
