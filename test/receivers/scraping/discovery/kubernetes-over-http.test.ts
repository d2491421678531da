import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createSystemClock } from '../../../../pipeline/clock/system-clock.ts'
import { createNetwork } from '../../../../pipeline/http/network.ts'
import type { Batch } from '../../../../pipeline/model/batch.ts'
import { createKubernetesApi } from '../../../../pipeline/simulator/kubernetes-api/handler.ts'
import { createObjectStore } from '../../../../pipeline/simulator/kubernetes-api/object-store.ts'
import { answerHttp } from '../../../../pipeline/simulator/kubernetes-api/serve.ts'
import { kubelet } from '../../../../receivers/kubelet.ts'
import { configOf } from '../../../support/config-of.ts'
import { testHost } from '../../../support/test-host.ts'
import { textFromBatch } from '../../../support/text-from-batch.ts'

describe('kubelets through the API server, over HTTP', () => {
  it('are found and scraped with the token of the kubeconfig, and end with their node', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'gpucol-'))
    const clock = createSystemClock()
    const network = createNetwork(clock)
    const store = createObjectStore()
    const nodes = ['a', 'b'].map(name => ({ apiVersion: 'v1', kind: 'Node', metadata: { name, uid: name } }))
    store.replaceAll(nodes)
    const api = createKubernetesApi(store, { clock, builtIn: true, bearerToken: 'abc' })
    const listener = await network.listen('127.0.0.1:0', (request, response) => {
      const [, node, page] = /^\/api\/v1\/nodes\/([^/]*)\/proxy(.*)/.exec(request.url!) ?? []
      if (node === undefined) return answerHttp(api, request, response)
      response.statusCode = request.headers.authorization === 'Bearer abc' ? 200 : 401
      response.setHeader('content-type', 'text/plain')
      response.end(`asked{name="${node}",page="${page}"} 1\n`)
    })
    const kubeconfig = join(folder, 'config')
    const server = `http://${listener.address}`
    writeFileSync(
      kubeconfig,
      JSON.stringify({
        clusters: [{ name: 'c', cluster: { server } }],
        users: [{ name: 'u', user: { token: 'abc' } }],
        contexts: [{ name: 'here', context: { cluster: 'c', user: 'u' } }],
      }),
    )
    const waiting: { isIt(batch: Batch): boolean; resolve(batch: Batch): void }[] = []
    const heard = (isIt: (batch: Batch) => boolean): Promise<Batch> =>
      new Promise(resolve => waiting.push({ isIt, resolve }))
    const config = configOf(kubelet, {
      scrape_interval: '100ms',
      metrics_paths: ['/metrics/resource'],
      kubernetes_nodes: { through_api_server: true, kubeconfig, context: 'here' },
    })
    const receiver = kubelet.create(config, testHost({ id: 'kubelet', clock, network }), batch => {
      for (const { isIt, resolve } of waiting) if (isIt(batch)) resolve(batch)
    })
    const first = ['a', 'b'].map(name => heard(batch => textFromBatch(batch).includes(`name="${name}"`)))
    await receiver.start?.()
    const [ofA, ofB] = await Promise.all(first)
    assert.deepEqual([ofA!.source.node, ofB!.source.node], ['a', 'b'])
    assert.match(textFromBatch(ofA!), /page="\/metrics\/resource"/)
    assert.match(textFromBatch(ofA!), /instance="a:10250"/)
    const removed = heard(({ outcome }) => outcome === 'removed')
    store.apply([{ type: 'DELETED', object: nodes[0]! }])
    assert.equal((await removed).source.node, 'a')
    await receiver.stop?.(clock.monotonic())
    api.close()
    await listener.close(clock.monotonic())
    await network.close()
    rmSync(folder, { recursive: true })
  })
})
