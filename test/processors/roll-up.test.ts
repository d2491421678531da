import assert from 'node:assert/strict'
import { clusterTables } from '../../pipeline/cluster/tables.ts'
import { RefusedError } from '../../pipeline/component.ts'
import type { Batch } from '../../pipeline/model/batch.ts'
import { rollUp } from '../../processors/roll-up.ts'
import { batchFromText } from '../support/batch-from-text.ts'
import { containerWith, podNamed, putNode, putPod } from '../support/cluster-objects.ts'
import { configOf } from '../support/config-of.ts'
import { linesOf, rolledPipeline, sortedText, valuesBy, type RolledPipeline } from '../support/rolled-pipeline.ts'
import { TEST_START_MS, testHost } from '../support/test-host.ts'

const TARGET = 'http://node-a:9400/metrics'
const OTHER = 'http://node-b:9400/metrics'
const BY_NODE = 'runai_gpu_utilization_per_node'

function row(utilization: number, node = 'node-a'): string {
  return `DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="GPU-${node}",Hostname="${node}"} ${utilization}`
}

async function started(config: object = {}): Promise<RolledPipeline> {
  const pipeline = rolledPipeline(config)
  await pipeline.rollUp.start?.()
  return pipeline
}

function nodesShown(text: string): Record<string, number> {
  return valuesBy(text, BY_NODE, 'node')
}

