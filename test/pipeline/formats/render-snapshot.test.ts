import assert from 'node:assert/strict'
import type { Batch } from '../../../pipeline/model/batch.ts'
import { endBatch } from '../../../pipeline/model/batch.ts'
import { labelsFrom, type Labels } from '../../../pipeline/model/labels.ts'
import { createLayout, layoutFromSeries, type Layout } from '../../../pipeline/model/layout.ts'
import { metricFrom } from '../../../pipeline/model/series.ts'
import { createPage } from '../../../pipeline/formats/render-chunks.ts'
import { Renderer, type Snapshot } from '../../../pipeline/formats/render-snapshot.ts'
import { renderPieces, renderText } from '../../../pipeline/formats/render-text.ts'
import { finishNow } from '../../../pipeline/formats/render-work.ts'
import { createSource } from '../../support/batch-from-text.ts'
import { heapBytes } from '../../support/garbage.ts'

const source = createSource()

/** A layout that counts how often somebody looks at one of its label sets. */
function watched(layout: Layout): { layout: Layout; looks(): number } {
  let count = 0
  const labels = new Proxy(layout.labels, {
    get(target, key, receiver) {
      if (typeof key === 'string' && /^\d+$/.test(key)) count++
      return Reflect.get(target, key, receiver) as unknown
    },
  })
  return { layout: { ...layout, labels }, looks: () => count }
}

function layoutOf(names: readonly string[], labelSets: readonly Labels[], previous?: Layout): Layout {
  const metrics = names.map(name => metricFrom({ name, type: 'gauge' }))
  return layoutFromSeries(
    metrics.flatMap(metric => labelSets.map(labels => ({ metric, labels }))),
    previous,
  )
}

function batchOf(layout: Layout, value: number, rest: Partial<Batch> = {}): Batch {
  return {
    source,
    timeMs: 0,
    outcome: 'ok',
    layout,
    values: new Float64Array(layout.metricOf.length).fill(value),
    ...rest,
  }
}

function show(renderer: Renderer, batches: readonly Batch[]): string {
  const page = createPage()
  const pieces = Array.from(
    renderPieces(finishNow(renderer.take(batches)), () => page),
    piece => piece.toString(),
  )
  return pieces.join('')
}

const gpus = Array.from({ length: 100 }, (_, i) => labelsFrom([['gpu', String(i)]]))

