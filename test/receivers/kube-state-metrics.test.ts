import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { clusterTables } from '../../pipeline/cluster/tables.ts'
import type { Batch } from '../../pipeline/model/batch.ts'
import { columnCount, metricAt } from '../../pipeline/model/layout.ts'
import { kubeStateMetrics } from '../../receivers/kube-state-metrics.ts'
import { configOf } from '../support/config-of.ts'
import { sharedPath } from '../support/shared.ts'
import { testHost } from '../support/test-host.ts'
import { textFromBatch } from '../support/text-from-batch.ts'

const TARGET = 'http://ksm:8080/metrics'

async function scrape(body: string | Buffer, changes: object = {}) {
  const host = testHost({ id: 'kube_state_metrics' })
  const batches: Batch[] = []
  const config = configOf(kubeStateMetrics, { static_targets: ['ksm'], labels: { node: 'x' }, ...changes })
  void kubeStateMetrics.create(config, host, batch => batches.push(batch)).start!()
  host.network.answer(TARGET, { body })
  await host.clock.advance(0)
  return { host, batches, text: textFromBatch(batches[0]!), report: textFromBatch(batches[1]!) }
}

function namesIn({ layout }: Batch): Set<string> {
  return new Set(Array.from({ length: columnCount(layout) }, (_, column) => metricAt(layout, column).name))
}

describe('kube_state_metrics receiver', () => {
  it('keeps the families that are needed, of both generations, and says how much there was', async () => {
    const { text, report } = await scrape(`# TYPE kube_pod_info gauge
kube_pod_info{namespace="a",pod="p",uid="1"} 1
# TYPE kube_pod_container_status_waiting gauge
kube_pod_container_status_waiting{namespace="a",pod="p"} 0
kube_pod_container_resource_requests_cpu_cores{pod="p"} 2
kube_pod_deleted{pod="p"} 5
kube_node_status_capacity_memory_bytes{node="n"} 7
kube_resourcequota{resource="requests.nvidia.com/gpu",type="hard"} 8
kube_configmap_info{configmap="c"} 1
`)
    assert.deepEqual(text.match(/^[a-z_]+/gm), [
      'kube_node_status_capacity_memory_bytes',
      'kube_pod_container_resource_requests_cpu_cores',
      'kube_pod_deleted',
      'kube_pod_info',
      'kube_resourcequota',
    ])
    assert.match(report, /^scrape_samples_scraped\{.*\} 7$/m)
    assert.match(report, /^scrape_samples_post_metric_relabeling\{.*\} 5$/m)
  })

  it('keeps what it is told to, parts of histograms with their family', async () => {
    const { text } = await scrape('a_bucket{le="1"} 1\na_sum 2\nab 3\nkube_pod_info 1\nc_info 1\n', {
      families: ['a', 'c.*'],
    })
    assert.deepEqual(text.match(/^[a-z_]+/gm), ['a_bucket', 'a_sum', 'c_info'])
    const everything = await scrape('a 1\nkube_pod_info 1\n', { families: ['.*'] })
    assert.deepEqual(everything.text.match(/^[a-z_]+/gm), ['a', 'kube_pod_info'])
  })

  it('speaks of no node, and lets the labels of samples stand', async () => {
    const { batches, text } = await scrape('kube_pod_info{node="n",job="j"} 1\n')
    assert.equal(batches[0]!.source.node, undefined)
    assert.match(text, /\{instance="ksm:8080",job="j",node="n"\}/)
  })

  it('scrapes all shards', async () => {
    const { host } = await scrape('', { static_targets: ['ksm-0', 'ksm-1'] })
    assert.deepEqual(
      host.network.requests.map(({ url }) => url),
      ['http://ksm-0:8080/metrics', 'http://ksm-1:8080/metrics'],
    )
  })

  it('refuses a family that is no regular expression', () => {
    const [problem] = kubeStateMetrics.check!(configOf(kubeStateMetrics, { families: ['a', '('] }))
    assert.deepEqual(problem!.path, ['families', 1])
    assert.match(problem!.message, /bad regular expression/)
  })

  for (const file of ['newrelic-k8s-1_34/ksm_metrics', 'ksm/datadog_kubernetes_state_prometheus.txt']) {
    it(`reads ${file}`, async function () {
      const path = sharedPath('captures', file)
      if (path === undefined) this.skip()
      const { batches, host } = await scrape(readFileSync(path))
      const names = namesIn(batches[0]!)
      for (const name of ['kube_pod_info', 'kube_pod_owner', 'kube_pod_status_phase', 'kube_node_status_condition']) {
        assert.ok(names.has(name), name)
      }
      assert.ok(!names.has('kube_pod_container_status_running'))
      assert.equal(host.counted.get('gpucol_receiver_bad_lines'), undefined)
    })
  }

  it('tells the model of the cluster when every shard was tried once, after what they said was handed on', async () => {
    const host = testHost({ id: 'kube_state_metrics' })
    const { feeds } = clusterTables(host.cluster)
    const states: (string | undefined)[] = []
    const config = configOf(kubeStateMetrics, { static_targets: ['shard-0', 'shard-1'], scrape_timeout: '5s' })
    const receiver = kubeStateMetrics.create(config, host, () => states.push(feeds.entry(host.id).value))
    host.network.answer('http://shard-0:8080/metrics', { body: 'kube_pod_info 1\n' })
    host.network.answer('http://shard-1:8080/metrics', { error: 'timeout' })
    assert.equal(feeds.entry(host.id).value, undefined, 'creating it says nothing')
    await receiver.start!()
    await host.clock.advance(1000)
    assert.equal(feeds.entry(host.id).value, 'reading', 'one shard has not answered')
    await host.clock.advance(5000)
    assert.equal(feeds.entry(host.id).value, 'complete', 'the other has had its time')
    assert.equal(states[0], 'reading')
    await receiver.stop!(0)
    assert.equal(feeds.entry(host.id).value, undefined)
  })
  it('has told nothing of the cluster while no shard answers, unless somebody else has', async () => {
    const host = testHost({ id: 'kube_state_metrics' })
    const { feeds } = clusterTables(host.cluster)
    const config = configOf(kubeStateMetrics, { static_targets: ['shard-0', 'shard-1'], scrape_interval: '10s' })
    const receiver = kubeStateMetrics.create(config, host, () => {})
    await receiver.start!()
    await host.clock.advance(10_000)
    assert.equal(feeds.entry(host.id).value, 'reading')
    feeds.set('kubernetes_api', 'complete')
    await host.clock.advance(10_000)
    assert.equal(feeds.entry(host.id).value, 'complete')
    await receiver.stop!(0)
  })
})
