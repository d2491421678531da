/** What roll-ups cost: 25 fields of 8,000 GPUs to workloads and projects, and the whole Run:ai catalog. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Batch, Source } from '../../pipeline/model/batch.ts'
import { getLabel, internedLabelSets, type Labels } from '../../pipeline/model/labels.ts'
import { columnCount, labelsAt, metricAt, type Layout } from '../../pipeline/model/layout.ts'
import { rollUp } from '../../processors/roll-up.ts'
import { putPod } from '../support/cluster-objects.ts'
import { configOf } from '../support/config-of.ts'
import { collectGarbage } from '../support/garbage.ts'
import { testHost } from '../support/test-host.ts'
import { containerBatches, gpuBatches, hostBatches, podOf, putCluster, type ClusterSize } from './gpu-cluster.ts'
import { measure, print } from './measure.ts'

const TEAM: ClusterSize = { gpus: 8_000, pods: 10_000, projects: 500 }
const HALL: ClusterSize = { gpus: 100_000, pods: 100_000, projects: 2_000 }
const LEVELS = 2
const INTERVAL_MS = 15_000
const ROUNDS = 101
const WARM_UP = 50

/** Amounts are summed, everything else is a mean. */
const AMOUNTS = [
  'hw.gpu.memory.usage',
  'hw.gpu.memory.free',
  'hw.gpu.memory.reserved',
  'hw.gpu.memory.limit',
  'hw.gpu.power',
  'hw.gpu.power.limit',
  'hw.gpu.pcie.transmit.rate',
  'hw.gpu.pcie.receive.rate',
]
const RELATIVE = [
  'hw.gpu.utilization',
  'hw.gpu.engine.utilization',
  'hw.gpu.sm.utilization',
  'hw.gpu.sm.occupancy',
  'hw.gpu.tensor.utilization',
  'hw.gpu.fp64.utilization',
  'hw.gpu.fp32.utilization',
  'hw.gpu.fp16.utilization',
  'hw.gpu.memory.controller.utilization',
  'hw.gpu.memory.bandwidth.utilization',
  'hw.gpu.encoder.utilization',
  'hw.gpu.decoder.utilization',
  'hw.gpu.memory.utilization',
  'hw.gpu.temperature',
  'hw.gpu.memory.temperature',
  'hw.gpu.sm.clock',
  'hw.gpu.memory.clock',
]
const FIELDS = [...AMOUNTS, ...RELATIVE]
const CATALOG_FACTS = ['hw.gpu.utilization', 'hw.gpu.memory.usage', 'hw.gpu.memory.free']

await fields(TEAM)
await wholeCatalog('the whole catalog at 8,000 GPUs and 10,000 pods', TEAM)
await wholeCatalog('the whole catalog at 100,000 GPUs and 100,000 pods', HALL)

async function fields(size: ClusterSize): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'gpucol-bench-'))
  const path = join(directory, 'fields.yaml')
  writeFileSync(path, JSON.stringify(catalogOfFields()))
  const batches = gpuBatches(size, FIELDS)
  const series = size.gpus * FIELDS.length
  const bench = await begin(size, path, batches)
  rmSync(directory, { recursive: true })
  print('cold start: taking 200,000 series in', (bench.takenMs * 1e6) / series, 'ns/series')
  print('cold start: the first flush', bench.flushedMs, 'ms')
  print('memory beside the model and the batches', bench.bytes / series, 'bytes/series')

  // A sample and aggregation is one series of the input for one level that it is added up for, whatever became of it.
  const units = series * LEVELS
  const { take, flush } = bench.turns(ROUNDS, [batches, batches.map(otherValues)])
  const byMap = measure(units, { naive: createNaive(batches, size) }, 3).get('naive')!
  print('taking a batch in', perUnit(median(take), series), 'ns/sample')
  print('a flush, all values changed', perUnit(median(flush), units), 'ns per sample and aggregation')
  print('the same, the cheapest', perUnit(Math.min(...flush), units), 'ns per sample and aggregation')
  print('the same, the mean, with all garbage collection', perUnit(mean(flush), units), 'ns per sample and aggregation')
  printReferences(units, size.gpus)
  print('the same with a Map, for every sample anew', byMap, 'ns per sample and aggregation')
  print('ratio', byMap / perUnit(median(flush), units), 'times')
  print('ratio, with what taking batches in costs', byMap / perUnit(median(flush) + median(take), units), 'times')
  print('series made', bench.series(), 'series')

  for (const moved of [1, 200]) {
    const cost = bench.afterMoving(moved)
    print(`${moved} moved to another workload: the flush`, cost.ms, 'ms')
    print(`${moved} moved to another workload: label sets made`, cost.labelSets, 'label sets')
    print(`${moved} moved to another workload: series begun`, cost.begun, 'series')
  }
  await bench.stop()
}