describe('roll_up', () => {
  it('hands on results at full intervals, with the time at which they were made', async () => {
    const pipeline = await started({ interval: '10s' })
    pipeline.scrape(TARGET, row(50))
    pipeline.taken()
    await pipeline.host.clock.advance(9999)
    assert.deepEqual(pipeline.taken(), [])
    await pipeline.host.clock.advance(10)
    const batches = pipeline.taken()
    assert.deepEqual(nodesShown(sortedText(batches)), { 'node-a': 50 })
    assert.ok(batches.every(({ timeMs }) => timeMs === TEST_START_MS + 10_001))
  })

  it('hands on results when somebody asks for them, if it is to', async () => {
    const [asked, other] = [await started({ interval: '10s', on_demand: true }), await started({ interval: '10s' })]
    for (const { scrape, taken, host } of [asked, other]) {
      scrape(TARGET, row(50))
      taken()
      host.demand.ask()
    }
    assert.deepEqual(nodesShown(sortedText(asked.taken())), { 'node-a': 50 })
    assert.deepEqual(other.taken(), [])
    await asked.rollUp.stop?.(0)
    asked.host.demand.ask()
    assert.deepEqual(asked.taken(), [])
  })

  it('waits until the model of the cluster is complete', async () => {
    const pipeline = await started({ wait_for_cluster: '60s' })
    const { feeds } = clusterTables(pipeline.host.cluster)
    feeds.set('kubernetes_api', 'reading')
    pipeline.scrape(TARGET, row(50))
    assert.equal(pipeline.flush(), '')
    feeds.set('kubernetes_api', 'complete')
    assert.deepEqual(nodesShown(pipeline.flush()), { 'node-a': 50 })
  })

  it('waits until join_workload hands on what it has held back', async () => {
    const pipeline = await started({ wait_for_cluster: '60s', interval: '10s' })
    const { feeds } = clusterTables(pipeline.host.cluster)
    feeds.set('kubernetes_api', 'reading')
    pipeline.scrape(TARGET, row(50))
    pipeline.taken()
    feeds.set('kubernetes_api', 'complete')
    // join_workload has not heard of it yet: by itself it looks when something comes.
    await pipeline.host.clock.advance(10_001)
    assert.deepEqual(pipeline.taken(), [])
    pipeline.scrape(OTHER, row(10, 'node-b'))
    pipeline.taken()
    await pipeline.host.clock.advance(10_000)
    assert.deepEqual(nodesShown(sortedText(pipeline.taken())), { 'node-a': 50, 'node-b': 10 })
  })

  it('waits until every target was tried once, and not for ever', async () => {
    const pipeline = await started({ wait_for_cluster: '60s' })
    let areTried = false
    clusterTables(pipeline.host.cluster).collections.set('dcgm', () => areTried)
    pipeline.scrape(TARGET, row(50))
    assert.equal(pipeline.flush(), '')
    areTried = true
    assert.notEqual(pipeline.flush(), '')
    areTried = false
    await pipeline.host.clock.advance(60_000)
    assert.notEqual(pipeline.flush(), '')
  })

  it('waits at a reload for every target that showed GPUs to the one before', async () => {
    const first = await started()
    first.scrape(TARGET, row(50))
    first.scrape(OTHER, row(10, 'node-b'))
    const second = rolledPipeline({ wait_for_cluster: '60s' }, { ...first.host, id: 'reloaded' })
    await second.rollUp.start?.()
    second.scrape(TARGET, row(50))
    assert.equal(second.flush(), '')
    second.fail(OTHER)
    assert.deepEqual(nodesShown(second.flush()), { 'node-a': 50 })
  })

  it('goes on at a reload with the sources of the one before, and ends those that it has no more', async () => {
    const own = { metric: 'n', help: 'N.', of: 'gpu', level: 'cluster', aggregate: 'count', labels: [] }
    const first = await started({ metrics: [own] })
    first.scrape(TARGET, row(50))
    first.flush()
    first.rollUp.flush!()
    const before = new Set(first.taken().map(({ source }) => source))
    await first.rollUp.stop?.(0)
    const second = rolledPipeline({ cluster_id: 'other' }, first.host)
    await second.rollUp.start?.()
    second.scrape(TARGET, row(50))
    second.taken()
    second.rollUp.flush!()
    const after = second.taken()
    const ended = after.filter(({ outcome }) => outcome === 'removed').map(({ source }) => source.name)
    assert.deepEqual(ended, ['gpu by cluster'])
    assert.deepEqual(new Set(after.map(({ source }) => source)), before)
  })

  it('says that the model is not complete when it has waited long enough', async () => {
    const pipeline = await started({ wait_for_cluster: '60s' })
    clusterTables(pipeline.host.cluster).feeds.set('kubernetes_api', 'reading')
    pipeline.scrape(TARGET, row(50))
    pipeline.flush()
    await pipeline.host.clock.advance(60_000)
    assert.deepEqual(nodesShown(pipeline.flush()), { 'node-a': 50 })
    assert.ok(pipeline.host.logged.some(line => line.startsWith('failing the model of the cluster')))
  })

  it('keeps the values of a target that fails for as long as it is told to', async () => {
    const pipeline = await started({ hold_failed: '1m' })
    pipeline.scrape(TARGET, row(50))
    pipeline.scrape(OTHER, row(10, 'node-b'))
    pipeline.fail(TARGET)
    await pipeline.host.clock.advance(59_000)
    pipeline.scrape(OTHER, row(20, 'node-b'))
    assert.deepEqual(nodesShown(pipeline.flush()), { 'node-a': 50, 'node-b': 20 })
    assert.deepEqual([...pipeline.host.observed('gpucol_rollup_held_targets').values()], [1])
    await pipeline.host.clock.advance(1000)
    assert.deepEqual(nodesShown(pipeline.flush()), { 'node-b': 20 })
  })

  it('ends what a target showed that is removed, or that answers without it', async () => {
    const pipeline = await started()
    pipeline.scrape(TARGET, row(50))
    pipeline.scrape(OTHER, row(10, 'node-b'))
    pipeline.remove(TARGET)
    assert.deepEqual(nodesShown(pipeline.flush()), { 'node-b': 10 })
    pipeline.scrape(OTHER, 'DCGM_FI_DEV_FB_FREE{gpu="0",UUID="GPU-node-b",Hostname="node-b"} 5')
    assert.deepEqual(nodesShown(pipeline.flush()), {})
  })

  it('tells how many contributed, and how old the oldest is', async () => {
    const pipeline = await started()
    pipeline.scrape(TARGET, row(50))
    await pipeline.host.clock.advance(10_000)
    pipeline.scrape(OTHER, row(10, 'node-b'))
    pipeline.flush()
    const contributors = pipeline.host.observed('gpucol_rollup_contributors')
    assert.equal(contributors.get(`{metric="${BY_NODE}"}`), 2)
    assert.deepEqual([...pipeline.host.observed('gpucol_rollup_oldest_contributor_seconds').values()], [10])
    await pipeline.rollUp.stop?.(Infinity)
    assert.equal(pipeline.host.observed('gpucol_rollup_contributors').size, 0)
  })

  it('takes in the facts that it aggregates, and lets everything else pass', async () => {
    const host = testHost()
    for (const keepInput of [false, true]) {
      const out: Batch[] = []
      const config = configOf(rollUp, { keep_input: keepInput })
      const processor = rollUp.create(config, host, batch => void out.push(batch))
      processor.consume(
        batchFromText(
          'hw.gpu.utilization{UUID="GPU-0"} 1\nother 2'.replace('hw.gpu.utilization{', '{"hw.gpu.utilization",'),
        ),
      )
      const names = sortedText(out)
      assert.ok(names.includes('other 2'))
      assert.equal(names.includes('hw.gpu.utilization'), keepInput)
    }
  })

  it('makes metrics that a config adds, and others instead of those of the catalog', async () => {
    const metric = {
      metric: BY_NODE,
      help: 'The busiest GPU.',
      unit: '%',
      of: 'gpu',
      level: 'cluster',
      labels: ['clusterId'],
      aggregate: 'max',
      from: 'hw.gpu.utilization',
    }
    const pipeline = await started({
      cluster_id: 'c',
      metrics: [metric, { ...metric, metric: 'busiest', aggregate: 'min' }],
    })
    pipeline.scrape(TARGET, row(50))
    pipeline.scrape(OTHER, row(10, 'node-b'))
    const text = pipeline.flush()
    assert.deepEqual(linesOf(text, BY_NODE), ['{clusterId="c"} 50'])
    assert.deepEqual(linesOf(text, 'busiest'), ['{clusterId="c"} 10'])
  })

  it('goes on when whoever comes next refuses results', async () => {
    const host = testHost()
    let isRefused = true
    let taken = 0
    const processor = rollUp.create(configOf(rollUp, {}), host, () => {
      if (isRefused) throw new RefusedError('full')
      taken++
    })
    await processor.start?.()
    processor.flush!()
    isRefused = false
    processor.flush!()
    assert.ok(taken > 0)
    await processor.stop?.(Infinity)
  })

  it('may be stopped twice and without a start, and hands on nothing before and after', async () => {
    const pipeline = rolledPipeline()
    pipeline.scrape(TARGET, row(50))
    assert.equal(pipeline.flush(), '')
    await pipeline.rollUp.stop?.(Infinity)
    await pipeline.rollUp.start?.()
    assert.notEqual(pipeline.flush(), '')
    await pipeline.rollUp.stop?.(Infinity)
    await pipeline.rollUp.stop?.(Infinity)
    assert.equal(pipeline.flush(), '')
    await pipeline.host.clock.advance(60_000)
    assert.deepEqual(pipeline.taken(), [])
  })

  it('moves a pod to another project with all that hangs on it', async () => {
    const pipeline = await started()
    const { cluster } = pipeline.host
    putNode(cluster, 'node-a', {})
    const named = row(50).replace('}', ',namespace="ns",pod="p",container="main"}')
    const pod = (project: string) =>
      podNamed('p', { node: 'node-a', labels: { project }, containers: [containerWith({ 'nvidia.com/gpu': 1 })] })
    for (const project of ['x', 'y']) {
      putPod(cluster, pod(project))
      pipeline.scrape(TARGET, named)
      const text = pipeline.flush()
      assert.deepEqual(valuesBy(text, 'runai_gpu_utilization_per_project', 'project'), { [project]: 50 })
      assert.deepEqual(valuesBy(text, 'runai_allocated_gpu_count_per_project', 'project'), { [project]: 1 })
    }
  })
})
