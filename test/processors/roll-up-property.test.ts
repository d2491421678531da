import assert from 'node:assert/strict'
import fc from 'fast-check'
import { clusterTables, podNameKey } from '../../pipeline/cluster/tables.ts'
import type { Cluster } from '../../pipeline/component.ts'
import { getLabel } from '../../pipeline/model/labels.ts'
import { createModel } from '../../processors/roll-up/model.ts'
import { accumulatedFrom } from '../support/merged-partials.ts'
import {
  buildCluster,
  clusterShape,
  metricsOfCluster,
  putCluster,
  type BuiltCluster,
  type Target,
} from '../support/random-cluster.ts'
import { modelRules } from '../support/roll-up-cycle.ts'
import { linesOf, rolledPipeline, valuesBy, type RolledPipeline } from '../support/rolled-pipeline.ts'

const RUNS = { numRuns: 60 }
const KSM = 'http://ksm:8080/metrics'

/** What hangs on what was before, and not on what is. */
const HISTORY = /^runai_(last_gpu_utilization_time|gpu_idle_seconds|run_time_seconds|wait_time_seconds)_/

const PAIR_MEMORY = {
  metric: 'pair_memory_bytes',
  help: 'GPU memory that pods use.',
  unit: 'By',
  of: 'pair',
  level: 'node',
  labels: ['node'],
  aggregate: 'sum',
  from: 'hw.gpu.memory.usage',
}

async function startedPipeline(config: object = {}): Promise<RolledPipeline> {
  const pipeline = rolledPipeline(config)
  await pipeline.rollUp.start?.()
  return pipeline
}

function tell(pipeline: RolledPipeline, built: BuiltCluster, by: 'api' | 'ksm'): void {
  if (by === 'api') putCluster(pipeline.host.cluster, built)
  else pipeline.scrape(KSM, metricsOfCluster(built))
}

function scrapeAll(pipeline: RolledPipeline, targets: readonly Target[]): void {
  for (const { name, rows, node } of targets) pipeline.scrape(name, rows.join('\n'), node)
}

async function rolledUp(built: BuiltCluster, by: 'api' | 'ksm', config: object = {}): Promise<RolledPipeline> {
  const pipeline = await startedPipeline(config)
  tell(pipeline, built, by)
  scrapeAll(pipeline, built.targets)
  return pipeline
}

/** Sums by node of all series of a metric. */
function sumsByNode(text: string, metric: string): Map<string, number> {
  const sums = new Map<string, number>()
  for (const line of linesOf(text, metric)) {
    const node = /node="([^"]*)"/.exec(line)![1]!
    sums.set(node, (sums.get(node) ?? 0) + Number(line.split(' ').at(-1)))
  }
  return sums
}

function isClose(a: number, b: number): boolean {
  return Math.abs(a - b) <= 1e-9 * Math.max(1, Math.abs(a), Math.abs(b))
}

/** Equal lines, except that sums of fractions may be added in another order. */
function assertSameSeries(actual: string, expected: string): void {
  const [a, b] = [actual, expected].map(text => text.split('\n').filter(line => line !== '' && !HISTORY.test(line)))
  const headOf = (line: string): string => line.slice(0, line.lastIndexOf(' '))
  assert.deepEqual(a!.map(headOf), b!.map(headOf))
  a!.forEach((line, i) => {
    const [one, other] = [line, b![i]!].map(text => Number(text.slice(text.lastIndexOf(' '))))
    const isFractional = !Number.isInteger(one) || !Number.isInteger(other)
    assert.ok(isFractional ? isClose(one!, other!) : one === other, `${line} is not ${b![i]}`)
  })
}

const by = fc.constantFrom('api' as const, 'ksm' as const)

