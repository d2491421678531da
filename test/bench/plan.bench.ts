/** What a plan costs per sample, against applying the same function to every point. */
import type { Batch, Source } from '../../pipeline/model/batch.ts'
import type { SeriesMap } from '../../pipeline/model/label-processor.ts'
import { EMPTY_LABELS, labelsFrom, withLabels, type Labels } from '../../pipeline/model/labels.ts'
import { columnCount, layoutFromSeries, seriesAt } from '../../pipeline/model/layout.ts'
import { runPlan } from '../../pipeline/model/plan.ts'
import { createPlanner } from '../../pipeline/model/planner.ts'
import { applyScale, scaleOf } from '../../pipeline/model/scale.ts'
import { metricFrom } from '../../pipeline/model/series.ts'
import { measure, print } from './measure.ts'

const GPUS = 8
const FIELDS = 25
const TARGETS = 100

const ratio = scaleOf(1, 100)
const source: Source = { component: 'bench', name: 'bench', labels: EMPTY_LABELS }
const batches = Array.from({ length: TARGETS }, (_, target) => batchOf(target))
const samples = batches.length * GPUS * FIELDS

const maps: Record<string, SeriesMap> = {
  'adds labels': { by: 'labels', map: joined },
  'renames and scales': {
    by: 'metric',
    map: metric => [{ metric: metricFrom({ name: `${metric.name}_ratio` }), scale: ratio, range: { min: 0, max: 1 } }],
  },
  'filters, renames and labels series': {
    by: 'series',
    map: ({ metric, labels }) =>
      metric.name.endsWith('_3') ? [] : [{ metric: metricFrom({ name: `${metric.name}_x` }), labels: joined(labels) }],
  },
}

for (const [name, map] of Object.entries(maps)) {
  const planner = createPlanner(map)
  const sources = batches.map(() => ({ ...source }))
  const times = measure(samples, {
    plan: () => batches.map((batch, i) => runPlan(planner.planFor(sources[i]!, batch.layout), batch).batch),
    everyPoint: () => batches.map(batch => applyToEveryPoint(map, batch)),
  })
  const plan = times.get('plan')!
  const everyPoint = times.get('everyPoint')!
  print(`a plan that ${name}`, plan, 'ns/sample')
  print(`the same applied to every point`, everyPoint, 'ns/sample')
  print(`ratio`, everyPoint / plan, 'times')
}

const cold = measure(
  samples,
  {
    cold: () =>
      batches.map(batch => createPlanner(maps['filters, renames and labels series']!).planFor(source, batch.layout)),
  },
  3,
)
print('making the plan of the last one', cold.get('cold')!, 'ns/series')

function joined(labels: Labels): Labels {
  return withLabels(labels, [
    ['workload_name', 'train'],
    ['project', 'team-a'],
    ['node', 'node-a'],
  ])
}

function applyToEveryPoint(map: SeriesMap, batch: Batch): unknown[] {
  const points = []
  for (let column = 0; column < columnCount(batch.layout); column++) {
    const series = seriesAt(batch.layout, column)
    const value = batch.values[column]!
    if (map.by === 'labels') points.push({ ...series, labels: map.map(series.labels, look), value })
    else if (map.by === 'metric') {
      for (const mapped of map.map(series.metric, look)) {
        points.push({ ...series, metric: mapped.metric, value: applyScale(value, mapped.scale!) })
      }
    } else if (map.by === 'series') {
      for (const mapped of map.map(series, look)) points.push({ ...mapped, value })
    }
  }
  return points
}

function look<V>(entry: { value: V | undefined }): V | undefined {
  return entry.value
}

function batchOf(target: number): Batch {
  const series = Array.from({ length: GPUS * FIELDS }, (_, i) => ({
    metric: metricFrom({ name: `DCGM_FI_DEV_FIELD_${i % FIELDS}`, type: 'gauge', help: `Field ${i % FIELDS}.` }),
    labels: labelsFrom([
      ['gpu', String(Math.floor(i / FIELDS))],
      ['UUID', `GPU-${target}-${Math.floor(i / FIELDS)}`],
      ['device', `nvidia${Math.floor(i / FIELDS)}`],
      ['modelName', 'NVIDIA H100 80GB HBM3'],
      ['Hostname', `node-${target}`],
      ['namespace', 'team-a'],
      ['pod', `train-${target}`],
    ]),
  }))
  const layout = layoutFromSeries(series)
  const values = Float64Array.from(series, (_, i) => (i * 7 + target) % 100)
  return { source, timeMs: 0, outcome: 'ok', layout, values }
}
