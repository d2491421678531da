import assert from 'node:assert/strict'
import fc from 'fast-check'
import { RefusedError, type Next, type Step, type Watch } from '../../../pipeline/component.ts'
import { createRoutes, type RoutedNode } from '../../../pipeline/graph/routes.ts'
import { createStopwatch } from '../../../pipeline/graph/stopwatch.ts'
import { createTextReader } from '../../../pipeline/formats/prometheus-text.ts'
import { endBatch, type Batch, type Source } from '../../../pipeline/model/batch.ts'
import { runComposed } from '../../../pipeline/model/compose.ts'
import type { SeriesMap } from '../../../pipeline/model/label-processor.ts'
import type { Layout } from '../../../pipeline/model/layout.ts'
import { getLabel, withLabels, withoutLabels, type Labels } from '../../../pipeline/model/labels.ts'
import { ONE, scaleOf } from '../../../pipeline/model/scale.ts'
import { metricFrom } from '../../../pipeline/model/series.ts'
import { createTracked, type Tracked } from '../../../pipeline/model/tracked.ts'
import { createSeriesProcessor } from '../../../pipeline/series-processor.ts'
import { createIntake } from '../../../processors/roll-up/intake.ts'
import { Reading } from '../../../processors/roll-up/reading.ts'
import { Things } from '../../../processors/roll-up/things.ts'
import { batchFromText, createSource } from '../../support/batch-from-text.ts'
import { collectOnce } from '../../support/garbage.ts'
import { testHost } from '../../support/test-host.ts'
import { textFromBatch } from '../../support/text-from-batch.ts'

const stopwatch = createStopwatch({ monotonic: () => 0 })

/** A percentage becomes a ratio, where it can be one, `junk` goes; a label that tells who has the GPU, which may change; nobody's go. */
function maps(pods: Tracked<string>): SeriesMap[] {
  const ratio = metricFrom({ name: 'ratio', type: 'gauge', help: '' })
  return [
    { by: 'labels', map: labels => withoutLabels(labels, new Set(['pci'])) },
    {
      by: 'metric',
      map: metric =>
        metric.name === 'util'
          ? [{ metric: ratio, scale: scaleOf(1, 100), range: { min: 0, max: 1 } }]
          : metric.name === 'junk'
            ? []
            : [{ metric }],
    },
    {
      by: 'labels',
      map(labels, look) {
        const pod = look(pods.entry(getLabel(labels, 'gpu') ?? ''))
        return pod === undefined ? labels : withLabels(labels, [['pod', pod]])
      },
    },
    { by: 'labels', map: labels => (getLabel(labels, 'pod') === 'nobody' ? undefined : labels) },
  ]
}

type Told = { passed: number[][]; refused: number[]; failed: number[] }

/** Processors in a row, with or without routes, and what came out of them. */
function createRow(
  all: readonly SeriesMap[],
  isRouted: boolean,
  seen: (node: number) => Partial<Step> = () => ({}),
  releases = true,
) {
  const out: Batch[] = []
  /** What processors made on the way, as it was told to routes. */
  const middle: WeakRef<Layout>[] = []
  const told: Told = { passed: [], refused: [], failed: [] }
  const end: Next = batch => void out.push(batch)
  let next = end
  const nodes: RoutedNode[] = []
  for (const [number, map] of [...all.entries()].toReversed()) {
    const processor = createSeriesProcessor(map, testHost(), next)
    next = processor.consume
    nodes.unshift({
      ...(releases && { release: processor.release }),
      step(source, layout) {
        const step = processor.step(source, layout)
        if (step !== undefined) middle.push(new WeakRef(step.plan.output))
        return step && { ...step, ...seen(number) }
      },
      passages: {
        passed: (incoming, outgoing) => void told.passed.push([number, incoming, outgoing]),
        refused: points => void told.refused.push(points),
        failed: points => void told.failed.push(points),
      },
    })
  }
  return { consume: isRouted ? createRoutes(nodes, next, end, stopwatch) : next, out, told, middle }
}