describe('roll_up of any cluster', () => {
  it('finds every GPU of a node in pairs and what is nobody’s', async () => {
    await fc.assert(
      fc.asyncProperty(clusterShape, by, async (shape, source) => {
        const pipeline = await rolledUp(buildCluster(shape), source)
        const text = pipeline.flush()
        const model = createModel(pipeline.host.cluster, () => modelRules(pipeline.host), new Set(['workload']))
        model.refresh()
        const parts = sumsByNode(text, 'gpucol_unattributed_gpus')
        for (const { device, share } of model.devices.pairs.values()) {
          const { node, weight } = device.assignment
          parts.set(node!, (parts.get(node!) ?? 0) + weight * share)
        }
        const boards = Map.groupBy(model.devices.boards.values(), ({ node }) => node)
        assert.deepEqual([...parts.keys()].sort(), [...boards.keys()].sort())
        for (const [node, its] of boards) assert.ok(isClose(parts.get(node)!, its.length), `${node} ${parts.get(node)}`)
      }),
      RUNS,
    )
  })

  it('finds all memory that is used on a node in pairs and what is nobody’s', async () => {
    const config = { metrics: [PAIR_MEMORY] }
    const sharing = fc.constantFrom('measured', 'split')
    await fc.assert(
      fc.asyncProperty(clusterShape, by, sharing, async (shape, source, shared) => {
        const pipeline = await rolledUp(buildCluster(shape), source, { ...config, shared_gpu_memory: shared })
        const text = pipeline.flush()
        const ofPairs = sumsByNode(text, 'pair_memory_bytes')
        const ofNobody = sumsByNode(text, 'gpucol_unattributed_gpu_memory_bytes')
        for (const [node, mebibytes] of sumsByNode(text, 'runai_gpu_memory_used_mebibytes_per_node')) {
          const found = (ofPairs.get(node) ?? 0) + (ofNobody.get(node) ?? 0)
          assert.ok(isClose(found, mebibytes * 1_048_576), `${node}: ${found} of ${mebibytes * 1_048_576}`)
        }
      }),
      RUNS,
    )
  })

  it('shows a GPU that is alone as what it is part of', async () => {
    await fc.assert(
      fc.asyncProperty(clusterShape, by, async (shape, source) => {
        const built = buildCluster({
          ...shape,
          nodes: shape.nodes.map(node => ({ ...node, boards: [node.boards[0]!] })),
        })
        const text = (await rolledUp(built, source)).flush()
        for (const metric of ['runai_gpu_utilization_per', 'runai_gpu_memory_used_mebibytes_per']) {
          assert.deepEqual(valuesBy(text, `${metric}_node`, 'node'), valuesBy(text, `${metric}_gpu`, 'node'))
        }
        const podOf = new Map(built.pods.map(({ uid, owners }) => [uid, owners[0]?.name]))
        const pairs = Object.entries(valuesBy(text, 'runai_gpu_utilization_per_pod_per_gpu', 'pod_uuid'))
        const byWorkload = Map.groupBy(pairs, ([uid]) => podOf.get(uid)!)
        const workloads = valuesBy(text, 'runai_gpu_utilization_per_workload', 'workload_name')
        assert.deepEqual([...byWorkload.keys()].sort(), Object.keys(workloads).sort())
        for (const [name, its] of byWorkload) if (its.length === 1) assert.ok(isClose(workloads[name]!, its[0]![1]))
      }),
      RUNS,
    )
  })

  it('is the same in whichever order targets and rows come', async () => {
    const order = fc.infiniteStream(fc.nat())
    await fc.assert(
      fc.asyncProperty(clusterShape, by, order, async (shape, source, numbers) => {
        const built = buildCluster(shape)
        const shuffled = <T>(list: readonly T[]): T[] => {
          const keyed = list.map(item => ({ item, key: numbers.next().value as number }))
          return keyed.sort((a, b) => a.key - b.key).map(({ item }) => item)
        }
        const targets = shuffled(built.targets).map(target => ({ ...target, rows: shuffled(target.rows) }))
        const expected = (await rolledUp(built, source)).flush()
        const actual = (await rolledUp({ ...built, targets }, source)).flush()
        assertSameSeries(actual, expected)
      }),
      RUNS,
    )
  })

  it('is the same when roll-ups of parts are merged', async () => {
    await fc.assert(
      fc.asyncProperty(clusterShape, async shape => {
        const built = buildCluster(shape)
        // A pod without a node is known where an exporter shows it, or the GPU of its group.
        const shownAt = (...texts: string[]): string | undefined =>
          built.targets.find(({ rows }) => rows.some(row => texts.some(text => row.includes(text))))?.node
        const nodeOf = ({ node, name, labels }: BuiltCluster['pods'][number]): string => {
          const uuid = getLabel(labels, 'runai-gpu-group')?.replace('group-', '') ?? 'none'
          return node === '' ? (shownAt(`pod="${name}"`, `UUID="${uuid}"`) ?? built.nodes[0]!) : node
        }
        const parts = built.nodes.map(node => ({
          nodes: [node],
          pods: built.pods.filter(pod => nodeOf(pod) === node),
          targets: built.targets.filter(target => target.node === node),
        }))
        assertSameSeries(accumulatedFrom(parts), accumulatedFrom([built]))
      }),
      RUNS,
    )
  })

  it('never shows a utilisation outside of 0 to 100, nor an allocation of a GPU that is neither 0 nor 1', async () => {
    await fc.assert(
      fc.asyncProperty(clusterShape, by, async (shape, source) => {
        const text = (await rolledUp(buildCluster(shape), source)).flush()
        for (const line of text.split('\n')) {
          const value = Number(line.slice(line.lastIndexOf(' ')))
          if (line.startsWith('runai_gpu_utilization_')) assert.ok(value >= 0 && value <= 100, line)
          if (line.startsWith('runai_allocated_gpu_count_per_gpu')) assert.ok(value === 0 || value === 1, line)
        }
      }),
      RUNS,
    )
  })
})

