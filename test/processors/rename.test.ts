import assert from 'node:assert/strict'
import { identities, identityKey } from '../../pipeline/cluster/identities.ts'
import type { Cluster } from '../../pipeline/component.ts'
import type { Batch } from '../../pipeline/model/batch.ts'
import { labelsFrom } from '../../pipeline/model/labels.ts'
import { normalize } from '../../processors/normalize.ts'
import { rename } from '../../processors/rename.ts'
import { batchFromText } from '../support/batch-from-text.ts'
import { configOf } from '../support/config-of.ts'
import { testHost, type TestHost } from '../support/test-host.ts'
import { textFromBatch } from '../support/text-from-batch.ts'

const WORKLOAD = {
  workload_id: 'w-1',
  workload_name: 'llama',
  workload_type: 'training',
  job_id: 'j-1',
  job_name: 'llama-0',
  project: 'chat',
  user: 'ada',
}
const POD = { ...WORKLOAD, pod: 'llama-0-0', namespace: 'runai-chat', pod_uid: 'p-1' }

/** What a roll-up would have written. */
function know(cluster: Cluster): void {
  const table = identities(cluster)
  const [workload, pod] = [WORKLOAD, POD].map(it => labelsFrom(Object.entries(it)))
  table.set(identityKey('workload_id', 'w-1'), workload!)
  table.set(identityKey('job_id', 'j-1'), workload!)
  table.set(identityKey('pod_uid', 'p-1'), pod!)
  table.set(identityKey('pod', 'runai-chat/llama-0-0'), pod!)
  const node = { node: 'node-a', model: 'A100', ready: 'true', schedulable: 'true' }
  table.set(identityKey('node', 'node-a'), labelsFrom(Object.entries(node)))
}

function renamed(
  config: object,
  host: TestHost = testHost(),
): { host: TestHost; give(text: string, after?: Batch): Batch } {
  const out: Batch[] = []
  const processor = rename.create(configOf(rename, config), host, batch => void out.push(batch))
  void processor.start?.()
  return {
    host,
    give(text, after) {
      processor.consume(batchFromText(text, after === undefined ? {} : { after }))
      return out.at(-1)!
    },
  }
}

function lines(text: string): string {
  const all = text.split('\n').map(line => line.trim())
  return all
    .filter(line => line !== '')
    .sort()
    .map(line => `${line}\n`)
    .join('')
}

function check(name: string, config: object, input: string, expected: string): void {
  it(name, () => {
    const { host, give } = renamed(config)
    know(host.cluster)
    assert.equal(lines(textFromBatch(give(input))), lines(expected))
  })
}

const OLDER = { from: 'runai-2.17', to: 'runai-2.16' }
const NEWER = { from: 'runai-2.16', to: 'runai-2.17' }