/** Processors that end in one that takes readings of GPUs and lets nothing pass. */
function createTakingRow(pods: Tracked<string>, isRouted: boolean) {
  const things = new Things()
  const reading = new Reading(things, { keep: 'value' })
  const identify = (labels: Labels): string | undefined => getLabel(labels, 'gpu')
  const intake = createIntake({
    uses: [{ fact: 'temp', reading, scale: ONE, identify }],
    holdMs: 0,
    monotonic: () => 0,
    settle() {},
  })
  const layouts: WeakRef<Layout>[] = []
  const passing = createSeriesProcessor({ by: 'labels', map: () => undefined }, testHost(), () => {})
  const nodes: RoutedNode[] = []
  const passages = {
    passed() {},
    refused() {},
    failed: (_: number, __: unknown, error: unknown) => assert.fail(String(error)),
  }
  let next: Next = batch => {
    intake.take(batch)
    passing.consume(batch)
  }
  nodes.push({
    release: passing.release,
    step(source, layout) {
      layouts.push(new WeakRef(layout))
      const step = passing.step(source, layout)
      const before = intake.taker(source, layout)
      return step && (before === undefined ? step : { ...step, before })
    },
    passages,
  })
  for (const map of maps(pods).toReversed()) {
    const processor = createSeriesProcessor(map, testHost(), next)
    next = processor.consume
    nodes.unshift({ release: processor.release, step: processor.step, passages })
  }
  return {
    layouts,
    consume: isRouted ? createRoutes(nodes, next, () => {}, stopwatch) : next,
    look() {
      intake.expire()
      const all = Array.from(things.numbers(), one => [things.keyOf(one), reading.values[one]!, things.isMoved(one)])
      things.settle()
      return all
    },
  }
}

const TEXT = `
  util{gpu="0",pci="a"} 29
  util{gpu="1",pci="b"} 57
  temp{gpu="0",pci="a"} 40
  junk{gpu="1",pci="b"} 1
`

