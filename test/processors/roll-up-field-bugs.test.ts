/** What users of other tools have complained about. Each of these is a name for a wrong number that is not made here. */
import assert from 'node:assert/strict'
import type { QuotaObject } from '../../pipeline/cluster/quotas.ts'
import { quotaKey } from '../../pipeline/cluster/quotas.ts'
import { clusterTables } from '../../pipeline/cluster/tables.ts'
import {
  containerWith,
  objectNamed,
  podNamed,
  putNode,
  putPod,
  referenceTo,
  type PodParts,
} from '../support/cluster-objects.ts'
import { linesOf, rolledPipeline, valuesBy, type RolledPipeline } from '../support/rolled-pipeline.ts'

const TARGET = 'http://node-a:9400/metrics'

async function started(config: object = {}): Promise<RolledPipeline> {
  const pipeline = rolledPipeline(config)
  putNode(pipeline.host.cluster, 'node-a', {})
  await pipeline.rollUp.start?.()
  return pipeline
}

/** A running pod with one GPU; `job` is the workload. */
function addPod({ host }: RolledPipeline, name: string, job: string, parts: PodParts = {}): void {
  const owner = objectNamed(`Job.batch/${job}`)
  clusterTables(host.cluster).owners.set(owner.uid, owner)
  const containers = [containerWith({ 'nvidia.com/gpu': 1 })]
  putPod(host.cluster, podNamed(name, { node: 'node-a', owners: [referenceTo(owner)], containers, ...parts }))
}

function gpu(index: number, pod?: string, more = ''): string {
  const named = pod === undefined ? '' : `,namespace="ns",pod="${pod}",container="main"`
  return `gpu="${index}",UUID="GPU-${index}",modelName="NVIDIA A100",Hostname="node-a"${named}${more}`
}

