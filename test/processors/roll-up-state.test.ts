import assert from 'node:assert/strict'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Pod } from '../../pipeline/cluster/objects.ts'
import { clusterTables } from '../../pipeline/cluster/tables.ts'
import { createVirtualClock, type VirtualClock } from '../../pipeline/clock/virtual-clock.ts'
import { openStorage, type OpenStorage } from '../../pipeline/storage/storage.ts'
import { trackStorage } from '../../pipeline/storage/tracked-storage.ts'
import {
  containerWith,
  objectNamed,
  podNamed,
  putNode,
  putPod,
  referenceTo,
  removePod,
} from '../support/cluster-objects.ts'
import { metricsOfPod } from '../support/metrics-of.ts'
import { rolledPipeline, valuesBy, type RolledPipeline } from '../support/rolled-pipeline.ts'
import { TEST_START_MS, testHost } from '../support/test-host.ts'

const TARGET = 'http://node-a:9400/metrics'
const JOB = objectNamed('Job.batch/train')
const HOUR_MS = 3_600_000
const IDLE = 'runai_gpu_idle_seconds_per_workload'
const LAST_OF_WORKLOAD = 'runai_last_gpu_utilization_time_per_workload'
const LAST_OF_GPU = 'runai_last_gpu_utilization_time_per_gpu'
const RUN_TIME = 'runai_run_time_seconds_per_workload'
const WAIT_TIME = 'runai_wait_time_seconds_per_workload'

function rowOf(utilization: number, gpu = 0): string {
  return `DCGM_FI_DEV_GPU_UTIL{gpu="${gpu}",UUID="GPU-${gpu}",Hostname="node-a",namespace="ns",pod="train-0",container="main"} ${utilization}`
}

/** A job that waited for a minute and runs since an hour. */
const TRAIN: Pod = {
  ...podNamed('train-0', {
    node: 'node-a',
    owners: [referenceTo(JOB)],
    containers: [containerWith({ 'nvidia.com/gpu': 1 })],
  }),
  createdMs: TEST_START_MS - HOUR_MS - 60_000,
  scheduledMs: TEST_START_MS - HOUR_MS,
  startedMs: TEST_START_MS - HOUR_MS,
  runningMs: TEST_START_MS - HOUR_MS,
}

function fill({ host }: RolledPipeline): void {
  putNode(host.cluster, 'node-a', {})
  clusterTables(host.cluster).owners.set(JOB.uid, JOB)
  putPod(host.cluster, TRAIN)
}

function workloadValue(text: string, metric: string): number | undefined {
  return valuesBy(text, metric, 'workload_name')['train']
}