describe('routes through processors', () => {
  it('lead to what the processors make one after the other, whatever comes', () => {
    const event = fc.oneof(
      { weight: 8, arbitrary: fc.record({ source: fc.nat(2), values: fc.array(fc.integer({ min: -20, max: 130 })) }) },
      { weight: 1, arbitrary: fc.record({ source: fc.nat(2), outcome: fc.constantFrom('failed', 'removed') }) },
      { weight: 1, arbitrary: fc.record({ source: fc.nat(2), gpus: fc.nat(3) }) },
      { weight: 1, arbitrary: fc.record({ source: fc.nat(2), absent: fc.nat(2) }) },
      { weight: 2, arbitrary: fc.record({ gpu: fc.nat(2), pod: fc.constantFrom('a', 'b', 'nobody', undefined) }) },
    )
    fc.assert(
      fc.property(fc.array(event, { maxLength: 40 }), events => {
        const pods = createTracked<string>()
        const plain = createRow(maps(pods), false)
        const routed = [true, false].map(releases => createRow(maps(pods), true, undefined, releases))
        const last = [0, 1, 2].map(number => batchFromText(TEXT, { source: createSource(`source-${number}`) }))
        const say = (batch: Batch): void => {
          for (const row of [plain, ...routed]) {
            row.out.length = 0
            row.consume(batch)
          }
          const shown = ({ out }: typeof plain) => out.map(one => textFromBatch(one)).filter(text => text !== '')
          for (const row of routed) {
            assert.deepEqual(shown(row), shown(plain))
            // That nothing is left is said at least once; once more is no harm.
            if (plain.out.length > 0) assert.ok(row.out.length > 0)
          }
        }
        for (const event of events) {
          if ('pod' in event) {
            if (event.pod === undefined) pods.delete(String(event.gpu))
            else pods.set(String(event.gpu), event.pod)
            continue
          }
          const before = last[event.source]!
          if ('outcome' in event) {
            say(endBatch(before.source, 0, event.outcome as 'failed' | 'removed'))
            continue
          }
          if ('gpus' in event) {
            const lines = Array.from(
              { length: event.gpus },
              (_, gpu) => `util{gpu="${gpu}",pci="x"} ${gpu}\ntemp{gpu="${gpu}"} 1\n`,
            )
            last[event.source] = batchFromText(lines.join(''), { after: before })
          }
          const batch = last[event.source]!
          const given = 'values' in event ? event.values : []
          const values = batch.values.map((value, i) => given[i] ?? value)
          const absent = 'absent' in event && event.absent < values.length ? Uint32Array.of(event.absent) : undefined
          say({ ...batch, values, absent })
        }
      }),
      { numRuns: 300 },
    )
  })

  it('keep no label sets where somebody only takes numbers, who takes the same ones as without routes', () => {
    const event = fc.oneof(
      { weight: 6, arbitrary: fc.record({ source: fc.nat(1), value: fc.nat(99) }) },
      { weight: 1, arbitrary: fc.record({ source: fc.nat(1), outcome: fc.constantFrom('failed', 'removed') }) },
      { weight: 1, arbitrary: fc.record({ source: fc.nat(1), gpus: fc.nat(3) }) },
      { weight: 2, arbitrary: fc.record({ gpu: fc.nat(2), pod: fc.constantFrom('a', 'b', 'nobody', undefined) }) },
      { weight: 1, arbitrary: fc.constant('look') },
    )
    let letGo = 0
    fc.assert(
      fc.property(fc.array(event, { maxLength: 60 }), events => {
        const pods = createTracked<string>()
        const [plain, routed] = [createTakingRow(pods, false), createTakingRow(pods, true)]
        const last = [0, 1].map(number => batchFromText(TEXT, { source: createSource(`source-${number}`) }))
        const say = (batch: Batch): void => {
          plain.consume(batch)
          routed.consume(batch)
        }
        for (const event of events) {
          if (event === 'look') assert.deepEqual(routed.look(), plain.look())
          else if (typeof event === 'string') continue
          else if ('pod' in event) {
            if (event.pod === undefined) pods.delete(String(event.gpu))
            else pods.set(String(event.gpu), event.pod)
          } else {
            const before = last[event.source]!
            if ('outcome' in event) {
              say(endBatch(before.source, 0, event.outcome as 'failed' | 'removed'))
              continue
            }
            if ('gpus' in event) {
              const lines = Array.from({ length: event.gpus }, (_, gpu) => `temp{gpu="${gpu}",pci="${gpu}"} ${gpu}\n`)
              last[event.source] = batchFromText(`${lines.join('')}util{gpu="0"} 1`, { after: before })
              say(last[event.source]!)
            } else say({ ...before, values: before.values.map(() => event.value) })
          }
        }
        assert.deepEqual(routed.look(), plain.look())
        for (const layout of routed.layouts) {
          try {
            void layout.deref()?.labels
          } catch {
            letGo++
          }
        }
      }),
      { numRuns: 300 },
    )
    assert.ok(letGo > 50, `${letGo}`)
  })

  it('are taken from the second batch of a layout on, and tell how many points each processor took and left', () => {
    const { consume, told } = createRow(maps(createTracked()), true)
    const first = batchFromText(TEXT)
    consume(first)
    assert.deepEqual(told.passed, [])
    consume({ ...first, values: first.values.slice() })
    assert.deepEqual(told.passed, [
      [0, 4, 4],
      [1, 4, 3],
      [2, 3, 3],
      [3, 3, 3],
    ])
  })

  it('show batches to who wants to see them, as they are where that stands', () => {
    const shown: string[] = []
    const show: Watch = { see: (batch, way) => void shown.push(textFromBatch(runComposed(way, batch))) }
    const { consume } = createRow(maps(createTracked()), true, node =>
      node === 1 ? { before: show, after: show } : {},
    )
    const first = batchFromText(TEXT)
    consume(first)
    consume({ ...first, values: Float64Array.of(1, 2, 3, 4) })
    assert.deepEqual(shown, [
      'junk{gpu="1"} 4\ntemp{gpu="0"} 3\nutil{gpu="0"} 1\nutil{gpu="1"} 2\n',
      'ratio{gpu="0"} 0.01\nratio{gpu="1"} 0.02\ntemp{gpu="0"} 3\n',
    ])
  })

  it('are left for once where a processor throws, which is told', () => {
    let isBroken = true
    const { consume, told, out } = createRow(maps(createTracked()), true, node =>
      node !== 2
        ? {}
        : {
            before: {
              see() {
                if (isBroken) throw new Error('broken')
              },
            },
          },
    )
    const first = batchFromText(TEXT)
    consume(first)
    out.length = 0
    consume({ ...first })
    assert.deepEqual(told.failed, [3])
    assert.deepEqual(told.passed, [])
    assert.equal(out.length, 0)
    isBroken = false
    consume({ ...first })
    assert.equal(out.length, 1)
  })

  it('hand on that a batch was refused', () => {
    const { consume, told } = createRow(maps(createTracked()), true, node =>
      node === 3
        ? {
            before: {
              see() {
                throw new RefusedError('full')
              },
            },
          }
        : {},
    )
    const first = batchFromText(TEXT)
    consume(first)
    assert.throws(() => consume({ ...first }), RefusedError)
    assert.deepEqual(told.refused, [4, 4, 3, 3])
    assert.deepEqual(told.failed, [])
  })

  it('need nothing that processors made on the way, and lead to the same when it is made again', async () => {
    const pods = createTracked<string>()
    const [plain, routed] = [createRow(maps(pods), false), createRow(maps(pods), true)]
    const source = createSource()
    const reader = createTextReader()
    const read = (text: string): Batch => {
      reader.begin('text')
      reader.push(Buffer.from(text))
      const { layout, values } = reader.finish()
      return { source, timeMs: 0, outcome: 'ok', layout, values }
    }
    const say = (text: string): Batch => {
      const batch = read(text)
      plain.consume(batch)
      routed.consume({ ...batch, source: other })
      assert.equal(textFromBatch(routed.out.at(-1)!), textFromBatch(plain.out.at(-1)!))
      return routed.out.at(-1)!
    }
    const other = createSource('of its own')
    const more = `${TEXT}temp{gpu="2",pci="c"} 30\n`
    const held = say(TEXT).layout
    await collectOnce()
    assert.equal(routed.middle.length, 4)
    assert.deepEqual(
      routed.middle.map(layout => layout.deref()).filter(layout => layout !== undefined && layout !== held),
      [],
    )
    assert.equal(say(TEXT).layout, held)
    pods.set('7', 'of somebody else')
    assert.equal(say(TEXT).layout, held)
    pods.set('0', 'a')
    await collectOnce()
    assert.match(textFromBatch(say(TEXT)), /ratio\{gpu="0",pod="a"\}/)
    const changed = say(TEXT).layout
    pods.set('0', 'b')
    pods.set('0', 'a')
    assert.equal(say(TEXT).layout, changed)
    await collectOnce()
    say(more)
    await collectOnce()
    say(more.replace('57', '157'))
    say(more)
    pods.set('2', 'nobody')
    await collectOnce()
    say(more)
    say(TEXT)
  })

  it('need nothing of a source either whose batch a processor has handed on later, by itself', async () => {
    const middle: WeakRef<Layout>[] = []
    const passages = { passed() {}, refused() {}, failed() {} }
    const second = createSeriesProcessor(maps(createTracked())[1]!, testHost(), () => {})
    const first = createSeriesProcessor(maps(createTracked())[0]!, testHost(), second.consume)
    let isHeld = true
    let caughtUp: (source: Source) => void = () => assert.fail()
    const nodes: RoutedNode[] = [
      {
        release: first.release,
        step(source, layout) {
          const step = first.step(source, layout)
          middle.push(new WeakRef(step!.plan.output))
          return step
        },
        passages,
      },
      {
        release: second.release,
        step: (source, layout) => (isHeld ? undefined : second.step(source, layout)),
        tellCaughtUp(listener) {
          caughtUp = listener
        },
        passages,
      },
    ]
    const consume = createRoutes(nodes, first.consume, () => {}, stopwatch)
    const source = createSource()
    consume(batchFromText(TEXT, { source }))
    const areThere = (): boolean => middle.some(layout => layout.deref() !== undefined)
    await collectOnce()
    assert.ok(areThere())
    isHeld = false
    caughtUp(source)
    await collectOnce()
    assert.ok(!areThere())
  })

  it('have plans kept by processors of a few sources only, when something changes for all', async () => {
    const pods = createTracked<string>()
    const { consume, middle } = createRow(maps(pods), true)
    const batches = Array.from({ length: 300 }, (_, i) =>
      batchFromText(`util{gpu="all",pci="${i}"} 1`, { source: createSource(`source-${i}`) }),
    )
    const sayAll = (): void => {
      for (const batch of batches) consume({ ...batch })
    }
    sayAll()
    sayAll()
    middle.length = 0
    pods.set('all', 'a')
    sayAll()
    await collectOnce()
    const layouts = new Set(middle.map(layout => layout.deref()).filter(layout => layout !== undefined))
    // That at the end is part of the route.
    const kept = layouts.size - batches.length
    // Two of each source, of which no more than 256 are kept.
    assert.ok(kept > 2 * 250 && kept < 2 * 260, `${kept}`)
  })
})
