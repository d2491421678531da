import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { Batch } from '../../../pipeline/model/batch.ts'
import { labelsFrom } from '../../../pipeline/model/labels.ts'
import { createLayout, layoutFromSeries, type Layout } from '../../../pipeline/model/layout.ts'
import type { AttributeValue } from '../../../pipeline/model/origin.ts'
import { scaleOf } from '../../../pipeline/model/scale.ts'
import { metricFrom } from '../../../pipeline/model/series.ts'
import { createSource } from '../../support/batch-from-text.ts'
import { otlpEncoding } from '../../support/otlp-encoding.ts'
import { decodeRequest, linesOf } from '../../support/otlp-judge.ts'

const source = createSource('s')
const METRICS = ['a', 'b', 'c'].map(name => metricFrom({ name, type: 'gauge', help: `Help of ${name}.` }))

const SIX_METRICS = ['a', 'b', 'c', 'd', 'e', 'f'].map((name, i) =>
  metricFrom({ name, type: i % 2 === 0 ? 'gauge' : 'counter', help: 'h'.repeat(i * 20) }),
)

/** Several metrics of so many devices, each with a resource of its own. */
function layoutOf(devices: number, previous?: Layout): Layout {
  return layoutFromSeries(
    Array.from({ length: devices }, (_, device) =>
      METRICS.map(metric => ({
        metric,
        labels: labelsFrom([
          ['UUID', `GPU-${device}`],
          ['job', 'dcgm'],
          ['zone', 'z'.repeat(device % 50)],
        ]),
      })),
    ).flat(),
    previous,
  )
}

function batchOf(layout: Layout, timeMs: number, valueOf: (column: number) => number): Batch {
  const values = Float64Array.from({ length: layout.metricOf.length }, (_, column) => valueOf(column))
  return { source, timeMs, outcome: 'ok', layout, values }
}

/** What an encoder says that puts all points together one by one, as it must where they have times of their own. */
function anew(batch: Batch, dropNotANumber: boolean): string[] {
  const { times = batch.values.map(() => batch.timeMs) } = batch
  return otlpEncoding({ dropNotANumber }).lines({ ...batch, times })
}