async function wholeCatalog(what: string, size: ClusterSize): Promise<void> {
  const batches = [...gpuBatches(size, CATALOG_FACTS), ...containerBatches(size), ...hostBatches(size)]
  const series = batches.reduce((sum, { layout }) => sum + columnCount(layout), 0)
  const bench = await begin(size, 'runai-2.17', batches)
  console.log(`${what}: ${series} series in, ${bench.series()} out`)
  print('cold start: taking everything in', bench.takenMs, 'ms')
  print('cold start: the first flush', bench.flushedMs, 'ms')
  print('memory beside the model and the batches', bench.bytes / series, 'bytes/series')
  const { take } = bench.medians({ take: () => batches.forEach(batch => bench.processor.consume(batch)) })
  print('taking everything in again', take!, 'ms')
  const { flush } = bench.medians({ flush: () => bench.processor.flush!() })
  print('a flush, nothing changed', flush!, 'ms')
  for (const moved of [1, 200]) print(`a flush, ${moved} pods changed`, bench.afterMoving(moved).ms, 'ms')
  print('longest turn of an interval with one pod changed, by the wall', await bench.longestTurn(), 'ms')
  await bench.stop()
}

/** A roll-up that has had its first flush. */
async function begin(size: ClusterSize, catalog: string, batches: readonly Batch[]) {
  const host = testHost()
  putCluster(host.cluster, size)
  const out = new Map<Source, Batch>()
  const config = configOf(rollUp, { catalog, interval: `${INTERVAL_MS}ms`, wait_for_cluster: '0s' })
  const before = await memory()
  const processor = rollUp.create(config, host, batch => {
    if (batch.source.component === host.id) out.set(batch.source, batch)
  })
  await processor.start!()
  const takenMs = milliseconds(() => batches.forEach(batch => processor.consume(batch)))
  const flushedMs = milliseconds(() => processor.flush!())
  const bytes = (await memory()) - before
  // Counters have rates from their second sample on.
  await host.clock.advance(INTERVAL_MS)
  for (const batch of batches) processor.consume({ ...batch, timeMs: INTERVAL_MS })
  processor.flush!()
  let moves = 0

  function move(count: number): void {
    moves++
    // Far apart, as pods that come and go are.
    for (let i = 0; i < count; i++) {
      const pod = Math.floor((i * size.pods) / count) + (moves % 7)
      putPod(host.cluster, podOf(pod, size.pods + moves * count + i, size))
    }
  }

  return {
    host,
    processor,
    takenMs,
    flushedMs,
    bytes,
    series: () => [...out.values()].reduce((sum, { layout }) => sum + columnCount(layout), 0),
    /** What it costs to take everything in, each time with other values than before, and the flush after that; in milliseconds. */
    turns(rounds: number, inputs: readonly (readonly Batch[])[]): { take: number[]; flush: number[] } {
      const costs = { take: [] as number[], flush: [] as number[] }
      for (let round = -WARM_UP; round < rounds; round++) {
        const input = inputs.at(round % inputs.length)!
        const take = milliseconds(() => input.forEach(batch => processor.consume(batch)))
        const flush = milliseconds(() => processor.flush!())
        if (round < 0) continue
        costs.take.push(take)
        costs.flush.push(flush)
      }
      return costs
    },
    medians(functions: Record<string, () => void>): Record<string, number> {
      return Object.fromEntries(Object.entries(functions).map(([name, run]) => [name, median(times(9, run))]))
    },
    afterMoving(count: number) {
      const costs = []
      for (let round = 0; round < 7; round++) {
        move(count)
        const sets = internedLabelSets()
        const before = new Set(Array.from(out.values(), ({ layout }) => layout))
        const ms = milliseconds(() => processor.flush!())
        costs.push({ ms, labelSets: internedLabelSets() - sets, begun: begun(out.values(), before) })
      }
      return costs.toSorted((a, b) => a.ms - b.ms)[3]!
    },
    /** What the timer does: a flush, and what is kept on disk. */
    async longestTurn() {
      const turns = []
      for (let round = 0; round < 5; round++) {
        move(1)
        for (const batch of batches) processor.consume({ ...batch, timeMs: host.clock.now() })
        turns.push(await longestTurnOf(() => host.clock.advance(INTERVAL_MS)))
      }
      return Math.max(...turns)
    },
    stop: () => processor.stop?.(0),
  }
}

