import assert from 'node:assert/strict'
import fc from 'fast-check'
import { forEachSample, type Batch, type Source } from '../../../pipeline/model/batch.ts'
import { haveChanged } from '../../../pipeline/model/dependencies.ts'
import type { Mapped, SeriesMap } from '../../../pipeline/model/label-processor.ts'
import { EMPTY_LABELS, labelPairs, labelsFrom, withLabels, withoutLabels } from '../../../pipeline/model/labels.ts'
import { columnCount, layoutFromSeries, scaleAt, seriesAt, type Layout } from '../../../pipeline/model/layout.ts'
import { runPlan, type Plan } from '../../../pipeline/model/plan.ts'
import { createPlanner, type Planner } from '../../../pipeline/model/planner.ts'
import { applyScale, combine, ONE, scaleOf } from '../../../pipeline/model/scale.ts'
import { metricFrom, type Series } from '../../../pipeline/model/series.ts'
import { createTracked } from '../../../pipeline/model/tracked.ts'

const source: Source = { component: 'test', name: 'test', labels: EMPTY_LABELS }

/** A small universe, so that series meet again and collide. */
const universe: Series[] = ['a', 'b', 'c'].flatMap(name =>
  ['0', '1', '2', '3'].map(gpu => ({
    metric: metricFrom({ name, type: 'gauge' }),
    labels: labelsFrom([
      ['gpu', gpu],
      ['pod', `pod-${Number(gpu) % 2}`],
    ]),
  })),
)

const layouts = fc.uniqueArray(fc.nat(universe.length - 1), { maxLength: universe.length })

/** One moment: which series there are, their values, which of them have no sample, and what the metadata says now. */
const moments = fc.array(
  fc.record({
    columns: layouts,
    values: fc.array(fc.oneof(fc.integer({ min: -5, max: 120 }), fc.constant(NaN)), { minLength: 12, maxLength: 12 }),
    absent: fc.array(fc.boolean(), { minLength: 12, maxLength: 12 }),
    stamped: fc.boolean(),
    metadata: fc.dictionary(fc.constantFrom('pod-0', 'pod-1'), fc.constantFrom('x', 'y')),
    released: fc.boolean(),
  }),
  { minLength: 1, maxLength: 6 },
)

const projects = createTracked<string>()

function put(metadata: Record<string, string>): void {
  for (const key of ['pod-0', 'pod-1']) {
    const value = metadata[key]
    if (value === undefined) projects.delete(key)
    else projects.set(key, value)
  }
}

const percentRange = { min: 0, max: 1 }

/** Label processors of every kind, with collisions, drops, scales, ranges, folds and metadata. */
const contexts = { with: {}, without: {} }

const maps: Record<string, SeriesMap> = {
  'adds a label from metadata': {
    by: 'labels',
    map: (labels, look) => withLabels(labels, [['project', look(projects.entry(labels.values[1]!))]]),
  },
  'drops a label so that series meet': { by: 'labels', map: labels => withoutLabels(labels, new Set(['gpu'])) },
  'drops series whose pod has no project': {
    by: 'labels',
    map: (labels, look) => (look(projects.entry(labels.values[1]!)) === undefined ? undefined : labels),
  },
  'renames and scales': {
    by: 'metric',
    map: metric => [
      { metric: metricFrom({ name: `${metric.name}_ratio` }), scale: scaleOf(1, 100), range: percentRange },
    ],
  },
  'makes two names one, the largest counts': {
    by: 'metric',
    map: metric => [{ metric: metricFrom({ name: metric.name === 'c' ? 'c' : 'ab' }), fold: 'max' }],
  },
  'makes two names of different scales one': {
    by: 'metric',
    map: metric => [
      { metric: metricFrom({ name: 'one' }), scale: metric.name === 'a' ? scaleOf(1024) : ONE, fold: 'max' },
    ],
  },
  'emits the old name beside the new': {
    by: 'metric',
    map: metric => (metric.name === 'a' ? [{ metric }, { metric: metricFrom({ name: 'new' }) }] : [{ metric }]),
  },
  'does different things to different series': {
    by: 'series',
    map: ({ metric, labels }, look): readonly Mapped[] => {
      if (metric.name === 'c') return []
      if (metric.name === 'b') {
        return [{ metric, labels: withLabels(labels, [['project', look(projects.entry(labels.values[1]!))]]) }]
      }
      return [
        { metric, labels },
        { metric, labels: labelsFrom([['pod', labels.values[1]!]]), fold: 'max', range: { min: 0, max: 100 } },
      ]
    },
  },
  'decides by its siblings': {
    by: 'context',
    context: layout => layout,
    map: ({ metric, labels }, _look, layout) =>
      (layout as Layout).metrics.some(sibling => sibling.name === 'c')
        ? [{ metric, labels, scale: scaleOf(1, 100) }]
        : [{ metric, labels }],
  },
  'decides by what it took from the layout': {
    by: 'context',
    context: layout => contexts[layout.metrics.some(({ name }) => name === 'c') ? 'with' : 'without'],
    map: ({ metric, labels }, _look, context) =>
      context === contexts.with ? [{ metric, labels, scale: scaleOf(1, 100), fold: 'max' }] : [{ metric, labels }],
  },
  'leaves everything alone': { by: 'series', map: series => [series] },
}

