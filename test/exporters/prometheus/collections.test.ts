import assert from 'node:assert/strict'
import { START } from '../../../pipeline/formats/render-chunks.ts'
import { renderText } from '../../../pipeline/formats/render-text.ts'
import { labelsFrom } from '../../../pipeline/model/labels.ts'
import { layoutFromSeries, type Layout } from '../../../pipeline/model/layout.ts'
import type { Batch } from '../../../pipeline/model/batch.ts'
import { metricFrom } from '../../../pipeline/model/series.ts'
import { Collections } from '../../../exporters/prometheus/collections.ts'
import { createSource } from '../../support/batch-from-text.ts'
import { testHost } from '../../support/test-host.ts'

const source = createSource()
const metric = metricFrom({ name: 'a', type: 'gauge' })
const TEXT = { syntax: 'text', escaping: 'underscores', contentType: 'text/plain' } as const

function batchOf(from: number, previous?: Layout): Batch {
  const series = Array.from({ length: 50 }, (_, i) => ({ metric, labels: labelsFrom([['gpu', String(from + i)]]) }))
  return { source, timeMs: 0, outcome: 'ok', layout: layoutFromSeries(series, previous), values: new Float64Array(50) }
}

describe('collections', () => {
  it('stay as they are for a slow scraper, however often the series change', async () => {
    const { clock } = testHost()
    const batches = [batchOf(0)]
    const collections = new Collections({
      style: {
        namespace: '',
        addedLabels: labelsFrom([]),
        sourceLabels: () => labelsFrom([]),
        strategy: 'NoTranslation',
      },
      timestamps: false,
      clock,
      hold: () => ({ batches: [batches.at(-1)!], release() {} }),
      escapingFor: asked => asked,
      taken() {},
    })
    const scrape = async (waits: Promise<void>): Promise<string> => {
      let text = ''
      await collections.use(TEXT, async collection => {
        await waits
        text = collection.piece(0, START).bytes.toString()
      })
      return text
    }
    const scrapes: { text: Promise<string>; goOn: () => void; batch: Batch }[] = []
    for (let i = 0; i < 6; i++) {
      const { promise, resolve: goOn } = Promise.withResolvers<void>()
      const batch = batches.at(-1)!
      scrapes.push({ text: scrape(promise), goOn, batch })
      // Fewer of them at a time: now nobody has an earlier one, and now somebody has.
      if (i === 2 || i === 3) for (const one of scrapes.slice(0, i)) one.goOn()
      await clock.advance(2000)
      batches.push(batchOf(7 * (i + 1), batch.layout))
    }
    for (const { text, goOn, batch } of scrapes.toReversed()) {
      goOn()
      assert.equal(await text, renderText([batch]))
    }
  })
})
