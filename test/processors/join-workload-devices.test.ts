import assert from 'node:assert/strict'
import { clusterTables } from '../../pipeline/cluster/tables.ts'
import type { Batch } from '../../pipeline/model/batch.ts'
import { joinWorkload } from '../../processors/join-workload.ts'
import { normalize } from '../../processors/normalize.ts'
import { batchFromText, createSource } from '../support/batch-from-text.ts'
import { podNamed, putNode, putPod } from '../support/cluster-objects.ts'
import { configOf } from '../support/config-of.ts'
import { lines } from '../support/normalized.ts'
import { testHost, type TestHost } from '../support/test-host.ts'
import { textFromBatch } from '../support/text-from-batch.ts'

type Joining = { readonly host: TestHost; join(text: string): string }

/** `normalize` and `join_workload`, as in a pipeline. */
function joining(config: object = {}, host: TestHost = testHost()): Joining {
  let out: Batch | undefined
  let before: Batch | undefined
  const joiner = joinWorkload.create(configOf(joinWorkload, config), host, batch => void (out = batch))
  const processor = normalize.create(configOf(normalize, {}), host, batch => joiner.consume(batch))
  return {
    host,
    join(text) {
      before = batchFromText(text, before === undefined ? { source: createSource() } : { after: before })
      processor.consume(before)
      return textFromBatch(out!)
    },
  }
}

function inCluster(): TestHost {
  const host = testHost()
  putNode(host.cluster, 'node-a', { 'runai/node-pool': 'pool-1', rack: 'r7' }, ['10.0.0.1'])
  return host
}