describe('roll_up with state on disk', () => {
  let directory: string
  let clock: VirtualClock
  const opened: OpenStorage[] = []
  const { log, logged } = testHost()

  beforeEach(async () => {
    logged.length = 0
    clock = createVirtualClock(TEST_START_MS)
    directory = join(await mkdtemp(join(tmpdir(), 'gpucol-roll-up-')), 'state')
  })
  afterEach(async () => {
    await Promise.all(opened.splice(0).map(storage => storage.close()))
    await rm(join(directory, '..'), { recursive: true })
  })

  /** As after a start of the process: everything is new but the directory. */
  async function start(config: object = {}, isFilled = true): Promise<RolledPipeline> {
    const storage = await openStorage(directory, log, clock)
    opened.push(storage)
    const pipeline = rolledPipeline(config, { clock, log, storage: trackStorage(storage, clock) })
    if (isFilled) fill(pipeline)
    await pipeline.rollUp.start?.()
    return pipeline
  }

  async function stop(pipeline: RolledPipeline): Promise<void> {
    await pipeline.rollUp.stop?.(Infinity)
    await Promise.all(opened.splice(0).map(storage => storage.close()))
  }

  /** Busy at the beginning, then idle for ten minutes. */
  async function idleForTenMinutes(pipeline: RolledPipeline): Promise<string> {
    pipeline.scrape(TARGET, rowOf(50))
    pipeline.flush()
    await clock.advance(600_000)
    pipeline.scrape(TARGET, rowOf(0))
    return pipeline.flush()
  }

  it('goes on after a restart where it was', async () => {
    const first = await start()
    await idleForTenMinutes(first)
    await stop(first)
    await clock.advance(60_000)
    const second = await start()
    second.scrape(TARGET, rowOf(0))
    const text = second.flush()
    assert.equal(workloadValue(text, IDLE), 660)
    assert.equal(workloadValue(text, LAST_OF_WORKLOAD), TEST_START_MS / 1000)
    assert.deepEqual(valuesBy(text, LAST_OF_GPU, 'gpu'), { 0: TEST_START_MS / 1000 })
    assert.equal(workloadValue(text, RUN_TIME), 3600 + 660)
    assert.equal(workloadValue(text, WAIT_TIME), 60)
    await stop(second)
  })

  it('counts every workload once, also one that a restart finds again', async () => {
    const runs = (pipeline: RolledPipeline): Record<string, number> =>
      valuesBy(pipeline.flush(), 'dstack_run_count_total', 'dstack_project_name')
    const first = await start({ catalog: 'dstack' })
    assert.deepEqual(runs(first), { ns: 1 })
    putPod(first.host.cluster, podNamed('shell', {}))
    assert.deepEqual(runs(first), { ns: 2 })
    await stop(first)
    const second = await start({ catalog: 'dstack' })
    assert.deepEqual(runs(second), { ns: 2 })
    putPod(second.host.cluster, podNamed('eval', {}))
    assert.deepEqual(runs(second), { ns: 3 })
    await stop(second)
  })

  it('writes while it runs, so that a process that is killed loses little', async () => {
    const first = await start()
    await idleForTenMinutes(first)
    await clock.advance(60_000)
    await Promise.all(opened.splice(0).map(storage => storage.close()))
    const second = await start()
    second.scrape(TARGET, rowOf(0))
    assert.equal(workloadValue(second.flush(), IDLE), 660)
    await stop(second)
  })

  it('goes on after a reload with another config', async () => {
    const first = await start()
    await idleForTenMinutes(first)
    await stop(first)
    const second = await start({ active_above: 5, hold_failed: '1m' })
    second.scrape(TARGET, rowOf(3))
    assert.equal(workloadValue(second.flush(), IDLE), 600)
    await stop(second)
  })

  it('keeps what pods did that are gone', async () => {
    const first = await start()
    await idleForTenMinutes(first)
    removePod(first.host.cluster, TRAIN)
    const again = {
      ...TRAIN,
      uid: 'another',
      createdMs: clock.now(),
      scheduledMs: clock.now(),
      startedMs: clock.now(),
      runningMs: clock.now(),
    }
    putPod(first.host.cluster, again)
    first.flush()
    await stop(first)
    await clock.advance(60_000)
    const second = await start({}, false)
    clusterTables(second.host.cluster).owners.set(JOB.uid, JOB)
    putPod(second.host.cluster, again)
    assert.equal(workloadValue(second.flush(), RUN_TIME), 3600 + 660)
    await stop(second)
  })

  it('starts anew, and says so, when the file is damaged', async () => {
    const first = await start()
    await idleForTenMinutes(first)
    await stop(first)
    for (const name of await readdir(directory)) {
      if (name.startsWith('state')) await writeFile(join(directory, name), 'garbage'.repeat(2000))
    }
    const second = await start()
    second.scrape(TARGET, rowOf(0))
    const text = second.flush()
    // Since the pod started, because nothing else is known.
    assert.equal(workloadValue(text, IDLE), 3600 + 600)
    assert.ok(
      logged.some(line => line.startsWith('warn: state.db was damaged')),
      logged.join('\n'),
    )
    await stop(second)
  })

  it('forgets a workload that is gone', async () => {
    const first = await start()
    await idleForTenMinutes(first)
    removePod(first.host.cluster, TRAIN)
    first.flush()
    await clock.advance(HOUR_MS + 60_000)
    await stop(first)
    const storage = await openStorage(directory, log, clock)
    opened.push(storage)
    const kept = await storage.state('test ').load()
    const texts = Array.from(kept, ([key, bytes]) => `${key} ${Buffer.from(bytes).toString()}`)
    assert.deepEqual(
      texts.filter(text => !text.startsWith('devices/')),
      [],
    )
  })

  it('forgets nothing while the model of the cluster is read after a restart', async () => {
    const first = await start()
    await idleForTenMinutes(first)
    await stop(first)
    const second = await start({}, false)
    clusterTables(second.host.cluster).feeds.set('kubernetes_api', 'reading')
    second.scrape(TARGET, rowOf(0))
    await clock.advance(120_000)
    second.flush()
    fill(second)
    clusterTables(second.host.cluster).feeds.set('kubernetes_api', 'complete')
    const text = second.flush()
    assert.equal(workloadValue(text, LAST_OF_WORKLOAD), TEST_START_MS / 1000)
    assert.equal(workloadValue(text, IDLE), 720)
    await stop(second)
  })

  it('forgets nothing while kube-state-metrics cannot be read after a restart', async () => {
    const ksm = 'http://ksm:8080/metrics'
    const metrics = [
      metricsOfPod(TRAIN),
      'kube_pod_owner{namespace="ns",pod="train-0",uid="uid-Pod/train-0",owner_kind="Job",owner_name="train",owner_is_controller="true"} 1',
      'kube_pod_container_resource_limits{namespace="ns",pod="train-0",uid="uid-Pod/train-0",container="main",resource="nvidia_com_gpu",unit="integer"} 1',
    ].join('\n')
    const first = await start({}, false)
    first.scrape(ksm, metrics)
    await idleForTenMinutes(first)
    await stop(first)
    const second = await start({}, false)
    second.scrape(TARGET, rowOf(0))
    second.fail(ksm)
    second.flush()
    await clock.advance(60_000)
    second.scrape(ksm, metrics)
    assert.equal(workloadValue(second.flush(), LAST_OF_WORKLOAD), TEST_START_MS / 1000)
    await stop(second)
  })

  it('sees that a GPU is busy whose pod was known before its readings', async () => {
    const first = await start()
    first.scrape(TARGET, rowOf(0))
    first.flush()
    // Another takes its place, as at a reload: the model is there, and readings come with the next scrapes.
    const second = rolledPipeline({}, { ...first.host, id: 'other' })
    await second.rollUp.start?.()
    second.flush()
    await clock.advance(15_000)
    second.scrape(TARGET, rowOf(50))
    const text = second.flush()
    assert.equal(workloadValue(text, LAST_OF_WORKLOAD), TEST_START_MS / 1000 + 15)
    assert.equal(workloadValue(text, IDLE), 0)
    await second.rollUp.stop?.(Infinity)
    await stop(first)
  })
})