describe('roll_up has not the bug that', () => {
  for (const garbage of ['2619', '808334905', '4294967295', '9223372036854775794', '-1', 'NaN']) {
    it(`a utilisation of ${garbage} lifts those of node, workload and project`, async () => {
      const pipeline = await started()
      addPod(pipeline, 'p', 'train')
      const rows = (value: string): string =>
        `DCGM_FI_DEV_GPU_UTIL{${gpu(0, 'p')}} ${value}\nDCGM_FI_DEV_GPU_UTIL{${gpu(1)}} 20`
      pipeline.scrape(TARGET, rows('40'))
      await pipeline.host.clock.advance(15_000)
      pipeline.scrape(TARGET, rows(garbage))
      const text = pipeline.flush()
      // The last reading that could be one is still the latest.
      assert.deepEqual(valuesBy(text, 'runai_gpu_utilization_per_gpu', 'gpu'), { 0: 40, 1: 20 })
      assert.deepEqual(valuesBy(text, 'runai_gpu_utilization_per_node', 'node'), { 'node-a': 30 })
      assert.deepEqual(valuesBy(text, 'runai_gpu_utilization_per_workload', 'workload_name'), { train: 40 })
    })

    it(`a first utilisation of ${garbage} is shown`, async () => {
      const pipeline = await started()
      addPod(pipeline, 'p', 'train')
      pipeline.scrape(TARGET, `DCGM_FI_DEV_GPU_UTIL{${gpu(0, 'p')}} ${garbage}\nDCGM_FI_DEV_GPU_UTIL{${gpu(1)}} 20`)
      const text = pipeline.flush()
      assert.deepEqual(valuesBy(text, 'runai_gpu_utilization_per_gpu', 'gpu'), { 1: 20 })
      assert.deepEqual(valuesBy(text, 'runai_gpu_utilization_per_node', 'node'), { 'node-a': 20 })
      assert.deepEqual(linesOf(text, 'runai_gpu_utilization_per_workload'), [])
    })
  }

  it('two rows of one pod on one GPU are two pairs, or cost all others theirs', async () => {
    const pipeline = await started()
    addPod(pipeline, 'p', 'train')
    addPod(pipeline, 'q', 'train')
    const second = gpu(0, 'p').replace('"main"', '"sidecar"')
    pipeline.scrape(
      TARGET,
      `DCGM_FI_DEV_GPU_UTIL{${gpu(0, 'p')}} 100
       DCGM_FI_DEV_GPU_UTIL{${second}} 100
       DCGM_FI_DEV_GPU_UTIL{${gpu(1, 'q')}} 0`,
    )
    const text = pipeline.flush()
    assert.deepEqual(valuesBy(text, 'runai_gpu_utilization_per_workload', 'workload_name'), { train: 50 })
    assert.deepEqual(valuesBy(text, 'runai_gpu_utilization_per_pod_per_gpu', 'pod_name'), { p: 100, q: 0 })
    assert.equal(linesOf(text, 'runai_gpu_utilization_per_pod_per_gpu').length, 2)
    assert.deepEqual(valuesBy(text, 'runai_allocated_gpu_count_per_workload', 'workload_name'), { train: 2 })
  })

  it('a board with seven MIG instances counts seven times', async () => {
    const pipeline = await started({ mig_counts: 'share' })
    const rows = Array.from({ length: 7 }, (_, i) => {
      addPod(pipeline, `p-${i}`, 'train', { containers: [containerWith({ 'nvidia.com/mig-1g.10gb': 1 })] })
      const labels = gpu(0, `p-${i}`, `,GPU_I_PROFILE="1g.10gb",GPU_I_ID="${i + 7}"`)
      return `DCGM_FI_PROF_GR_ENGINE_ACTIVE{${labels}} 0.5\nDCGM_FI_DEV_FB_USED{${labels}} 100\nDCGM_FI_DEV_FB_FREE{${labels}} 900`
    })
    pipeline.scrape(TARGET, [...rows, `DCGM_FI_DEV_GPU_UTIL{${gpu(1)}} 0`].join('\n'))
    const text = pipeline.flush()
    assert.deepEqual(valuesBy(text, 'runai_gpu_utilization_per_gpu', 'gpu'), { 0: 50, 1: 0 })
    assert.deepEqual(valuesBy(text, 'runai_gpu_utilization_per_node', 'node'), { 'node-a': 25 })
    assert.deepEqual(valuesBy(text, 'runai_gpu_memory_used_mebibytes_per_node', 'node'), { 'node-a': 700 })
    assert.deepEqual(valuesBy(text, 'runai_gpu_memory_total_mebibytes_per_node', 'node'), { 'node-a': 7000 })
    assert.deepEqual(valuesBy(text, 'runai_allocated_gpu_count_per_gpu', 'gpu'), { 0: 1, 1: 0 })
    assert.deepEqual(valuesBy(text, 'runai_mig_mode_gpu_count', 'node'), { 'node-a': 1 })
    const { train } = valuesBy(text, 'runai_allocated_gpu_count_per_workload', 'workload_name')
    assert.ok(Math.abs(train! - 1) < 1e-9, `${train}`)
  })

  it('a node exporter that is scraped twice makes CPU utilisation negative', async () => {
    const pipeline = await started()
    const targets = ['http://node-a:9100/metrics', 'http://node-a:9101/metrics']
    for (let step = 0; step < 4; step++) {
      for (const [i, target] of targets.entries()) {
        // The second is asked seven seconds later, when the CPU has been idle for longer.
        const idleSeconds = step * 15 + i * 7
        pipeline.scrape(
          target,
          `node_cpu_seconds_total{cpu="0",mode="idle"} ${idleSeconds * 0.8}
           node_cpu_seconds_total{cpu="0",mode="user"} ${idleSeconds * 0.2}
           node_cpu_seconds_total{cpu="1",mode="idle"} ${idleSeconds * 0.6}`,
        )
        await pipeline.host.clock.advance(i === 0 ? 7000 : 8000)
      }
    }
    const text = pipeline.flush()
    const { 'node-a': ofNode } = valuesBy(text, 'runai_node_cpu_utilization', 'node')
    assert.ok(Math.abs(ofNode! - 0.3) < 1e-9, `${ofNode}`)
    assert.equal(linesOf(text, 'runai_node_cpu_utilization').length, 1)
    const [ofCluster] = Object.values(valuesBy(text, 'runai_cluster_cpu_utilization', 'clusterId'))
    assert.ok(Math.abs(ofCluster! - 0.3) < 1e-9, `${ofCluster}`)
  })

  it('a GPU that is named as CDI does has no readings of its pods', async () => {
    const pipeline = await started()
    const group = { 'runai-gpu-group': 'g' }
    addPod(pipeline, 'reservation', 'x', { namespace: 'runai-reservation', labels: group, owners: [] })
    addPod(pipeline, 'p', 'train', { labels: group, annotations: { 'gpu-fraction': '0.5' }, containers: [] })
    const reserved = gpu(0, 'reservation').replace('"ns"', '"runai-reservation"')
    pipeline.scrape(TARGET, `DCGM_FI_DEV_GPU_UTIL{${reserved}} 90\nDCGM_FI_DEV_FB_USED{${reserved}} 1000`)
    const own = 'pod_uuid="uid-Pod/p",pod_name="p",pod_namespace="ns",gpu="k8s.device-plugin.nvidia.com/gpu=GPU-0"'
    pipeline.scrape(
      'http://node-a:9500/metrics',
      `runai_pod_gpu_utilization{${own}} 30\nrunai_pod_gpu_memory_used_bytes{${own}} 104857600`,
    )
    const text = pipeline.flush()
    assert.deepEqual(valuesBy(text, 'runai_gpu_utilization_per_workload', 'workload_name'), { train: 30 })
    assert.deepEqual(valuesBy(text, 'runai_gpu_memory_used_mebibytes_per_workload', 'workload_name'), { train: 100 })
    assert.deepEqual(valuesBy(text, 'runai_gpu_memory_used_mebibytes_per_pod_per_gpu', 'gpu'), { 0: 100 })
  })

  it('several kinds of workloads in a project double what its mean is divided by', async () => {
    const pipeline = await started()
    addPod(pipeline, 'p', 'train')
    const notebook = objectNamed('Notebook.kubeflow.org/book')
    clusterTables(pipeline.host.cluster).owners.set(notebook.uid, notebook)
    addPod(pipeline, 'q', 'book', { owners: [referenceTo(notebook)] })
    pipeline.scrape(TARGET, `DCGM_FI_DEV_GPU_UTIL{${gpu(0, 'p')}} 90\nDCGM_FI_DEV_GPU_UTIL{${gpu(1, 'q')}} 30`)
    const text = pipeline.flush()
    assert.deepEqual(valuesBy(text, 'runai_gpu_utilization_per_project', 'project'), { ns: 60 })
    const types = valuesBy(text, 'runai_gpu_utilization_per_workload', 'workload_type')
    assert.deepEqual(types, { training: 90, interactive: 30 })
  })

  it('workloads of few GPUs weigh as much in a project as those of many', async () => {
    const pipeline = await started()
    for (const [i, job] of ['big', 'big', 'big', 'small'].entries()) addPod(pipeline, `p-${i}`, job)
    const rows = [100, 100, 100, 0].map((value, i) => `DCGM_FI_DEV_GPU_UTIL{${gpu(i, `p-${i}`)}} ${value}`)
    pipeline.scrape(TARGET, rows.join('\n'))
    assert.deepEqual(valuesBy(pipeline.flush(), 'runai_gpu_utilization_per_project', 'project'), { ns: 75 })
  })

  it('a quota without limit is -1', async () => {
    for (const [unlimited, expected] of [
      ['inf', { team: Infinity }],
      ['-1', { team: -1 }],
      ['omit', {}],
    ] as const) {
      const pipeline = await started({ unlimited })
      const origin = 'project.run.ai'
      const row = { origin, name: 'team', namespace: '', project: 'team', department: 'lab' } as const
      const none = { nodepool: undefined, parent: undefined, cpuCores: 4, memoryBytes: undefined }
      const quota: QuotaObject = {
        kind: 'Quota',
        origin,
        namespace: '',
        name: 'team',
        uid: 'u',
        rows: [{ ...row, ...none, gpus: Infinity }],
      }
      clusterTables(pipeline.host.cluster).quotas.set(quotaKey(origin, '', 'team'), quota)
      const lines = linesOf(pipeline.flush(), 'runai_project_guaranteed_gpus')
      const values = lines.map(line => Number(line.split(' ').at(-1)!.replace('+Inf', 'Infinity')))
      assert.deepEqual(values, Object.values(expected))
    }
  })

  it('a workload without GPU is idle', async () => {
    const pipeline = await started()
    addPod(pipeline, 'p', 'cpu-only', { containers: [containerWith({ cpu: 2 })] })
    addPod(pipeline, 'q', 'train')
    pipeline.scrape(TARGET, `DCGM_FI_DEV_GPU_UTIL{${gpu(0, 'q')}} 10`)
    const text = pipeline.flush()
    assert.deepEqual(valuesBy(text, 'runai_gpu_idle_seconds_per_workload', 'workload_name'), { train: 0 })
    for (const line of text.split('\n')) {
      if (/^runai_\w*gpu/.test(line)) assert.ok(!line.includes('cpu-only') && !line.includes('pod_name="p"'), line)
    }
  })

  it('a GPU is allocated as often as pods have a part of it', async () => {
    const pipeline = await started()
    const group = { 'runai-gpu-group': 'g' }
    addPod(pipeline, 'reservation', 'x', { namespace: 'runai-reservation', labels: group, owners: [] })
    for (const name of ['p', 'q']) {
      addPod(pipeline, name, name, { labels: group, annotations: { 'gpu-fraction': '0.25' }, containers: [] })
    }
    const reserved = gpu(0, 'reservation').replace('"ns"', '"runai-reservation"')
    pipeline.scrape(TARGET, `DCGM_FI_DEV_GPU_UTIL{${reserved}} 90`)
    const text = pipeline.flush()
    assert.deepEqual(valuesBy(text, 'runai_allocated_gpu_count_per_gpu', 'gpu'), { 0: 1 })
    assert.deepEqual(valuesBy(text, 'runai_allocated_gpu_count_per_pod', 'pod_name'), { p: 0.25, q: 0.25 })
    assert.deepEqual(valuesBy(text, 'runai_allocated_gpu_count_per_node', 'node'), { 'node-a': 0.5 })
  })

  it('a series of a GPU has no gpu label', async () => {
    const pipeline = await started()
    addPod(pipeline, 'p', 'train')
    pipeline.scrape(
      TARGET,
      `DCGM_FI_DEV_GPU_UTIL{${gpu(0, 'p')}} 10
       DCGM_FI_DEV_FB_USED{${gpu(0, 'p')}} 10
       DCGM_FI_DEV_FB_FREE{${gpu(0, 'p')}} 10`,
    )
    const lines = pipeline
      .flush()
      .split('\n')
      .filter(line => /^runai_\w+_per_gpu\{/.test(line))
    assert.equal(lines.length, 7)
    for (const line of lines) assert.match(line, /[{,]gpu="0"/)
  })

  it('a node that two targets show is there twice', async () => {
    const pipeline = await started()
    addPod(pipeline, 'p', 'train')
    for (const target of [TARGET, 'http://node-a:9401/metrics']) {
      pipeline.scrape(target, `DCGM_FI_DEV_GPU_UTIL{${gpu(0, 'p')}} 10\nDCGM_FI_DEV_FB_USED{${gpu(0, 'p')}} 10`)
    }
    const text = pipeline.flush()
    assert.deepEqual(linesOf(text, 'runai_gpu_utilization_per_node'), ['{clusterId="local",node="node-a"} 10'])
    assert.deepEqual(linesOf(text, 'runai_gpu_memory_used_mebibytes_per_node'), [
      '{clusterId="local",node="node-a"} 10',
    ])
    assert.deepEqual(valuesBy(text, 'runai_gpu_utilization_per_workload', 'workload_name'), { train: 10 })
  })
})