describe('join_workload: series of devices', () => {
  it('have the node and node pool also where nobody holds the device, and all that config adds of the node', () => {
    const { host, join } = joining({ add: { rack: 'node.label.rack', team: 'pod.label.team' } }, inCluster())
    assert.equal(
      join(`DCGM_FI_DEV_GPU_TEMP{gpu="0",UUID="GPU-1",Hostname="exporter-x"} 30`),
      lines(
        `{"hw.gpu.temperature",Hostname="exporter-x",UUID="GPU-1",gpu="0",node="node-a",nodepool="pool-1",rack="r7"} 30`,
      ),
    )
    assert.deepEqual(
      [...host.counted.keys()].filter(name => name.includes('points')),
      [],
    )
  })

  it('have them also where the pod is not known, or the board is cut into instances', () => {
    const { host, join } = joining({}, inCluster())
    assert.equal(
      join(`
        DCGM_FI_DEV_GPU_TEMP{gpu="0",UUID="GPU-1",pod="p",namespace="ns"} 30
        DCGM_FI_DEV_GPU_TEMP{gpu="1",UUID="GPU-2",GPU_I_ID="1",GPU_I_PROFILE="1g.5gb"} 31
        DCGM_FI_DEV_GPU_TEMP{gpu="1",UUID="GPU-2",GPU_I_ID="2",GPU_I_PROFILE="1g.5gb"} 31`),
      lines(`
        {"hw.gpu.temperature",UUID="GPU-1",gpu="0",namespace="ns",node="node-a",nodepool="pool-1",pod="p"} 30
        {"hw.gpu.temperature",UUID="GPU-2",gpu="1",node="node-a",nodepool="pool-1"} 31`),
    )
    assert.equal(host.counted.get('gpucol_processor_unresolved_metric_points{reason="unknown_pod"}'), 1)
  })

  it('have the node of the device where nobody tells that of the pod', () => {
    const { host, join } = joining({ labels: { pod_uuid: '', workload_id: '' } }, inCluster())
    putPod(host.cluster, podNamed('p'))
    assert.equal(
      join(`DCGM_FI_DEV_GPU_TEMP{gpu="0",UUID="GPU-1",pod="p",namespace="ns"} 30`),
      lines(
        `{"hw.gpu.temperature",UUID="GPU-1",gpu="0",namespace="ns",node="node-a",nodepool="pool-1",pod="p",project="ns",workload_kind="Pod",workload_name="p"} 30`,
      ),
    )
  })

  it('have what a reservation pod has of places, and no workload', () => {
    const pod = { node: 'node-a', namespace: 'runai-reservation', labels: { project: 'nobody' } }
    const text = `DCGM_FI_DEV_GPU_TEMP{gpu="0",UUID="GPU-1",pod="r",namespace="runai-reservation"} 30`
    const { host, join } = joining({}, inCluster())
    putPod(host.cluster, podNamed('r', pod))
    assert.equal(
      join(text),
      lines(
        `{"hw.gpu.temperature",UUID="GPU-1",gpu="0",namespace="runai-reservation",node="node-a",nodepool="pool-1",pod="r",pod_uuid="uid-Pod/r"} 30`,
      ),
    )
    assert.equal(host.counted.get('gpucol_processor_unresolved_metric_points{reason="reservation"}'), 1)
    const other = joining({ reservation_namespaces: ['mine'] }, inCluster())
    putPod(other.host.cluster, podNamed('r', pod))
    assert.match(other.join(text), /workload_name="r"/)
  })

  it('have the job of a batch system as their workload, and the rest of the pod it runs in', () => {
    const { host, join } = joining({ labels: { workload_id: 'id' } }, inCluster())
    putPod(host.cluster, podNamed('slurmd', { node: 'node-a', labels: { project: 'hpc' } }))
    assert.equal(
      join(`
        DCGM_FI_DEV_GPU_TEMP{gpu="0",UUID="GPU-1",hpc_job="17"} 30
        DCGM_FI_DEV_GPU_TEMP{gpu="1",UUID="GPU-2",hpc_job="18",pod="slurmd",namespace="ns"} 31
        other{hpc_job="19"} 1`),
      lines(`
        {"hw.gpu.temperature",UUID="GPU-1",gpu="0",hpc_job="17",id="17",node="node-a",nodepool="pool-1",workload_kind="SlurmJob",workload_name="17",workload_type="training"} 30
        {"hw.gpu.temperature",UUID="GPU-2",gpu="1",hpc_job="18",id="18",namespace="ns",node="node-a",nodepool="pool-1",pod="slurmd",pod_uuid="uid-Pod/slurmd",project="hpc",workload_kind="SlurmJob",workload_name="18",workload_type="training"} 31
        other{hpc_job="19",id="19",workload_kind="SlurmJob",workload_name="19",workload_type="training"} 1`),
    )
    assert.equal(host.counted.get('gpucol_processor_resolved_metric_points'), 3)
  })

  it('have the job also where the exporter of AMD tells it', () => {
    const { join } = joining({ labels: { workload_id: '' } }, inCluster())
    assert.equal(
      join(
        `gpu_package_power{gpu_id="0",card_model="MI300X",serial_number="S1",hostname="h",job_id="17",job_user="u"} 9`,
      ),
      lines(
        `{"hw.gpu.power",Hostname="h",gpu="0",hpc_job="17",job_user="u",modelName="MI300X",node="node-a",nodepool="pool-1",serial_number="S1",workload_kind="SlurmJob",workload_name="17",workload_type="training"} 9`,
      ),
    )
  })

  it('are looked at again when the node becomes known, or changes', () => {
    const { host, join } = joining()
    const text = `DCGM_FI_DEV_GPU_TEMP{gpu="0",UUID="GPU-1",Hostname="h"} 30`
    const nodeIn = (joined: string) => /node="([^"]*)"/.exec(joined)?.[1]
    assert.equal(nodeIn(join(text)), 'h')
    putNode(host.cluster, 'node-a', {})
    assert.equal(nodeIn(join(text)), 'node-a')
    assert.doesNotMatch(join(text), /nodepool/)
    putNode(host.cluster, 'node-a', { 'runai/node-pool': 'pool-2' })
    assert.match(join(text), /nodepool="pool-2"/)
  })

  it('are held back with those of pods until the cluster has been read, and then counted no more', () => {
    const { host, join } = joining({}, inCluster())
    const { feeds } = clusterTables(host.cluster)
    feeds.set('kubernetes_api', 'reading')
    const text = `DCGM_FI_DEV_GPU_TEMP{gpu="0",UUID="GPU-1"} 30`
    assert.equal(join(text), '')
    feeds.set('kubernetes_api', 'complete')
    for (let i = 0; i < 2; i++) assert.match(join(text), /node="node-a"/)
    assert.equal(host.counted.get('gpucol_processor_held_back_metric_points'), 1)
  })
})
