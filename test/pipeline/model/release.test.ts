import assert from 'node:assert/strict'
import type { Source } from '../../../pipeline/model/batch.ts'
import { EMPTY_LABELS, internedLabelSets, labelsFrom, withLabels } from '../../../pipeline/model/labels.ts'
import { layoutFromSeries, type Layout } from '../../../pipeline/model/layout.ts'
import { createPlanner, type Planner } from '../../../pipeline/model/planner.ts'
import { metricFrom } from '../../../pipeline/model/series.ts'
import { createTracked } from '../../../pipeline/model/tracked.ts'
import { collectGarbage, heapBytes } from '../../support/garbage.ts'

const SERIES = 1_000_000
const FIELDS = 10

describe('memory', () => {
  it('after a million series came and went is what it was before', async function () {
    this.timeout(120_000)
    const pods = createTracked<string>()
    const planner = createPlanner({
      by: 'labels',
      map: (labels, look) => withLabels(labels, [['project', look(pods.entry(labels.values[0]!)) ?? 'none']]),
    })
    const metrics = Array.from({ length: FIELDS }, (_, i) => metricFrom({ name: `field_${i}` }))
    const visit = (planner: Planner, from: number, count: number): Layout => {
      const source: Source = { component: 'test', name: `target ${from}`, labels: EMPTY_LABELS }
      const series = Array.from({ length: count }, (_, i) => {
        const labels = labelsFrom([['gpu', `GPU-${from + Math.floor(i / FIELDS)}-of-a-long-name`]])
        return { metric: metrics[i % FIELDS]!, labels }
      })
      const layout = layoutFromSeries(series)
      planner.planFor(source, layout)
      return layout
    }
    // The first time V8 sizes its own tables, which it does not shrink again; they do not grow the next time.
    visit(planner, 0, SERIES)
    const before = await heapBytes()
    const setsBefore = internedLabelSets()
    let kept: Layout | undefined = visit(planner, SERIES, SERIES)
    const during = await heapBytes()
    assert.ok(internedLabelSets() - setsBefore >= (2 * SERIES) / FIELDS - 200, 'the series were not there')
    assert.ok(
      kept !== undefined && during - before > 10_000_000,
      'the series took no memory, so the test shows nothing',
    )
    kept = undefined
    const after = await heapBytes()
    assert.ok(after - before < 1_000_000, `${after - before} bytes were not released, of ${during - before}`)
    assert.ok(internedLabelSets() - setsBefore < 1000, `${internedLabelSets() - setsBefore} label sets are still there`)
  })

  it('does not grow with layouts that follow each other', async function () {
    this.timeout(60_000)
    const metric = metricFrom({ name: 'churn' })
    const planner = createPlanner({
      by: 'series',
      map: ({ metric, labels }) => [{ metric, labels: withLabels(labels, [['x', '1']]) }],
    })
    const source: Source = { component: 'test', name: 'churning', labels: EMPTY_LABELS }
    let layout: Layout | undefined
    const step = (i: number): void => {
      const series = Array.from({ length: 50 }, (_, k) => ({ metric, labels: labelsFrom([['pod', `pod-${i + k}`]]) }))
      layout = layoutFromSeries(series, layout)
      planner.planFor(source, layout)
    }
    for (let i = 0; i < 500; i++) step(i)
    const before = await heapBytes()
    for (let i = 500; i < 5000; i++) step(i)
    const after = await heapBytes()
    await collectGarbage()
    assert.ok(after - before < 500_000, `${after - before} bytes more after 4,500 more layouts`)
  })
})