describe('roll_up when the clock is set', () => {
  async function started(): Promise<RolledPipeline> {
    const pipeline = rolledPipeline()
    fill(pipeline)
    await pipeline.rollUp.start?.()
    pipeline.scrape(TARGET, rowOf(50))
    pipeline.flush()
    return pipeline
  }

  it('shows no negative idle time, and counts on, when it is set back', async () => {
    const pipeline = await started()
    pipeline.host.clock.step(-HOUR_MS)
    pipeline.scrape(TARGET, rowOf(0))
    assert.equal(workloadValue(pipeline.flush(), IDLE), 0)
    await pipeline.host.clock.advance(300_000)
    pipeline.scrape(TARGET, rowOf(0))
    assert.equal(workloadValue(pipeline.flush(), IDLE), 300)
  })

  it('shows what is busy by the new time when it is set back', async () => {
    const pipeline = await started()
    const { clock } = pipeline.host
    clock.step(-HOUR_MS)
    await clock.advance(15_000)
    pipeline.scrape(TARGET, rowOf(60))
    const text = pipeline.flush()
    assert.equal(workloadValue(text, LAST_OF_WORKLOAD), clock.now() / 1000)
    assert.deepEqual(valuesBy(text, LAST_OF_GPU, 'gpu'), { 0: clock.now() / 1000 })
    assert.deepEqual(valuesBy(text, 'runai_gpu_utilization_per_gpu', 'gpu'), { 0: 60 })
  })

  it('lets another target that shows the GPU count when it is set back', async () => {
    const pipeline = await started()
    pipeline.host.clock.step(-HOUR_MS)
    pipeline.fail(TARGET)
    pipeline.flush()
    pipeline.scrape('http://node-a:9401/metrics', rowOf(70))
    assert.deepEqual(valuesBy(pipeline.flush(), 'runai_gpu_utilization_per_gpu', 'gpu'), { 0: 70 })
  })

  it('shows what is busy when it is set forward', async () => {
    const pipeline = await started()
    const { clock } = pipeline.host
    clock.step(HOUR_MS)
    pipeline.scrape(TARGET, rowOf(60))
    const text = pipeline.flush()
    assert.equal(workloadValue(text, IDLE), 0)
    assert.equal(workloadValue(text, LAST_OF_WORKLOAD), clock.now() / 1000)
  })

  it('goes on when it is set forward and back again', async () => {
    const pipeline = await started()
    const { clock } = pipeline.host
    clock.step(HOUR_MS)
    pipeline.scrape(TARGET, rowOf(60))
    pipeline.flush()
    clock.step(-HOUR_MS)
    pipeline.scrape(TARGET, rowOf(0))
    pipeline.flush()
    await clock.advance(120_000)
    assert.equal(workloadValue(pipeline.flush(), IDLE), 120)
  })
})