describe('a plan', () => {
  for (const [name, map] of Object.entries(maps)) {
    it(`gives the same as applying the function to every point, when it ${name}`, () => {
      fc.assert(
        fc.property(moments, sequence => {
          const planner = createPlanner(map)
          let layout: Layout | undefined
          for (const moment of sequence) {
            put(moment.metadata)
            layout = layoutFromSeries(
              moment.columns.map(i => universe[i]!),
              layout,
            )
            layoutsSeen.set(layout.id, layout)
            const batch = batchOf(layout, moment)
            const plan = planner.planFor(source, layout)
            const result = runPlan(plan, batch)
            assert.deepEqual(pointsOf(result.batch), pointByPoint(map, batch))
            assert.equal(planner.planFor(source, layout), plan, 'nothing changed, yet there is another plan')
            assertKeptIsRight(result.batch.layout)
            if (moment.released) assertHangsOnThat(planner, layout, plan)
          }
        }),
        { numRuns: 150 },
      )
    })
  }

  it('hands on the very same batch where it changes nothing', () => {
    const planner = createPlanner(maps['leaves everything alone']!)
    const layout = layoutFromSeries(universe)
    const batch = batchOf(layout, { values: Array(12).fill(1), absent: Array(12).fill(false), stamped: false })
    assert.equal(runPlan(planner.planFor(source, layout), batch).batch, batch)
  })

  it('shares the columns of the layout where only labels change', () => {
    const layout = layoutFromSeries(universe)
    const { output } = createPlanner({ by: 'labels', map: labels => withLabels(labels, [['x', '1']]) }).planFor(
      source,
      layout,
    )
    assert.equal(output.metricOf, layout.metricOf)
    assert.equal(output.labelsOf, layout.labelsOf)
  })

  it('hangs on the metadata that was looked at, and can be let go until that changes', () => {
    for (const name of ['adds a label from metadata', 'does different things to different series']) {
      put({ 'pod-0': 'x', 'pod-1': 'x' })
      const planner = createPlanner(maps[name]!)
      planner.planFor(source, layoutFromSeries(universe))
      const dependencies = planner.release(source)
      assert.ok(!dependencies.some(haveChanged))
      put({ 'pod-0': 'x', 'pod-1': 'y' })
      assert.ok(dependencies.some(haveChanged))
      assert.deepEqual(planner.release(source), [])
    }
  })

  it('is remade only for the columns whose metadata changed', () => {
    put({ 'pod-0': 'x', 'pod-1': 'x' })
    const planner = createPlanner(maps['does different things to different series']!)
    const layout = layoutFromSeries(universe)
    planner.planFor(source, layout)
    const before = planner.counts.mapped
    put({ 'pod-0': 'x', 'pod-1': 'y' })
    const { output } = planner.planFor(source, layout)
    // Two of the four series of `b` are of pod-1. Two of `a` were folded into another's column and are asked again, too.
    assert.ok(planner.counts.mapped - before <= 4, `${planner.counts.mapped - before} series were mapped`)
    assert.ok(output.keptFrom!.runs.length > 0)
  })

  it('is not remade when metadata changed that nobody looked at', () => {
    const planner = createPlanner(maps['adds a label from metadata']!)
    const layout = layoutFromSeries(universe)
    const plan = planner.planFor(source, layout)
    projects.set('another-pod', String(Math.random()))
    assert.equal(planner.planFor(source, layout), plan)
  })

  it('asks for new series only while the context is the same', () => {
    const planner = createPlanner(maps['decides by what it took from the layout']!)
    const first = layoutFromSeries(universe.slice(0, 10))
    planner.planFor(source, first)
    const before = planner.counts.mapped
    planner.planFor(source, layoutFromSeries(universe, first))
    assert.equal(planner.counts.mapped - before, 2)
  })

  it('says which metrics had values out of range, folded ones included', () => {
    const planner = createPlanner({
      by: 'metric',
      map: ({ name }) => [
        { metric: metricFrom({ name: name === 'c' ? 'b' : name }), range: { min: 0, max: 10 }, fold: 'max' },
      ],
    })
    const layout = layoutFromSeries(universe)
    const values = universe.map(({ metric }) => (metric.name === 'a' ? 1 : 11))
    const batch = batchOf(layout, { values, absent: [], stamped: false })
    const { outOfRange, outOfRangeByMetric } = runPlan(planner.planFor(source, layout), batch)
    assert.equal(outOfRange, 8)
    assert.deepEqual(
      new Map(Array.from(outOfRangeByMetric!, ([{ name }, amount]) => [name, amount])),
      new Map([['b', 8]]),
    )
  })

  it('is made once for label sets that several sources share', () => {
    const planner = createPlanner({ by: 'labels', map: labels => withLabels(labels, [['x', '1']]) })
    for (let i = 0; i < 5; i++) planner.planFor({ ...source, name: String(i) }, layoutFromSeries(universe))
    assert.equal(planner.counts.mapped, 4)
  })

  it('costs label work for one series when one is added to a layout of a million', function () {
    this.timeout(60_000)
    const metrics = Array.from({ length: 25 }, (_, i) => metricFrom({ name: `field_${i}` }))
    const series = Array.from({ length: 1_000_000 }, (_, i) => ({
      metric: metrics[i % 25]!,
      labels: i % 25 === 0 ? labelsFrom([['gpu', String(i / 25)]]) : EMPTY_LABELS,
    }))
    series.forEach((one, i) => (one.labels = series[i - (i % 25)]!.labels))
    const added = { metric: metrics[0]!, labels: labelsFrom([['gpu', 'new']]) }
    const first = layoutFromSeries(series)
    const second = layoutFromSeries([...series.slice(0, 500_000), added, ...series.slice(500_000)], first)
    for (const map of [maps['leaves everything alone']!, { by: 'labels', map: labels => labels } satisfies SeriesMap]) {
      const planner = createPlanner(map)
      planner.planFor(source, first)
      const before = planner.counts.mapped
      planner.planFor(source, second)
      assert.equal(planner.counts.mapped - before, 1)
    }
  })
})