describe('roll_up after any changes', () => {
  /** Takes pods and targets away that are no more, without a trace. */
  function forget({ host, remove }: RolledPipeline, before: BuiltCluster, now: BuiltCluster): void {
    const uids = new Set(now.pods.map(({ uid }) => uid))
    for (const { uid, namespace, name } of before.pods) {
      const isRenamed = now.pods.some(pod => pod.namespace === namespace && pod.name === name)
      if (!isRenamed) clusterTables(host.cluster).podNames.delete(podNameKey(namespace, name))
      if (!uids.has(uid)) clusterTables(host.cluster).pods.delete(uid)
    }
    const nodes = new Set(now.nodes)
    for (const node of before.nodes) if (!nodes.has(node)) forgetNode(host.cluster, node)
    const targets = new Set(now.targets.map(({ name }) => name))
    for (const { name } of before.targets) if (!targets.has(name)) remove(name)
  }

  function forgetNode(cluster: Cluster, node: string): void {
    clusterTables(cluster).nodes.delete(node)
  }

  const steps = fc.array(
    fc.record({ shape: clusterShape, generation: fc.nat(1), fails: fc.boolean(), isFlushed: fc.boolean() }),
    {
      minLength: 1,
      maxLength: 4,
    },
  )

  it('shows what one shows that has never seen anything else', async () => {
    await fc.assert(
      fc.asyncProperty(steps, clusterShape, by, async (before, last, source) => {
        const pipeline = await startedPipeline()
        let built = buildCluster({ nodes: [], others: [] })
        const final = { shape: last, generation: 0, fails: false, isFlushed: true }
        for (const { shape, generation, fails, isFlushed } of [...before, final]) {
          const next = buildCluster(shape, generation)
          if (source === 'api' || built.targets.length > 0) forget(pipeline, built, next)
          tell(pipeline, next, source)
          scrapeAll(pipeline, next.targets)
          if (fails) for (const { name } of next.targets) pipeline.fail(name)
          if (isFlushed) pipeline.flush()
          await pipeline.host.clock.advance(15_000)
          built = next
        }
        scrapeAll(pipeline, built.targets)
        assertSameSeries(pipeline.flush(), (await rolledUp(built, source)).flush())
      }),
      RUNS,
    )
  })
})
