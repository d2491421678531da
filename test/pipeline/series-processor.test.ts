import assert from 'node:assert/strict'
import { endBatch, type Batch } from '../../pipeline/model/batch.ts'
import { withoutLabels } from '../../pipeline/model/labels.ts'
import { scaleOf } from '../../pipeline/model/scale.ts'
import { metricFrom } from '../../pipeline/model/series.ts'
import { defineSeriesProcessor } from '../../pipeline/series-processor.ts'
import { batchFromText } from '../support/batch-from-text.ts'
import { testHost } from '../support/test-host.ts'
import { textFromBatch } from '../support/text-from-batch.ts'

const base = { summary: 'For tests.', config: { type: 'object' }, example: {} } as const

const ratio = defineSeriesProcessor({
  ...base,
  type: 'ratio',
  create: () => ({
    by: 'metric',
    map: metric => [
      { metric: metricFrom({ ...metric, name: 'util_ratio' }), scale: scaleOf(1, 100), range: { min: 0, max: 1 } },
    ],
  }),
})

const percent = defineSeriesProcessor({
  ...base,
  type: 'percent',
  create: () => ({
    by: 'metric',
    map: metric => [{ metric: metricFrom({ ...metric, name: 'util_percent' }), scale: scaleOf(100) }],
  }),
})

const oneRowPerGpu = defineSeriesProcessor({
  ...base,
  type: 'one_row_per_gpu',
  create: () => ({ by: 'labels', map: labels => withoutLabels(labels, new Set(['pod'])) }),
})

describe('a label processor', () => {
  it('leaves a number as the source wrote it, through as many units as it likes', () => {
    const out: Batch[] = []
    const host = testHost()
    const second = percent.create({}, host, batch => out.push(batch))
    const first = ratio.create({}, host, batch => second.consume(batch))
    first.consume(batchFromText('util{gpu="0"} 29\nutil{gpu="1"} 57\nutil{gpu="2"} 4294967295\n'))
    assert.equal(textFromBatch(out[0]!), 'util_percent{gpu="0"} 29\nutil_percent{gpu="1"} 57\n')
    assert.equal(host.counted.get('gpucol_processor_out_of_range_metric_points{metric="util_ratio"}'), 1)
  })

  it('folds rows that become one series, and counts them', () => {
    const out: Batch[] = []
    const host = testHost()
    oneRowPerGpu
      .create({}, host, batch => out.push(batch))
      .consume(batchFromText('util{gpu="0",pod="a"} 29\nutil{gpu="0",pod="b"} 29\nutil{gpu="1"} 1\n'))
    assert.equal(textFromBatch(out[0]!), 'util{gpu="0"} 29\nutil{gpu="1"} 1\n')
    assert.equal(host.counted.get('gpucol_processor_folded_metric_points'), 1)
  })

  it('makes a plan once, and passes on that a source failed or is gone', () => {
    const out: Batch[] = []
    const host = testHost()
    const processor = percent.create({}, host, batch => out.push(batch))
    const batch = batchFromText('util 1\n')
    for (const one of [
      batch,
      batch,
      endBatch(batch.source, 1, 'failed'),
      batch,
      endBatch(batch.source, 2, 'removed'),
    ]) {
      processor.consume(one)
    }
    assert.deepEqual(
      out.map(({ outcome }) => outcome),
      ['ok', 'ok', 'failed', 'ok', 'removed'],
    )
    assert.equal(out[0]!.layout, out[3]!.layout, 'the layout is the same after the failure')
    assert.equal(host.counted.get('gpucol_processor_plans'), 1)
    assert.equal(host.counted.get('gpucol_processor_mapped_series'), 1)
  })

  it('says once that nothing is left of a source, and again after it failed', () => {
    const out: string[] = []
    const dropped = defineSeriesProcessor({
      ...base,
      type: 'dropped',
      create: () => ({ by: 'metric', map: metric => (metric.name === 'kept' ? [{ metric }] : []) }),
    })
    const processor = dropped.create({}, testHost(), batch => out.push(textFromBatch(batch)))
    const nothing = batchFromText('gone 1\n')
    const { source } = nothing
    const something = { ...batchFromText('kept 1\n'), source }
    const end = (outcome: 'failed' | 'removed') => endBatch(source, 1, outcome)
    for (const batch of [
      nothing,
      nothing,
      something,
      nothing,
      nothing,
      end('failed'),
      nothing,
      nothing,
      end('removed'),
    ])
      processor.consume(batch)
    assert.deepEqual(out, ['', 'kept 1\n', '', '# failed\n', '', '# removed\n'])
  })
})