/** A plan that was let go is the same again for as long as nothing of what it hangs on has changed. */
function assertHangsOnThat(planner: Planner, layout: Layout, { output, gather }: Plan): void {
  const dependencies = planner.release(source)
  projects.set('another-pod', String(Math.random()))
  assert.ok(!dependencies.some(haveChanged))
  const again = planner.planFor(source, layout)
  assert.deepEqual(again.gather, gather)
  assert.deepEqual(
    Array.from({ length: columnCount(again.output) }, (_, column) => seriesAt(again.output, column)),
    Array.from({ length: columnCount(output) }, (_, column) => seriesAt(output, column)),
  )
  planner.release(source)
}

function batchOf(layout: Layout, moment: { values: number[]; absent: boolean[]; stamped: boolean }): Batch {
  const total = columnCount(layout)
  const absent = Uint32Array.from({ length: total }, (_, i) => i).filter(i => moment.absent[i])
  return {
    source,
    timeMs: 1000,
    outcome: 'ok',
    layout,
    values: Float64Array.from(moment.values.slice(0, total)),
    ...(absent.length > 0 && { absent }),
    ...(moment.stamped && { times: Float64Array.from({ length: total }, (_, i) => 5000 + i) }),
  }
}

type Point = { value: number; time: number | undefined }

function pointsOf(batch: Batch): Record<string, Point> {
  const points: Record<string, Point> = {}
  forEachSample(batch, (column, value) => {
    const key = keyOf(seriesAt(batch.layout, column))
    assert.ok(!(key in points), `${key} is there twice`)
    points[key] = { value, time: batch.times?.[column] }
  })
  return points
}

/** The slow way, one point at a time. */
function pointByPoint(map: SeriesMap, batch: Batch): Record<string, Point> {
  const points: Record<string, Point> = {}
  const { layout } = batch
  for (let column = 0; column < columnCount(layout); column++) {
    const series = seriesAt(layout, column)
    for (const mapped of applied(map, series, layout)) {
      if (batch.absent?.includes(column)) continue
      const scale = combine(scaleAt(layout, column), mapped.scale ?? ONE)
      const value = applyScale(batch.values[column]!, scale)
      if (mapped.range && !(value >= mapped.range.min && value <= mapped.range.max)) continue
      const key = keyOf(mapped)
      const known = points[key]
      const wins = known !== undefined && mapped.fold === 'max' && (value > known.value || Number.isNaN(known.value))
      if (known === undefined || wins) points[key] = { value, time: batch.times?.[column] }
    }
  }
  return points
}

function applied(map: SeriesMap, series: Series, layout: Layout): readonly Mapped[] {
  const look = <V>(entry: { value: V | undefined }) => entry.value
  switch (map.by) {
    case 'labels': {
      const labels = map.map(series.labels, look)
      return labels === undefined ? [] : [{ metric: series.metric, labels }]
    }
    case 'metric':
      return map.map(series.metric, look).map(mapped => ({ ...mapped, labels: series.labels }))
    case 'series':
      return map.map(series, look)
    case 'context':
      return map.map(series, look, map.context(layout, source))
  }
}

function keyOf({ metric, labels }: Series): string {
  return JSON.stringify([metric.name, labelPairs(labels)])
}

const layoutsSeen = new Map<number, Layout>()

/** A column that is said to be kept has the same series, with the same scale, in the layout it came from. */
function assertKeptIsRight(layout: Layout): void {
  layoutsSeen.set(layout.id, layout)
  if (layout.keptFrom === undefined) return
  const before = layoutsSeen.get(layout.keptFrom.id)!
  const { runs } = layout.keptFrom
  for (let run = 0; run < runs.length; run += 3) {
    for (let i = 0; i < runs[run + 2]!; i++) {
      assert.deepEqual(seriesAt(layout, runs[run]! + i), seriesAt(before, runs[run + 1]! + i))
      assert.equal(scaleAt(layout, runs[run]! + i), scaleAt(before, runs[run + 1]! + i))
    }
  }
}
