import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { createSystemClock } from '../../../pipeline/clock/system-clock.ts'
import type { Listener, TlsOptions } from '../../../pipeline/component.ts'
import { createNetwork, type SystemNetwork } from '../../../pipeline/http/network.ts'
import { createKubernetesClient, type KubernetesClient } from '../../../pipeline/kubernetes/client.ts'
import { createKubernetesCredentials } from '../../../pipeline/kubernetes/credentials.ts'
import { createKubernetesApi, type KubernetesApi } from '../../../pipeline/simulator/kubernetes-api/handler.ts'
import { createObjectStore, type ObjectStore } from '../../../pipeline/simulator/kubernetes-api/object-store.ts'
import { answerHttp } from '../../../pipeline/simulator/kubernetes-api/serve.ts'
import { testHost } from '../../support/test-host.ts'
import { createTestAuthority } from '../http/test-certificates.ts'
import { pod } from '../simulator/kubernetes-api/test-api.ts'
import { watchPods } from './test-cluster.ts'

const authority = createTestAuthority('test CA')
const server = authority.issue('api', { addresses: ['127.0.0.1'] })
const user = authority.issue('me')

for (const [what, tls] of [
  ['HTTP', undefined],
  // With a CA, the server wants a certificate of its clients.
  ['HTTPS, with a client certificate', { ...server, ca: authority.cert }],
] as [string, TlsOptions | undefined][]) {
  for (const streamingLists of [false, true]) {
    describe(`a watch over ${what}, ${streamingLists ? 'with' : 'without'} streaming lists`, () => {
      const clock = createSystemClock()
      let network: SystemNetwork
      let store: ObjectStore
      let api: KubernetesApi
      let listener: Listener
      let folder: string
      let client: KubernetesClient

      beforeEach(async () => {
        network = createNetwork(clock)
        store = createObjectStore()
        store.replaceAll(Array.from({ length: 1200 }, (_, i) => pod(`p${i}`)))
        api = createKubernetesApi(store, { clock, bearerToken: 'secret', streamingLists })
        const options = tls === undefined ? {} : { tls }
        listener = await network.listen(
          '127.0.0.1:0',
          (request, response) => answerHttp(api, request, response),
          options,
        )

        folder = mkdtempSync(join(tmpdir(), 'gpucol-kubernetes-'))
        const kubeconfig = join(folder, 'config')
        writeFileSync(join(folder, 'me.crt'), user.cert)
        writeFileSync(join(folder, 'me.key'), user.key)
        writeFileSync(kubeconfig, kubeconfigFor(listener.address, tls !== undefined))
        const credentials = createKubernetesCredentials({ kubeconfig, clock })
        client = createKubernetesClient({ ...testHost(), network, clock, credentials })
      })
      afterEach(async () => {
        api.close()
        await listener.close(clock.monotonic())
        await network.close()
        rmSync(folder, { recursive: true, force: true })
      })

      it('tells what there is, every change, and goes on after a dropped connection', async () => {
        const { watch, names, told } = watchPods(client)
        await until(() => watch.state() === 'synced')
        assert.equal(names().length, 1200)
        await until(() => api.watchCount === 1)
        store.apply([{ type: 'DELETED', object: pod('p0') }])
        await until(() => names().length === 1199)
        told()
        api.setFaults({ watches: 'drop' })
        store.apply([{ type: 'ADDED', object: pod('new') }])
        api.setFaults({})
        await until(() => names().includes('new'))
        assert.deepEqual(told(), ['+new'])
        watch.stop()
        await until(() => api.watchCount === 0)
      })
    })
  }
}

function kubeconfigFor(address: string, secure: boolean): string {
  const certificate = secure ? { 'client-certificate': 'me.crt', 'client-key': 'me.key' } : {}
  const ca = secure ? { 'certificate-authority-data': Buffer.from(authority.cert).toString('base64') } : {}
  return JSON.stringify({
    'current-context': 'x',
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    clusters: [{ name: 'c', cluster: { server: `${secure ? 'https' : 'http'}://${address}`, ...ca } }],
    users: [{ name: 'u', user: { token: 'secret', ...certificate } }],
  })
}

/** Rejects rather than wait for ever. */
async function until(isSo: () => boolean): Promise<void> {
  const signal = AbortSignal.timeout(8000)
  while (!isSo()) await setImmediate(undefined, { signal })
}
