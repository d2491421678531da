import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import type { Batch } from '../../pipeline/model/batch.ts'
import { getLabel } from '../../pipeline/model/labels.ts'
import { columnCount, seriesAt } from '../../pipeline/model/layout.ts'
import { kubelet } from '../../receivers/kubelet.ts'
import { configOf } from '../support/config-of.ts'
import { sharedPath } from '../support/shared.ts'
import { testHost } from '../support/test-host.ts'
import { textFromBatch } from '../support/text-from-batch.ts'

const RESOURCE = 'https://node-a:10250/metrics/resource'
const CADVISOR = 'https://node-a:10250/metrics/cadvisor'

async function scrape(answers: Record<string, string | Buffer>, changes: object = {}) {
  const host = testHost({ id: 'kubelet' })
  const batches: Batch[] = []
  const config = configOf(kubelet, { static_targets: ['node-a'], labels: { node: 'node-a' }, ...changes })
  const receiver = kubelet.create(config, host, batch => batches.push(batch))
  for (const [url, body] of Object.entries(answers)) host.network.answer(url, { body })
  void receiver.start!()
  await host.clock.advance(0)
  const ofUrl = (url: string): Batch => batches.find(({ source }) => source.name === url)!
  return { host, batches, receiver, ofUrl }
}

describe('kubelet receiver', () => {
  it('scrapes both pages of a node, and tells what they say apart', async () => {
    const { batches, ofUrl } = await scrape({
      [RESOURCE]: 'container_cpu_usage_seconds_total{container="c",namespace="n",pod="p"} 1 1000\n',
      [CADVISOR]: 'container_cpu_usage_seconds_total{container="c",id="/x",image="i",namespace="n",pod="p"} 2 2000\n',
    })
    const own = 'instance="node-a:10250",job="kubelet",metrics_path="/metrics/resource",namespace="n",node="node-a"'
    assert.equal(
      textFromBatch(ofUrl(RESOURCE)),
      `container_cpu_usage_seconds_total{container="c",${own},pod="p"} 1 1000\n`,
    )
    assert.match(textFromBatch(ofUrl(CADVISOR)), /metrics_path="\/metrics\/cadvisor".* 2 2000\n$/)
    assert.equal(ofUrl(CADVISOR).source.node, 'node-a')
    const reports = batches.filter(({ layout }) => layout.metrics[0]!.name === 'up').map(batch => textFromBatch(batch))
    assert.equal(new Set(reports.flatMap(text => text.match(/^up\{.*\}/gm))).size, 2)
  })

  const ROWS = [
    'container_memory_rss{container="",id="/",image="",name="",namespace="",pod=""} 1',
    'container_memory_rss{container="",id="/kubepods",image="",name="",namespace="",pod=""} 2',
    'container_memory_rss{container="",id="/kubepods/podx",image="",name="",namespace="n",pod="p"} 3',
    'container_memory_rss{container="",id="/kubepods/podx/pause",image="pause",name="y",namespace="n",pod="p"} 4',
    'container_memory_rss{container="POD",id="/kubepods/podx/old",image="pause",name="y",namespace="n",pod="p"} 5',
    'container_memory_rss{container="c",id="/kubepods/podx/c",image="i",name="z",namespace="n",pod="p"} 6',
    'container_memory_rss{container="c",id="/kubepods/podx/c/sub",image="",name="",namespace="n",pod="p"} 7',
    'container_network_receive_bytes_total{container="",id="/kubepods/podx",image="",interface="eth0",pod="p"} 8',
    'container_network_receive_bytes_total{container="",id="/",image="",interface="eth0",pod=""} 9',
    'container_nvme{container="",id="/a",image="",pod="p"} 10',
    'machine_memory_bytes{machine_id="m"} 11',
  ]

  it('leaves out the rows of cAdvisor that are sums of others, and keeps the network of pods', async () => {
    const { ofUrl } = await scrape({ [CADVISOR]: `${ROWS.join('\n')}\n`, [RESOURCE]: '' })
    assert.deepEqual(
      [...ofUrl(CADVISOR).values].sort((a, b) => a - b),
      [6, 8, 11],
    )
    const { ofUrl: all } = await scrape({ [CADVISOR]: `${ROWS.join('\n')}\n` }, { keep_aggregates: true })
    assert.equal(all(CADVISOR).values.length, ROWS.length)
  })

  it('leaves /metrics/resource alone, and takes the rules of the user, too', async () => {
    const body =
      'node_cpu_usage_seconds_total 1\npod_cpu_usage_seconds_total{pod="p"} 2\ncontainer_start_time_seconds 3\n'
    const { ofUrl } = await scrape(
      { [RESOURCE]: body },
      { metric_relabel_configs: [{ source_labels: ['__name__'], regex: 'pod_.*', action: 'drop' }] },
    )
    assert.deepEqual([...ofUrl(RESOURCE).values], [1, 3])
  })

  it('scrapes one page where a target or the config says so', async () => {
    const urls = async (changes: object): Promise<string[]> =>
      (await scrape({}, changes)).host.network.requests.map(({ url }) => url)
    assert.deepEqual(await urls({ static_targets: ['https://node-a:10250/metrics'] }), ['https://node-a:10250/metrics'])
    assert.deepEqual(await urls({ metrics_paths: ['/metrics/resource'] }), [RESOURCE])
    assert.deepEqual(await urls({ static_targets: ['http://node-a:10255'] }), [
      'http://node-a:10255/metrics/resource',
      'http://node-a:10255/metrics/cadvisor',
    ])
  })

  it('reads the capture of a real one', async function () {
    const path = sharedPath('captures', 'newrelic-k8s-1_34', 'kubelet_metrics_cadvisor')
    if (path === undefined) this.skip()
    const { ofUrl } = await scrape({ [CADVISOR]: readFileSync(path) })
    const { layout } = ofUrl(CADVISOR)
    const series = Array.from({ length: columnCount(layout) }, (_, column) => seriesAt(layout, column))
    const working = series.filter(({ metric }) => metric.name === 'container_memory_working_set_bytes')
    const keys = working.map(({ labels }) =>
      ['namespace', 'pod', 'container'].map(name => getLabel(labels, name) ?? '').join('/'),
    )
    assert.ok(keys.length > 10)
    assert.equal(new Set(keys).size, keys.length)
    assert.ok(
      keys.every(key => !/\/$|^\/|\/\//.test(key)),
      keys.join(' '),
    )
    assert.ok(series.some(({ metric }) => metric.name === 'container_network_receive_bytes_total'))
  })
})
