import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import { endBatch, pointCount, type Batch } from '../../pipeline/model/batch.ts'
import { limitCardinality } from '../../processors/limit-cardinality.ts'
import { batchFromText, createSource } from '../support/batch-from-text.ts'
import { testHost } from '../support/test-host.ts'
import { textFromBatch } from '../support/text-from-batch.ts'

type Config = Parameters<typeof limitCardinality.create>[0]

function limited(config: Partial<Config>) {
  const out: Batch[] = []
  const host = testHost()
  const complete = {
    per_metric: 0,
    metrics: {},
    total: 0,
    action: 'drop',
    overflow_label: 'gpucol_overflow',
    ...config,
  }
  const processor = limitCardinality.create(complete as Config, host, batch => out.push(batch))
  void processor.start?.()
  return {
    host,
    processor,
    /** What comes out for a batch, each batch of it as text. */
    pass(batch: Batch): string[] {
      out.length = 0
      processor.consume(batch)
      return out.map(one => textFromBatch(one))
    },
  }
}

describe('limit_cardinality', () => {
  it('lets through what a metric may have, in the order of the source, and counts and names the rest once', () => {
    const { host, pass } = limited({ per_metric: 2 })
    const batch = batchFromText('a{x="1"} 1\na{x="2"} 2\na{x="3"} 3\nb 4')
    assert.deepEqual(pass(batch), ['a{x="1"} 1\na{x="2"} 2\nb 4\n'])
    assert.deepEqual(pass(batch), ['a{x="1"} 1\na{x="2"} 2\nb 4\n'])
    assert.equal(host.counted.get('gpucol_processor_limited_metric_points'), 2)
    assert.deepEqual([...host.observed('gpucol_processor_limited_series')], [['{metric="a"}', 1]])
    assert.deepEqual([...host.observed('gpucol_processor_admitted_series')], [['', 3]])
    assert.deepEqual(host.logged, ['failing a: 1 series are too many: 2 of this metric are allowed'])
  })

  it('counts over all sources, in all and for single metrics', () => {
    const { host, pass } = limited({ metrics: { b: 1 }, total: 4 })
    const [one, two] = [createSource('one'), createSource('two')]
    assert.deepEqual(pass(batchFromText('a 1\nb 1', { source: one })), ['a 1\nb 1\n'])
    assert.deepEqual(pass(batchFromText('b{x="2"} 1\na{x="2"} 1\na{x="3"} 1\na{x="4"} 1', { source: two })), [
      'a{x="2"} 1\na{x="3"} 1\n',
    ])
    assert.deepEqual(host.logged, [
      'failing a: 1 series are too many: 4 in all are allowed',
      'failing b: 1 series are too many: 1 of this metric are allowed',
    ])
  })

  it('knows a counter by its name, whichever format it comes in', () => {
    const { pass } = limited({ metrics: { c_total: 1 } })
    const text = '# TYPE c counter\nc_total{x="1"} 1\nc_total{x="2"} 2\n# EOF\n'
    assert.deepEqual(pass(batchFromText(text, { dialect: 'openmetrics' })), ['c_total{x="1"} 1\n'])
  })

  it('takes nothing away from a series that is there when others come before it', () => {
    const { pass } = limited({ per_metric: 2 })
    const first = batchFromText('a{x="5"} 1\na{x="6"} 1')
    const second = batchFromText('a{x="1"} 1\na{x="5"} 1\na{x="6"} 1', { after: first })
    pass(first)
    assert.deepEqual(pass(second), ['a{x="5"} 1\na{x="6"} 1\n'])
    // The same series as new objects, as after a target was away.
    assert.deepEqual(pass(batchFromText('a{x="0"} 1\na{x="6"} 1\na{x="5"} 1', { source: first.source })), [
      'a{x="5"} 1\na{x="6"} 1\n',
    ])
  })

  it('gives the room of series that end to others, also of other sources', () => {
    const { host, pass } = limited({ per_metric: 2 })
    const first = batchFromText('a{x="1"} 1\na{x="2"} 1', { source: createSource('one') })
    const second = batchFromText('a{x="3"} 1\na{x="4"} 1', { source: createSource('two') })
    pass(first)
    assert.deepEqual(pass(second), [''])
    pass(batchFromText('a{x="1"} 1', { after: first }))
    assert.deepEqual(pass(second), ['a{x="3"} 1\n'])
    assert.deepEqual(pass(endBatch(first.source, 1, 'failed')), ['# failed\n'])
    assert.deepEqual(pass(second), ['a{x="3"} 1\n'], 'a target that fails keeps its room')
    pass(endBatch(first.source, 1, 'removed'))
    assert.deepEqual(pass(second), ['a{x="3"} 1\na{x="4"} 1\n'])
    assert.deepEqual(host.logged, ['failing a: 2 series are too many: 2 of this metric are allowed', 'ok a'])
    pass(endBatch(second.source, 1, 'removed'))
    assert.deepEqual([...host.observed('gpucol_processor_admitted_series')], [['', 0]])
  })

  it('lets a histogram through as a whole or not at all', () => {
    const { pass } = limited({ per_metric: 5 })
    const rows = (x: string) =>
      `lat_bucket{le="1",x="${x}"} 1\nlat_bucket{le="+Inf",x="${x}"} 2\nlat_sum{x="${x}"} 3\nlat_count{x="${x}"} 2\n`
    assert.deepEqual(pass(batchFromText(`# TYPE lat histogram\n${rows('a')}${rows('b')}`)), [
      'lat_bucket{le="+Inf",x="a"} 2\nlat_bucket{le="1",x="a"} 1\nlat_count{x="a"} 2\nlat_sum{x="a"} 3\n',
    ])
  })

  it('hands on the very batch where nothing is over a limit', () => {
    const out: Batch[] = []
    const config = { per_metric: 9, metrics: {}, total: 0, action: 'collapse', overflow_label: 'o' } as const
    const batch = batchFromText('a 1')
    limitCardinality.create(config, testHost(), one => out.push(one)).consume(batch)
    assert.deepEqual(out, [batch])
    assert.equal(out[0], batch)
  })

  it('collapses gauges into their sum, with the labels of the source', () => {
    const { pass } = limited({ per_metric: 1, action: 'collapse' })
    const source = createSource('one', { job: 'dcgm' })
    const batch = batchFromText(
      '# TYPE a gauge\na{x="1"} 1\na{x="2"} 2\na{x="3"} 3\na{x="4"} NaN\n# TYPE i info\ni{x="1"} 1\ni{x="2"} 1',
      { source },
    )
    const kept = 'a{x="1"} 1\ni{x="1"} 1\n'
    assert.deepEqual(pass(batch), [kept, 'a{gpucol_overflow="true",job="dcgm"} 5\n'])
    const absent = { ...batch, absent: Uint32Array.of(1) }
    assert.deepEqual(pass(absent), [kept, 'a{gpucol_overflow="true",job="dcgm"} 3\n'])
    assert.deepEqual(pass({ ...batch, absent: Uint32Array.of(1, 2) }), [kept, ''])
    assert.deepEqual(pass(endBatch(source, 1, 'failed')), ['# failed\n', '# failed\n'])
    assert.deepEqual(pass(batch), [kept, 'a{gpucol_overflow="true",job="dcgm"} 5\n'])
    assert.deepEqual(pass(batchFromText('# TYPE a gauge\na{x="1"} 1', { after: batch })), [
      'a{x="1"} 1\n',
      '# removed\n',
    ])
    assert.deepEqual(pass(endBatch(source, 1, 'removed')), ['# removed\n'])
  })

  it('collapses counters into their increases, which never fall', () => {
    const { pass } = limited({ per_metric: 1, action: 'collapse', overflow_label: 'rest' })
    const steps: [string, string][] = [
      ['a{x="1"} 1\na{x="2"} 100\na{x="3"} 10', 'a{rest="true"} 0\n'],
      ['a{x="1"} 1\na{x="2"} 105\na{x="3"} 11', 'a{rest="true"} 6\n'],
      // One begins anew, another ends, one is new.
      ['a{x="1"} 1\na{x="3"} 2\na{x="4"} 50', 'a{rest="true"} 8\n'],
      ['a{x="1"} 1\na{x="3"} 2\na{x="4"} 51', 'a{rest="true"} 9\n'],
    ]
    let last: Batch | undefined
    for (const [text, expected] of steps) {
      last = batchFromText(`# TYPE a counter\n${text}`, last && { after: last })
      assert.deepEqual(pass(last), ['a{x="1"} 1\n', expected])
    }
  })

  it('never lets more through than allowed, and all of it where there is room', () => {
    const sets = fc.array(fc.uniqueArray(fc.integer({ min: 0, max: 9 }), { maxLength: 8 }), {
      minLength: 1,
      maxLength: 12,
    })
    fc.assert(
      fc.property(sets, fc.integer({ min: 1, max: 12 }), (turns, limit) => {
        const { host, processor } = limited({ total: limit })
        const sources = [createSource('0'), createSource('1'), createSource('2')]
        const last: (Batch | undefined)[] = []
        turns.forEach((numbers, turn) => {
          const at = turn % sources.length
          const text = numbers.map(x => `a{x="${x}"} 1`).join('\n')
          last[at] = batchFromText(text, last[at] ? { after: last[at] } : { source: sources[at]! })
          processor.consume(last[at]!)
        })
        // Those that had no room are looked at again with their next batch.
        for (const batch of last) if (batch !== undefined) processor.consume(batch)
        const all = last.reduce((sum, batch) => sum + (batch === undefined ? 0 : pointCount(batch)), 0)
        assert.equal(host.observed('gpucol_processor_admitted_series').get(''), Math.min(all, limit))
      }),
    )
  })
})
