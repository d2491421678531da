import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createSystemClock } from '../../../pipeline/clock/system-clock.ts'
import { clusterTables } from '../../../pipeline/cluster/tables.ts'
import { createNetwork } from '../../../pipeline/http/network.ts'
import { createObjectStore } from '../../../pipeline/simulator/kubernetes-api/object-store.ts'
import { serveKubernetesApi } from '../../../pipeline/simulator/kubernetes-api/serve.ts'
import { kubernetesApi } from '../../../receivers/kubernetes-api.ts'
import { configOf } from '../../support/config-of.ts'
import { testHost } from '../../support/test-host.ts'
import { textFromBatch } from '../../support/text-from-batch.ts'
import { owned } from './test-receiver.ts'

describe('kubernetes_api over HTTP', () => {
  it('reads the cluster that a kubeconfig names, with its token, and follows it', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'gpucol-'))
    const clock = createSystemClock()
    const network = createNetwork(clock)
    const store = createObjectStore()
    const job = ['kubeflow.org/v1', 'PyTorchJob', 'train', 'job'] as const
    // More than comes in one piece.
    const others = Array.from({ length: 600 }, (_, i) =>
      owned('v1', 'Pod', `other-${i}`, `other-${i}`, undefined, { spec: { text: 'x'.repeat(1000) } }),
    )
    store.replaceAll([owned('v1', 'Pod', 'train-0', 'p', job), owned(...job), ...others])
    const served = await serveKubernetesApi(store, network, '127.0.0.1:0', { clock, builtIn: true, bearerToken: 'abc' })
    const kubeconfig = join(folder, 'config')
    writeFileSync(
      kubeconfig,
      JSON.stringify({
        clusters: [{ name: 'c', cluster: { server: `http://${served.address}` } }],
        users: [{ name: 'u', user: { token: 'abc' } }],
        contexts: [{ name: 'here', context: { cluster: 'c', user: 'u' } }],
      }),
    )
    const host = testHost({ id: 'kubernetes_api', clock, network })
    const { pods, owners, feeds } = clusterTables(host.cluster)
    const waiting: { readonly pattern: RegExp; resolve(): void }[] = []
    const config = configOf(kubernetesApi, { kubeconfig, context: 'here' })
    const receiver = kubernetesApi.create(config, host, batch => {
      const text = textFromBatch(batch)
      for (const { pattern, resolve } of waiting) if (pattern.test(text)) resolve()
    })
    const heard = (pattern: RegExp): Promise<void> => new Promise(resolve => waiting.push({ pattern, resolve }))
    const first = heard(/^kube_pod_info/m)
    await receiver.start?.()
    await first
    assert.equal(feeds.entry('kubernetes_api').value, 'complete')
    assert.equal(pods.entry('p').value?.name, 'train-0')
    assert.equal(pods.size, 601)
    assert.notEqual(owners.entry('job').value, 'unreadable')
    const running = heard(/kube_pod_status_phase.*phase="Running"/)
    store.apply([
      { type: 'MODIFIED', object: owned('v1', 'Pod', 'train-0', 'p', job, { status: { phase: 'Running' } }) },
    ])
    await running
    assert.equal(pods.entry('p').value?.phase, 'Running')
    await receiver.stop?.(clock.monotonic())
    await served.close(clock.monotonic())
    await network.close()
    rmSync(folder, { recursive: true })
  })
})