describe('rename', () => {
  check(
    'gives a metric its older name, and the job the id that it had',
    OLDER,
    'runai_run_time_seconds_per_workload{clusterId="c",workload_id="w-1",workload_name="llama"} 60',
    'runai_job_total_runtime{clusterId="c",job_uuid="j-1"} 60',
  )
  check(
    'keeps the original beside it if it shall',
    { ...OLDER, keep_original: true },
    'runai_run_time_seconds_per_workload{clusterId="c",workload_id="w-1",workload_name="llama"} 60',
    `runai_run_time_seconds_per_workload{clusterId="c",workload_id="w-1",workload_name="llama"} 60
    runai_job_total_runtime{clusterId="c",job_uuid="j-1"} 60`,
  )
  check(
    'changes labels of a metric that keeps its name',
    OLDER,
    'runai_gpu_utilization_per_workload{clusterId="c",workload_id="w-1",workload_name="llama",workload_type="training",user="ada"} 29',
    'runai_gpu_utilization_per_workload{clusterId="c",job_name="llama-0",job_type="training",job_uuid="j-1",user="ada"} 29',
  )
  check(
    'changes units, by exact factors',
    OLDER,
    `runai_gpu_memory_used_mebibytes_per_node{clusterId="c",node="node-a"} 3
    runai_requested_gpu_memory_mb_per_workload{clusterId="c",job_name="llama-0",job_type="training",job_uuid="j-1",project="chat",workload_id="w-1"} 0.3`,
    `runai_gpu_memory_used_mebibytes_per_node{clusterId="c",node="node-a"} 3
    runai_node_gpu_used_memory_bytes{clusterId="c",node="node-a"} 3145728
    runai_job_requested_gpu_memory{clusterId="c",job_name="llama-0",job_type="training",job_uuid="j-1",project="chat"} 300000`,
  )
  check(
    'leaves alone what never changed, what is of somebody else, and what the other generation has not',
    OLDER,
    `runai_cluster_cpu_utilization{clusterId="c"} 0.5
    runai_queue_info{clusterId="c",queue_name="q"} 1
    up{job="dcgm"} 1`,
    `runai_cluster_cpu_utilization{clusterId="c"} 0.5
    runai_queue_info{clusterId="c",queue_name="q"} 1
    up{job="dcgm"} 1`,
  )
  check(
    'gives a metric that had two names both',
    OLDER,
    'runai_active_job_memory_requested_bytes{clusterId="c",job_name="a",job_uuid="j"} 8',
    `runai_active_job_memory_requested_bytes{clusterId="c",job_name="a",job_uuid="j"} 8
    runai_running_job_memory_requested_bytes{clusterId="c",job_name="a",job_uuid="j"} 8`,
  )
  check(
    'emits the other variant, in its unit',
    { ...OLDER, variant: 'before-2.9' },
    `runai_gpu_memory_used_mebibytes_per_pod_per_gpu{clusterId="c",pod_name="llama-0-0",pod_uuid="p-1",pod_namespace="runai-chat",node="node-a",gpu="0"} 2
    runai_gpu_utilization_per_pod_per_gpu{clusterId="c",pod_name="llama-0-0",pod_uuid="p-1",pod_namespace="runai-chat",node="node-a",gpu="0"} 29
    runai_allocated_gpu_count_per_workload{clusterId="c",workload_id="w-1",workload_name="llama",workload_type="training",user="ada"} 1`,
    `runai_gpu_memory_used_mebibytes_per_pod_per_gpu{clusterId="c",gpu="0",job_name="llama-0",job_uuid="j-1",node="node-a"} 2097152
    runai_gpu_utilization_per_pod_per_gpu{clusterId="c",gpu="0",node="node-a",pod_name="llama-0-0",pod_namespace="runai-chat"} 29
    runai_allocated_gpu_count_per_workload{clusterId="c",job_name="llama-0",job_type="training",job_uuid="j-1",project="chat"} 1`,
  )
  check(
    'goes over two steps',
    { from: 'runai-2.17', to: 'runai-2.12' },
    `runai_gpu_memory_used_mebibytes_per_workload{clusterId="c",workload_id="w-1",workload_name="llama",workload_type="training",user="ada"} 2
    runai_cpu_limits_per_active_workload{clusterId="c",job_name="llama-0",job_uuid="j-1"} 4`,
    `runai_gpu_memory_used_mebibytes_per_workload{clusterId="c",job_name="llama-0",job_type="training",job_uuid="j-1",user="ada"} 2
    runai_job_used_gpu_memory_bytes{clusterId="c",job_uuid="j-1"} 2097152
    runai_running_job_cpu_limit_cores{clusterId="c",job_name="llama-0",job_uuid="j-1"} 4`,
  )

  check(
    'brings older names up to date, in either shape that they had, and leaves further labels',
    NEWER,
    `runai_job_total_runtime{clusterId="c",job_uuid="j-1",instance="x"} 60
    runai_gpu_memory_used_mebibytes_per_workload{clusterId="c",job_uuid="j-1"} 2097152
    runai_gpu_utilization_per_workload{clusterId="c",job_name="llama-0",job_type="training",job_uuid="j-1",user="ada"} 29
    runai_gpu_count_per_node{clusterId="c",node="node-a"} 8
    runai_project_info{clusterId="c",project="chat",department_name="research",cpu_quota="1",memory_quota="2",gpu_guaranteed_quota="3"} 1`,
    `runai_run_time_seconds_per_workload{clusterId="c",instance="x",workload_id="w-1",workload_name="llama"} 60
    runai_gpu_memory_used_mebibytes_per_workload{clusterId="c",user="ada",workload_id="w-1",workload_name="llama",workload_type="training"} 2
    runai_gpu_utilization_per_workload{clusterId="c",user="ada",workload_id="w-1",workload_name="llama",workload_type="training"} 29
    runai_gpu_count_per_node{clusterId="c",modelName="A100",node="node-a",ready="true",schedulable="true"} 8
    runai_project_info{clusterId="c",cpu_quota="1",department="research",gpu_guaranteed_quota="3",memory_quota="2",project="chat"} 1`,
  )
  check(
    'leaves alone what is up to date already, in a fleet that is being upgraded',
    NEWER,
    'runai_gpu_utilization_per_workload{clusterId="c",workload_id="w-1",workload_name="llama",workload_type="training",user="ada"} 29',
    'runai_gpu_utilization_per_workload{clusterId="c",user="ada",workload_id="w-1",workload_name="llama",workload_type="training"} 29',
  )
  check(
    'lets that count which has the name already, wherever it stands',
    NEWER,
    `runai_node_gpu_used_memory_bytes{clusterId="c",node="node-a"} 4194304
    runai_node_gpu_used_memory_bytes{clusterId="c",node="node-b"} 4194304
    runai_gpu_memory_used_mebibytes_per_node{clusterId="c",node="node-a"} 3`,
    `runai_gpu_memory_used_mebibytes_per_node{clusterId="c",node="node-a"} 3
    runai_gpu_memory_used_mebibytes_per_node{clusterId="c",node="node-b"} 4`,
  )
  check(
    'gives back the percentages that ratios were made of, to the last digit',
    { from: 'dcgm-exporter-4.9', to: 'dcgm-exporter-4.8' },
    `DCGM_FI_DEV_GPU_UTIL_RATIO{gpu="0"} 0.29
    DCGM_FI_DEV_GPU_UTIL_RATIO{gpu="1"} 0.57
    DCGM_FI_DEV_GPU_UTIL_RATIO{gpu="2"} 0.123456789012`,
    `DCGM_FI_DEV_GPU_UTIL{gpu="0"} 29
    DCGM_FI_DEV_GPU_UTIL{gpu="1"} 57
    DCGM_FI_DEV_GPU_UTIL{gpu="2"} 12.3456789012`,
  )
  check(
    'takes a ratio for the percentage that its help says it is',
    { from: 'dcgm-exporter-4.9', to: 'dcgm-exporter-4.8' },
    `# HELP DCGM_FI_DEV_GPU_UTIL_RATIO GPU utilization (in %).
    DCGM_FI_DEV_GPU_UTIL_RATIO{gpu="0"} 29
    # HELP DCGM_FI_DEV_ENC_UTIL_RATIO Encoder utilization (ratio).
    DCGM_FI_DEV_ENC_UTIL_RATIO{gpu="0"} 0.29`,
    `DCGM_FI_DEV_GPU_UTIL{gpu="0"} 29
    DCGM_FI_DEV_ENC_UTIL{gpu="0"} 29`,
  )
  it('counts and says once what was left out because the name was taken', () => {
    const { host, give } = renamed(NEWER)
    give(`runai_node_gpu_used_memory_bytes{node="a"} 1
      runai_gpu_memory_used_mebibytes_per_node{node="a"} 1
      runai_node_gpu_used_memory_bytes{node="b"} 1
      runai_gpu_memory_used_mebibytes_per_node{node="b"} 1`)
    assert.equal(host.counted.get('gpucol_processor_untranslated_series'), 2)
    assert.deepEqual(host.logged, [
      'warn: two metrics are one: that counts which has the name already metric=runai_node_gpu_used_memory_bytes is=runai_gpu_memory_used_mebibytes_per_node',
    ])
  })

  it('leaves out what nobody knows the id of, counts it, and has it as soon as somebody does', () => {
    const { host, give } = renamed(OLDER)
    const input = 'runai_run_time_seconds_per_workload{clusterId="c",workload_id="w-1",workload_name="llama"} 60'
    const first = give(input)
    assert.equal(textFromBatch(first), '')
    const counted =
      'gpucol_processor_untranslated_series{metric="runai_run_time_seconds_per_workload",reason="unknown id"}'
    assert.equal(host.counted.get(counted), 1)
    assert.deepEqual(host.logged, [
      'failing ids: series are left out: no receiver tells of pods, so that nobody knows their ids',
    ])
    know(host.cluster)
    assert.equal(textFromBatch(give(input, first)), 'runai_job_total_runtime{clusterId="c",job_uuid="j-1"} 60\n')
    assert.equal(host.logged.at(-1), 'ok ids')
  })

  check(
    'brings names of kube-state-metrics 1 up to date, once where a scrape has both',
    { from: 'kube-state-metrics-1', to: 'kube-state-metrics-2' },
    `kube_pod_container_resource_requests_cpu_cores{pod="a"} 2
    kube_pod_container_resource_requests_cpu_cores{pod="b"} 3
    kube_pod_container_resource_requests{pod="a",resource="cpu",unit="core"} 2
    kube_hpa_status_current_replicas{hpa="x"} 4`,
    `kube_pod_container_resource_requests{pod="a",resource="cpu",unit="core"} 2
    kube_pod_container_resource_requests{pod="b",resource="cpu",unit="core"} 3
    kube_horizontalpodautoscaler_status_current_replicas{horizontalpodautoscaler="x"} 4`,
  )
  check(
    'emits names of kube-state-metrics 1 beside those that it had, too',
    { from: 'kube-state-metrics-2', to: 'kube-state-metrics-1' },
    `kube_pod_container_resource_requests{pod="a",resource="cpu",unit="core"} 2
    kube_pod_container_resource_requests{pod="a",resource="ephemeral_storage",unit="byte"} 5
    kube_horizontalpodautoscaler_status_current_replicas{horizontalpodautoscaler="x"} 4`,
    `kube_pod_container_resource_requests{pod="a",resource="cpu",unit="core"} 2
    kube_pod_container_resource_requests{pod="a",resource="ephemeral_storage",unit="byte"} 5
    kube_pod_container_resource_requests_cpu_cores{pod="a"} 2
    kube_hpa_status_current_replicas{hpa="x"} 4`,
  )
  check(
    'brings names of dcgm-exporter 1.x to those of 4.9',
    { from: 'dcgm-exporter-1', to: 'dcgm-exporter-4.9' },
    `dcgm_gpu_utilization{gpu="0",uuid="GPU-0",pod_name="p",pod_namespace="n",container_name="c"} 29
    dcgm_fb_used{gpu="0",uuid="GPU-0"} 2`,
    `DCGM_FI_DEV_GPU_UTIL_RATIO{UUID="GPU-0",container="c",gpu="0",namespace="n",pod="p"} 0.29
    DCGM_FI_DEV_FB_USED_BYTES{UUID="GPU-0",gpu="0"} 2097152`,
  )
  check(
    'emits the names of dcgm-exporter before 4.9 beside the new ones',
    { from: 'dcgm-exporter-4.9', to: 'dcgm-exporter-4.8', keep_original: true },
    'DCGM_FI_DEV_GPU_UTIL_RATIO{UUID="GPU-0",DCGM_FI_SYSTEM_DRIVER_VERSION="570"} 0.25',
    `DCGM_FI_DEV_GPU_UTIL_RATIO{DCGM_FI_SYSTEM_DRIVER_VERSION="570",UUID="GPU-0"} 0.25
    DCGM_FI_DEV_GPU_UTIL{DCGM_FI_DRIVER_VERSION="570",UUID="GPU-0"} 25`,
  )

  check(
    'gives labels their other names also on metrics that keep theirs',
    { from: 'dcgm-exporter-4.8', to: 'dcgm-exporter-4.9' },
    `DCGM_FI_DEV_ECC_DBE_VOL_TOTAL{UUID="GPU-0",DCGM_FI_DRIVER_VERSION="570"} 0
    DCGM_FI_DEV_ECC_SBE_VOL_TOTAL{UUID="GPU-0"} 0
    another{DCGM_FI_DRIVER_VERSION="570"} 1`,
    `DCGM_FI_DEV_ECC_DBE_VOL_TOTAL{DCGM_FI_SYSTEM_DRIVER_VERSION="570",UUID="GPU-0"} 0
    DCGM_FI_DEV_ECC_SBE_VOL_TOTAL{UUID="GPU-0"} 0
    another{DCGM_FI_DRIVER_VERSION="570"} 1`,
  )

  it('leaves the facts of an exporter what they are, in whichever generation it speaks', () => {
    const text = `# HELP DCGM_FI_DEV_GPU_UTIL GPU utilization (in %).
      DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="GPU-0"} 25
      # HELP DCGM_FI_DEV_FB_USED Framebuffer memory used (in MiB).
      DCGM_FI_DEV_FB_USED{gpu="0",UUID="GPU-0"} 3
      # HELP DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL Bandwidth (in MB/s).
      DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL{gpu="0",UUID="GPU-0"} 7
      # HELP DCGM_FI_DEV_MEM_COPY_UTIL Memory utilization (in %).
      DCGM_FI_DEV_MEM_COPY_UTIL{gpu="0",UUID="GPU-0"} 50`
    const [older, newer] = ['dcgm-exporter-4.8', 'dcgm-exporter-4.9']
    const facts = (batch: Batch): string => {
      const out: Batch[] = []
      normalize.create(configOf(normalize, {}), testHost(), one => void out.push(one)).consume(batch)
      return lines(textFromBatch(out[0]!))
    }
    const expected = facts(batchFromText(text))
    const renewed = renamed({ from: older, to: newer }).give(text)
    assert.equal(facts(renewed), expected)
    const out: Batch[] = []
    const back = rename.create(configOf(rename, { from: newer, to: older }), testHost(), batch => void out.push(batch))
    back.consume(renewed)
    assert.equal(lines(textFromBatch(out[0]!)), lines(textFromBatch(batchFromText(text))))
    assert.equal(facts(out[0]!), expected)
  })

  const TWO = `runai_cpu_limits_per_active_workload{job_uuid="j-1"} 1
    runai_memory_limits_per_active_workload{job_uuid="j-1"} 2`
  check(
    'emits only what is on, and the newer name where nothing older is',
    { ...OLDER, metrics: { '*': 'off', runai_active_job_cpu_limits: 'on' } },
    TWO,
    `runai_active_job_cpu_limits{job_uuid="j-1"} 1
    runai_memory_limits_per_active_workload{job_uuid="j-1"} 2`,
  )
  check(
    'lets only those originals go on that are on',
    { ...NEWER, keep_original: true, metrics: { runai_active_job_cpu_limits: 'off' } },
    `runai_active_job_cpu_limits{job_uuid="j-1"} 1
    runai_active_job_memory_limits{job_uuid="j-1"} 2`,
    `runai_cpu_limits_per_active_workload{job_uuid="j-1"} 1
    runai_active_job_memory_limits{job_uuid="j-1"} 2
    runai_memory_limits_per_active_workload{job_uuid="j-1"} 2`,
  )

  it('ends what has an end, and says so before and after', async () => {
    const metrics = { runai_active_job_cpu_limits: '2023-11-15', runai_active_job_memory_limits: '2023-11-01' }
    const { host, give } = renamed({ ...OLDER, metrics })
    const first = give(TWO)
    const MEMORY = 'runai_memory_limits_per_active_workload{job_uuid="j-1"} 2\n'
    assert.equal(lines(textFromBatch(first)), `runai_active_job_cpu_limits{job_uuid="j-1"} 1\n${MEMORY}`)
    assert.deepEqual(host.logged, [
      'warn: legacy metrics are no longer emitted since=2023-11-01 metrics=runai_active_job_memory_limits',
      'warn: legacy metrics are emitted until a date until=2023-11-15 metrics=runai_active_job_cpu_limits',
    ])
    await host.clock.advance(2 * 3_600_000)
    assert.equal(
      lines(textFromBatch(give(TWO, first))),
      `runai_cpu_limits_per_active_workload{job_uuid="j-1"} 1\n${MEMORY}`,
    )
    assert.equal(
      host.logged.at(-1),
      'warn: legacy metrics are no longer emitted since=2023-11-15 metrics=runai_active_job_cpu_limits',
    )
  })

  it('shows which legacy series are still emitted', () => {
    const { host, give } = renamed({ ...OLDER, keep_original: true })
    know(host.cluster)
    give(`runai_cpu_limits_per_active_workload{clusterId="c",job_name="a",job_uuid="j-1"} 1
      runai_cpu_limits_per_active_workload{clusterId="c",job_name="b",job_uuid="j-2"} 1
      runai_gpu_utilization_per_workload{clusterId="c",workload_id="w-1",workload_name="llama",workload_type="training",user="ada"} 29
      runai_gpu_count_per_node{clusterId="c",node="node-a",modelName="A100",ready="true",schedulable="true"} 8
      runai_cluster_cpu_utilization{clusterId="c"} 0.5`)
    assert.deepEqual(
      host.observed('gpucol_deprecated_series'),
      new Map([
        ['{metric="runai_active_job_cpu_limits"}', 2],
        ['{metric="runai_gpu_utilization_per_workload"}', 1],
        ['{metric="runai_gpu_count_per_node"}', 1],
      ]),
    )
  })

  const REMOVED = `
    runai_job_image{clusterId="c",image="i",job_name="llama-0",job_uuid="j-1"} 1
    runai_deployment_request_rate{clusterId="c",namespace_name="n",deployment_name="d"} 3
    runai_deployment_request_latencies_bucket{clusterId="c",namespace_name="n",deployment_name="d",le="+Inf"} 3`

  for (const [from, to] of [
    ['runai-2.17', 'runai-2.16'],
    ['runai-2.16', 'runai-2.17'],
  ] as const) {
    it(`hands on, shows and ends metrics that were removed like others, from ${from} to ${to}`, async () => {
      const { host, give } = renamed({
        from,
        to,
        metrics: { runai_deployment_request_rate: 'off', runai_job_image: '2023-11-15' },
      })
      const text = `# TYPE runai_deployment_request_latencies histogram${REMOVED}`
      assert.deepEqual(textFromBatch(give(text)).match(/^\w+/gm), [
        'runai_deployment_request_latencies_bucket',
        'runai_job_image',
      ])
      assert.deepEqual(
        host.observed('gpucol_deprecated_series'),
        new Map([
          ['{metric="runai_deployment_request_latencies"}', 1],
          ['{metric="runai_job_image"}', 1],
        ]),
      )
      await host.clock.advance(86_400_000)
      assert.deepEqual(textFromBatch(give(text)).match(/^\w+/gm), ['runai_deployment_request_latencies_bucket'])
    })
  }

  it('describes older metrics in words and units of their own', () => {
    const { give } = renamed(OLDER)
    const { layout } = give(
      '# HELP runai_gpu_memory_total_mebibytes_per_node X.\nrunai_gpu_memory_total_mebibytes_per_node{node="a"} 1',
    )
    assert.deepEqual(
      layout.metrics.map(({ name, unit, help }) => [name, unit, help]),
      [
        ['runai_gpu_memory_total_mebibytes_per_node', '', 'X.'],
        ['runai_node_total_memory_bytes', 'By', 'Memory of the GPUs of the node, in bytes.'],
      ],
    )
  })
})