describe('OTLP of groups that have a pattern', () => {
  it('is the same as if each were the first, whatever the numbers', () => {
    const number = fc.oneof(fc.double(), fc.constantFrom(NaN, Infinity, 0, -0))
    const numbers = fc.array(number, { minLength: 30, maxLength: 30 })
    fc.assert(
      fc.property(
        fc.array(numbers, { minLength: 1, maxLength: 6 }),
        fc.boolean(),
        fc.boolean(),
        (all, dropNotANumber, isScaled) => {
          const plain = layoutOf(10)
          const scales = plain.metrics.map((_, i) => scaleOf(i + 1, 3))
          const layout = isScaled ? createLayout({ ...plain, labels: plain.labels, scales }) : plain
          const otlp = otlpEncoding({ dropNotANumber })
          all.forEach((values, i) => {
            const batch = batchOf(layout, 1000 * (i + 1), column => values[column]!)
            assert.deepEqual(otlp.lines(batch), anew(batch, dropNotANumber))
          })
        },
      ),
    )
  })

  it('is the same whichever metrics and attributes the devices have', () => {
    const device = fc.record({
      has: fc.array(fc.nat(5), { minLength: 1, maxLength: 8 }),
      attribute: fc.option(fc.string({ unit: 'binary', maxLength: 80 })),
      isSplit: fc.boolean(),
    })
    fc.assert(
      fc.property(fc.array(device, { maxLength: 20 }), devices => {
        const series = devices.flatMap(({ has, attribute, isSplit }, number) =>
          Array.from(new Set(has), metric => ({
            metric: SIX_METRICS[metric]!,
            labels: labelsFrom([
              ['UUID', `GPU-${number}`],
              ...(attribute === null ? [] : [['attribute', attribute] as const]),
              ...(isSplit && metric > 3 ? ([['part', 'x']] as const) : []),
            ]),
          })),
        )
        const batch = batchOf(layoutFromSeries(series), 1000, column => column)
        assert.deepEqual(otlpEncoding().lines(batch), anew(batch, false))
      }),
    )
  })

  it('has resources of any bytes', () => {
    const resource = (service: number) => ({
      attributes: new Map<string, AttributeValue>([
        ['service.name', `s${service}`],
        ['bytes', new Uint8Array(64).fill(0xff, service)],
        ['double', NaN],
      ]),
      schemaUrl: '',
    })
    const scope = { name: '', version: '', attributes: new Map(), schemaUrl: '' }
    for (let service = 0; service < 64; service++) {
      const batch = batchOf(layoutOf(3), 1000, column => column)
      const pushed = { ...batch, source: { ...source, origin: { resource: resource(service), scope } } }
      assert.deepEqual(otlpEncoding().lines(pushed), anew(pushed, false))
    }
  })

  it('keeps to the limits of requests, and has each point once', () => {
    const layout = layoutOf(5000)
    const otlp = otlpEncoding({ maxPoints: 3000, maxBytes: 512 * 1024 })
    for (let round = 0; round < 4; round++) {
      // Of some rounds a number is missing.
      const batch = batchOf(layout, 1000 + round, column => (column === 77 && round > 1 ? NaN : column * (round + 1)))
      assert.deepEqual(otlp.lines(batch), anew(batch, false), `round ${round}`)
      for (const { points, bytes } of otlp.requests) assert.ok(points <= 3000 && bytes <= 512 * 1024)
      const sum = otlp.requests.reduce((all, { points }) => all + points, 0)
      assert.equal(sum, layout.metricOf.length)
    }
  })

  it('writes into other memory where that of a request is kept', () => {
    const layout = layoutOf(2000)
    const kept: Uint8Array[] = []
    const encoding = otlpEncoding({
      maxPoints: 700,
      emit({ body, keep }) {
        kept.push(body)
        // Now more than is needed, now less.
        keep!(new ArrayBuffer(kept.length % 2 === 0 ? 2 ** 16 : 2 ** 10))
      },
    })
    const batch = batchOf(layout, 1000, column => column)
    encoding.add(batch)
    encoding.flush()
    assert.ok(kept.length > 5)
    const lines = kept.flatMap(body => linesOf(decodeRequest('proto', body))).sort()
    assert.deepEqual(lines, anew(batch, false))
  })

  it('leaves out a number that is none, and has it again when it is one', () => {
    const layout = layoutOf(500)
    const otlp = otlpEncoding({ dropNotANumber: true })
    for (let round = 0; round < 6; round++) {
      const batch = batchOf(layout, 1000 + round, column => (column === 7 && round % 3 === 1 ? NaN : column))
      assert.deepEqual(otlp.lines(batch), anew(batch, true), `round ${round}`)
    }
    assert.equal(otlp.leftOut.get('not a number'), 2)
  })

  it('follows when series come and go, some samples are absent, or have times of their own', () => {
    const otlp = otlpEncoding()
    let layout = layoutOf(20)
    for (let round = 0; round < 12; round++) {
      if (round === 3) layout = layoutOf(25, layout)
      if (round === 7) layout = layoutOf(22, layout)
      const plain = batchOf(layout, 1000 + round, column => column + round)
      const batch = {
        ...plain,
        ...(round === 5 && { absent: Uint32Array.of(1, 4) }),
        ...(round === 9 && { times: plain.values.map((_, column) => (column % 2 === 0 ? 500 : NaN)) }),
      }
      const lines = otlp.lines(batch).filter(line => !line.includes('ended'))
      assert.deepEqual(lines, anew(batch, false), `round ${round}`)
    }
  })

  it('goes on after a failure', () => {
    const otlp = otlpEncoding()
    const layout = layoutOf(20)
    for (let round = 0; round < 5; round++) {
      const batch = batchOf(layout, 1000 + round, column => column + round)
      assert.deepEqual(otlp.lines(batch), anew(batch, false))
      otlp.lines({ ...batch, outcome: 'failed', layout: layoutFromSeries([]), values: new Float64Array(0) })
    }
  })
})