describe('a renderer', () => {
  it('pauses between sources that are no more, however few series each has', () => {
    const batches = Array.from({ length: 1000 }, (_, i) =>
      batchOf(layoutOf(['util'], [labelsFrom([['gpu', `of ${i}`]])]), i, { source: createSource(`source ${i}`) }),
    )
    const renderer = new Renderer()
    finishNow(renderer.take(batches))
    const work = renderer.take([])
    let pauses = 0
    while (work.next().done !== true) pauses++
    assert.ok(pauses >= batches.length, `${pauses}`)
  })

  it('does no label work when only values change', () => {
    const renderer = new Renderer()
    const { layout, looks } = watched(layoutOf(['a', 'b', 'c'], gpus))
    show(renderer, [batchOf(layout, 1)])
    const before = looks()
    assert.ok(before >= gpus.length)
    const text = show(renderer, [batchOf(layout, 2)])
    assert.equal(looks(), before)
    assert.equal(text, renderText([batchOf(layoutOf(['a', 'b', 'c'], gpus), 2)]))
  })

  it('lets what a source had before go where nobody has an earlier snapshot, and else not', () => {
    const renderer = new Renderer()
    const first = layoutOf(['a'], gpus.slice(0, 90))
    const second = layoutOf(['a'], gpus.slice(5, 95), first)
    const third = layoutOf(['a'], gpus.slice(10), second)
    const write = (snapshot: Snapshot): string => {
      const page = createPage()
      return Array.from(
        renderPieces(snapshot, () => page),
        piece => piece.toString(),
      ).join('')
    }
    const earlier = finishNow(renderer.take([batchOf(first, 1)]))
    const later = finishNow(renderer.take([batchOf(second, 2)]))
    assert.equal(write(earlier), renderText([batchOf(first, 1)]))
    const only = finishNow(renderer.take([batchOf(third, 3)], { isOnly: true }))
    assert.equal(later.plan.members[0]!.blocks.buffer.byteLength, 0)
    assert.equal(write(only), renderText([batchOf(third, 3)]))
  })

  it('does no label work for a source that failed and comes back', () => {
    const renderer = new Renderer()
    const { layout, looks } = watched(layoutOf(['a'], gpus))
    show(renderer, [batchOf(layout, 1)])
    const before = looks()
    assert.equal(show(renderer, [endBatch(source, 1, 'failed')]), '')
    assert.equal(show(renderer, [batchOf(layout, 2)]).split('\n').length, gpus.length + 2)
    assert.equal(looks(), before)
  })

  it('makes bytes only for label sets that the layout before did not have', () => {
    const added = labelsFrom([['gpu', 'new']])
    const first = layoutOf(['a', 'b'], gpus)
    const kept = layoutOf(['a', 'b'], [...gpus.slice(3), added], first)
    const unrelated = createLayout({ ...kept, labels: kept.labels })
    for (const [name, second] of Object.entries({ kept, unrelated })) {
      const read = new Set<Labels>()
      const standIns = new Map<Labels, Labels>()
      const renderer = new Renderer()
      show(renderer, [batchOf({ ...first, labels: first.labels.map(watchedLabels) }, 1)])
      read.clear()
      const batch = batchOf({ ...second, labels: second.labels.map(watchedLabels) }, 2)
      assert.equal(show(renderer, [batch]), renderText([batchOf(second, 2)]), name)
      const readOfSecond = [...read].filter(labels => second.labels.includes(labels))
      assert.deepEqual(readOfSecond, [added], name)

      // One stand-in for each label set, as label sets are interned.
      function watchedLabels(labels: Labels): Labels {
        let known = standIns.get(labels)
        if (known === undefined) {
          known = new Proxy(labels, {
            get(target, key, receiver) {
              if (key === 'values') read.add(target)
              return Reflect.get(target, key, receiver) as unknown
            },
          })
          standIns.set(labels, known)
        }
        return known
      }
    }
  })

  it('agrees with one that knows nothing yet, whatever comes and goes', () => {
    const renderer = new Renderer()
    const sources = Array.from({ length: 4 }, (_, i) => createSource(`s${i}`))
    const latest = new Map<object, Batch>()
    let random = 1
    const next = (limit: number): number => (random = (random * 48_271) % 2_147_483_647) % limit
    for (let step = 0; step < 300; step++) {
      const one = sources[next(sources.length)]!
      const layout = layoutOf(
        // Sometimes nobody else has any of them.
        ['a', 'b', 'c', 'd', 'e', 'f'].slice(next(6)).slice(0, 1 + next(3)),
        gpus.slice(next(6), 6 + next(6)),
        latest.get(one)?.layout,
      )
      const values = Float64Array.from(layout.metricOf, () => next(100))
      const outcome = next(8)
      if (outcome === 0) latest.delete(one)
      else if (outcome === 1) latest.set(one, endBatch(one, step, 'failed'))
      else latest.set(one, { source: one, timeMs: step, outcome: 'ok', layout, values })
      if (next(3) === 0) continue
      assert.equal(sorted(show(renderer, [...latest.values()])), sorted(renderText(latest.values())), `step ${step}`)
    }
  })

  it('forgets what is gone', async () => {
    const renderer = new Renderer()
    let round = 0
    function comeAndGo(): void {
      for (let i = 0; i < 2; i++, round++) {
        const many = Array.from({ length: 10_000 }, (_, gpu) => labelsFrom([['gpu', `${round} ${gpu}`]]))
        show(renderer, [batchOf(layoutOf([`m${round}`, 'b'], many), 1, { source: createSource(`s${round}`) })])
      }
      show(renderer, [])
    }
    comeAndGo()
    const before = await heapBytes()
    comeAndGo()
    const grown = (await heapBytes()) - before
    assert.ok(grown < 300_000, `${grown} bytes more`)
  }).timeout(20_000)
})

function sorted(text: string): string {
  return text.split('\n').sort().join('\n')
}