/** How long the event loop stood still at most while something ran. */
async function longestTurnOf(run: () => Promise<void>): Promise<number> {
  let longest = 0
  let last = performance.now()
  let isOver = false
  const tick = (): void => {
    longest = Math.max(longest, performance.now() - last)
    last = performance.now()
    if (!isOver) setImmediate(tick)
  }
  setImmediate(tick)
  await run()
  isOver = true
  longest = Math.max(longest, performance.now() - last)
  return longest
}

/** How many series of layouts were not in the layouts before. */
function begun(batches: Iterable<Batch>, before: ReadonlySet<Layout>): number {
  let sum = 0
  for (const { layout } of batches) {
    if (layout.keptFrom === undefined || before.has(layout)) continue
    sum += columnCount(layout)
    for (let i = 2; i < layout.keptFrom.runs.length; i += 3) sum -= layout.keptFrom.runs[i]!
  }
  return sum
}

/** As the same targets would show them a while later. */
function otherValues(batch: Batch): Batch {
  return { ...batch, values: batch.values.map(value => 1 - value) }
}

/** What the machine makes of as many values just now: a flush cannot cost less than to read each of them once and write results. */
function printReferences(units: number, things: number): void {
  const values = Float64Array.from({ length: units }, (_, i) => (i % 100) / 100)
  const column = values.subarray(0, things)
  const numbers = Int32Array.from(values, (_, i) => (i * 7919) % things)
  const { sequential, gathered } = Object.fromEntries(
    measure(units, { sequential: () => sum(values), gathered: () => sumOf(column, numbers) }),
  )
  print('for comparison: adding up as many values that lie in a row', sequential!, 'ns/value')
  print('for comparison: adding up as many values from all over a column', gathered!, 'ns/value')
}

function sum(values: Float64Array): number {
  const { length } = values
  let sum = 0
  for (let i = 0; i < length; i++) sum += values[i]!
  return sum
}

function sumOf(values: Float64Array, numbers: Int32Array): number {
  const { length } = numbers
  let sum = 0
  for (let i = 0; i < length; i++) sum += values[numbers[i]!]!
  return sum
}

/** What one would write first: for every sample its group by its labels, and a look-up for it. */
function createNaive(batches: readonly Batch[], size: ClusterSize): () => Map<string, { sum: number; count: number }> {
  const pods = new Map(
    Array.from({ length: size.pods }, (_, i) => podOf(i, i, size)).map(pod => [`${pod.namespace}/${pod.name}`, pod]),
  )
  return () => {
    const groups = new Map<string, { sum: number; count: number }>()
    for (const { layout, values } of batches) {
      for (let column = 0; column < columnCount(layout); column++) {
        const labels = labelsAt(layout, column)
        const pod = pods.get(`${getLabel(labels, 'namespace')}/${getLabel(labels, 'pod')}`)!
        const { name } = metricAt(layout, column)
        add(groups, keyOf(name, pod.labels, ['project', 'workloadName']), values[column]!)
        add(groups, keyOf(name, pod.labels, ['project']), values[column]!)
      }
    }
    return groups
  }
}

function keyOf(metric: string, labels: Labels, names: readonly string[]): string {
  return `${metric}{${names.map(name => `${name}="${getLabel(labels, name)}"`).join(',')}}`
}

function add(groups: Map<string, { sum: number; count: number }>, key: string, value: number): void {
  const group = groups.get(key)
  if (group === undefined) groups.set(key, { sum: value, count: 1 })
  else {
    group.sum += value
    group.count++
  }
}

function catalogOfFields(): object {
  const levels = [
    { level: 'workload', labels: ['project', 'workload'] },
    { level: 'project', labels: ['project'] },
  ]
  return {
    kind: 'output',
    about: 'Every field of every GPU, for workloads and projects.',
    labels: { workload: 'workload_id', project: 'project' },
    metrics: FIELDS.flatMap(from =>
      levels.map(level => ({
        metric: `${from.replaceAll('.', '_')}_per_${level.level}`,
        help: `${from} per ${level.level}.`,
        of: 'pair',
        aggregate: AMOUNTS.includes(from) ? 'sum' : 'mean',
        from,
        ...level,
      })),
    ),
  }
}

/** Of CPU, as all that is measured here: the time on the wall is also that of whatever else runs. */
function milliseconds(run: () => void): number {
  const before = process.cpuUsage()
  run()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

function times(rounds: number, run: () => void): number[] {
  return Array.from({ length: rounds }, () => milliseconds(run))
}

function perUnit(ms: number, units: number): number {
  return (ms * 1e6) / units
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!
}

async function memory(): Promise<number> {
  await collectGarbage()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}
