import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { Batch } from '../../../pipeline/model/batch.ts'
import { EMPTY_LABELS, labelsFrom, type Labels } from '../../../pipeline/model/labels.ts'
import { columnCount, seriesAt } from '../../../pipeline/model/layout.ts'
import { metricFrom } from '../../../pipeline/model/series.ts'
import { createOutput } from '../../../processors/roll-up/output.ts'
import { textFromBatch } from '../../support/text-from-batch.ts'

const METRICS = ['a', 'b'].map(name => metricFrom({ name, help: '', type: 'gauge', unit: '' }))

const SOURCE = { component: 'roll_up', name: 'x', labels: EMPTY_LABELS }

/** Slot 0 is nobody's; names may repeat over time, in other slots. */
function groupsOf(names: readonly string[]): { groups: (Labels | undefined)[]; version: number } {
  const groups = names.map(name => labelsFrom([['g', name]]))
  return { groups: [undefined, ...groups], version: 1 }
}

function putGroup(of: { groups: (Labels | undefined)[]; version: number }, slot: number, name: string): void {
  of.groups[slot] = labelsFrom([['g', name]])
  of.version++
}

const results = (...lists: number[][]) =>
  lists.map((values, i) => ({ metric: METRICS[i]!, values: Float64Array.from(values) }))

describe('output of roll-ups', () => {
  it('has a series for every result that there is', () => {
    const batch = createOutput(SOURCE, groupsOf(['one', 'two'])).batch(results([9, 1, NaN], [9, NaN, 2]), 5)
    assert.equal(textFromBatch(batch), 'a{g="one"} 1\nb{g="two"} 2\n')
    assert.equal(batch.timeMs, 5)
  })

  it('keeps the layout while no series comes or goes', () => {
    const output = createOutput(SOURCE, groupsOf(['one', 'two']))
    const first = output.batch(results([0, 1, NaN]), 0)
    const second = output.batch(results([0, 7, NaN]), 0)
    assert.equal(second.layout, first.layout)
    assert.equal(second.source, first.source)
    assert.notEqual(output.batch(results([0, NaN, 7]), 0).layout, first.layout)
  })

  it('knows a group from another that has its place', () => {
    const groups = groupsOf(['one'])
    const output = createOutput(SOURCE, groups)
    const first = output.batch(results([0, 1]), 0)
    putGroup(groups, 1, 'other')
    const second = output.batch(results([0, 1]), 0)
    assert.notEqual(second.layout, first.layout)
    assert.equal(textFromBatch(second), 'a{g="other"} 1\n')
    assert.deepEqual([...second.layout.keptFrom!.runs], [])
  })

  it('keeps the layout when a group comes that has no results', () => {
    const groups = groupsOf(['one'])
    const output = createOutput(SOURCE, groups)
    const first = output.batch(results([0, 1]), 0)
    putGroup(groups, 2, 'two')
    assert.equal(output.batch(results([0, 7, NaN]), 0).layout, first.layout)
  })

  it('says rightly what a layout kept, whatever changes', () => {
    const names = ['p', 'q', 'r', 's']
    const step = fc.record({
      values: fc.array(fc.array(fc.constantFrom(NaN, 1, 2), { minLength: 4, maxLength: 4 }), {
        minLength: 2,
        maxLength: 2,
      }),
      renewed: fc.nat(3),
    })
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 6 }), steps => {
        const groups = groupsOf(names)
        const output = createOutput(SOURCE, groups)
        let before: Batch | undefined
        for (const [i, { values, renewed }] of steps.entries()) {
          putGroup(groups, renewed + 1, `${names[renewed]} ${i}`)
          const batch = output.batch(results(...values.map(list => [0, ...list])), 0)
          if (before !== undefined && batch.layout !== before.layout) assertKept(batch, before)
          before = batch
        }
      }),
    )
  })
})

/** Every run moves series to themselves, and no series that stayed is left out. */
function assertKept(batch: Batch, before: Batch): void {
  const { id, runs } = batch.layout.keptFrom!
  assert.equal(id, before.layout.id)
  const textOf = (layout: Batch['layout'], column: number): string => {
    const { metric, labels } = seriesAt(layout, column)
    return `${metric.name} ${labels.values.join()}`
  }
  let kept = 0
  for (let i = 0; i < runs.length; i += 3) {
    const [to, from, length] = runs.subarray(i, i + 3) as unknown as [number, number, number]
    for (let k = 0; k < length; k++) {
      assert.equal(textOf(batch.layout, to + k), textOf(before.layout, from + k))
      kept++
    }
  }
  const all = (layout: Batch['layout']): Set<string> =>
    new Set(Array.from({ length: columnCount(layout) }, (_, column) => textOf(layout, column)))
  assert.equal(kept, all(batch.layout).intersection(all(before.layout)).size)
}
