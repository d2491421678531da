/** A timeline of a made-up cluster, read from the API alone and with kube-state-metrics beside it: the numbers of one. */
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createVirtualClock } from '../../../pipeline/clock/virtual-clock.ts'
import { SEEN_OBJECTS } from '../../../pipeline/cluster/seen.ts'
import type { Host } from '../../../pipeline/component.ts'
import { createVirtualNetwork } from '../../../pipeline/http/virtual-network.ts'
import type { Batch, Source } from '../../../pipeline/model/batch.ts'
import { createKubernetesApi } from '../../../pipeline/simulator/kubernetes-api/handler.ts'
import type { GivenObject } from '../../../pipeline/simulator/kubernetes-api/object-identity.ts'
import { createObjectStore } from '../../../pipeline/simulator/kubernetes-api/object-store.ts'
import { virtualKubernetesApi } from '../../../pipeline/simulator/kubernetes-api/serve.ts'
import { joinWorkload } from '../../../processors/join-workload.ts'
import { normalize } from '../../../processors/normalize.ts'
import { dcgm } from '../../../receivers/dcgm.ts'
import { kubeStateMetrics } from '../../../receivers/kube-state-metrics.ts'
import { kubernetesApi } from '../../../receivers/kubernetes-api.ts'
import { configOf } from '../../support/config-of.ts'
import { sharedPath } from '../../support/shared.ts'
import { TEST_START_MS, testHost } from '../../support/test-host.ts'
import { textFromBatch } from '../../support/text-from-batch.ts'

const SERVER = 'https://api.example'
const STEP_MS = 30_000
const STEPS = 21
const folder = sharedPath('conformance', 'oracle')

if (folder !== undefined) {
  describe('kubernetes_api with kube_state_metrics beside it', () => {
    it('gives the series of one alone, at every step', async () => {
      const alone = await run(false)
      const both = await run(true)
      assert.ok(alone.series[0]!.length > 100, `${alone.series[0]!.length} series`)
      assert.ok(
        alone.series[0]!.some(line => line.includes('hw.gpu.utilization') && line.includes('workload_name=')),
        alone.series[0]!.slice(0, 20).join('\n'),
      )
      for (let step = 0; step < STEPS; step++) assert.deepEqual(both.series[step], alone.series[step], `step ${step}`)
      assert.equal(alone.seen, 0, 'its own series tell the model nothing')
      assert.ok(both.seen > 0)
    })
  })
}

/** All series at the end of each step, but those that are kube-state-metrics' own. */
async function run(hasMetrics: boolean): Promise<{ series: string[][]; seen: number }> {
  const clock = createVirtualClock(TEST_START_MS)
  const network = createVirtualNetwork(clock)
  const store = createObjectStore()
  const shared = testHost({ clock, network: { ...network, kubernetesUrl: SERVER } })
  const host = (id: string): Host => ({ ...shared, id })
  network.serve(`${SERVER}/`, virtualKubernetesApi(createKubernetesApi(store, { clock, builtIn: true })))

  const latest = new Map<Source, Batch>()
  const joined = joinWorkload.create(configOf(joinWorkload, {}), host('join_workload'), batch => {
    latest.set(batch.source, batch)
  })
  const normal = normalize.create(configOf(normalize, {}), host('normalize'), batch => joined.consume(batch))
  const next = (batch: Batch): void => normal.consume(batch)
  const scraping = (targets: readonly string[]): Record<string, unknown> => ({
    scrape_interval: '30s',
    static_targets: targets,
  })
  const receivers = [
    kubernetesApi.create(configOf(kubernetesApi, {}), host('kubernetes_api'), next),
    dcgm.create(configOf(dcgm, scraping(['node-a', 'node-b'])), host('dcgm'), next),
  ]
  if (hasMetrics) {
    const config = configOf(kubeStateMetrics, scraping(['kube-state-metrics']))
    receivers.push(kubeStateMetrics.create(config, host('kube_state_metrics'), next))
  }

  const series: string[][] = []
  for (let step = 0; step < STEPS; step++) {
    prepare(step)
    if (step === 0) for (const receiver of receivers) await receiver.start?.()
    await clock.advance(STEP_MS)
    series.push(snapshot())
  }
  const seen = shared.cluster.table(SEEN_OBJECTS).size
  for (const receiver of receivers) await receiver.stop?.(0)
  await joined.stop?.(0)
  return { series, seen }

  function prepare(step: number): void {
    const number = String(step).padStart(2, '0')
    const pages = [
      ['http://node-a:9400/metrics', `dcgm-node-a.${number}.prom`],
      ['http://node-b:9400/metrics', `dcgm-node-b.${number}.prom`],
      ['http://kube-state-metrics:8080/metrics', `kube-state-metrics.${number}.prom`],
    ] as const
    for (const [url, file] of pages) {
      const page = textOf('payloads', file)
      if (page !== undefined) network.answer(url, { body: page })
    }
    const objects = textOf('k8s', `objects.${number}.json`)
    if (objects !== undefined) store.replaceAll((JSON.parse(objects) as { items: GivenObject[] }).items)
  }

  function snapshot(): string[] {
    return [...latest.values()]
      .filter(({ source }) => source.component !== 'kube_state_metrics')
      .flatMap(batch => textFromBatch(batch).split('\n'))
      .filter(line => line !== '' && !line.startsWith('#') && !line.startsWith('scrape_'))
      .toSorted()
  }
}

function textOf(...parts: string[]): string | undefined {
  const path = join(folder!, ...parts)
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined
}
