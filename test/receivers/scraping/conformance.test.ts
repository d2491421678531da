/** Runs the cases of ../shared/conformance/scrape-semantics that are about scraping. */
import assert from 'node:assert/strict'
import { forEachSample, type Batch } from '../../../pipeline/model/batch.ts'
import { labelPairs, labelsFrom } from '../../../pipeline/model/labels.ts'
import { labelsAt, metricAt } from '../../../pipeline/model/layout.ts'
import { createTarget } from '../../../receivers/scraping/target.ts'
import { scrapeOptions, type ScrapeConfig } from '../../../receivers/scraping/scrape-config.ts'
import { scrapeConfig } from '../../support/scrape-config.ts'
import { DEVIATIONS, OTHER_SUBJECTS } from '../../support/scraping-deviations.ts'
import { sharedJson } from '../../support/shared.ts'
import { testHost } from '../../support/test-host.ts'

type Case = {
  kind: string
  name: string
  honor_labels?: boolean
  scrape_text?: string
  target_labels?: Record<string, string>
  limits?: Partial<ScrapeConfig>
  options?: Partial<ScrapeConfig>
  expect?: 'ok' | 'scrape fails'
  scrapes?: string[]
  scrapes_base64?: string[]
  up?: string[]
  expected?: { labels?: Record<string, string>; series?: string; at?: string; at_ms?: string; value: string }[]
}

const TARGET = 'http://node-a/metrics'

describe('conformance of scraping', () => {
  const cases = sharedJson<{ cases: Case[] }>('conformance', 'scrape-semantics', 'cases.json')?.cases ?? []
  for (const one of cases) {
    const kinds: Record<string, ((one: Case) => Promise<void>) | undefined> = {
      labels: checkLabels,
      'label-limit': checkLimit,
      'scrape-sequence': checkSequence,
    }
    const check = kinds[one.kind]
    if (check === undefined) {
      it(`${one.kind} ${one.name}: about something else`, () => assert.ok(Object.hasOwn(OTHER_SUBJECTS, one.kind)))
      continue
    }
    const deviation = DEVIATIONS.find(({ suite, name }) => suite === 'scrape-semantics' && name.test(one.name))
    if (deviation === undefined) it(one.name, () => check(one))
    else
      it(`${one.name}: not here, because of "${deviation.reason}"`, () =>
        assert.rejects(check(one), assert.AssertionError))
  }
})

/** Scrapes these bodies one after the other, FAIL being none. */
async function scrapeAll(
  bodies: readonly (string | Buffer)[],
  config: Partial<ScrapeConfig>,
  labels = {},
): Promise<Batch[]> {
  const host = testHost()
  const batches: Batch[] = []
  const options = scrapeOptions(scrapeConfig({ honor_labels: false, ...config }), host)
  const target = createTarget(
    { url: TARGET, labels: labelsFrom(Object.entries(labels)), timeoutMs: 10_000 },
    { ...options, fallback: 'text', emptyIsFailure: false },
    host,
    batch => batches.push(batch),
  )
  for (const body of bodies) {
    host.network.answer(TARGET, body === 'FAIL' ? { error: 'refused' } : { body })
    target.scrape()
    await host.clock.advance(15_000)
  }
  return batches
}

function samplesOf(batch: Batch): { labels: Record<string, string>; value: number; timeMs: number | undefined }[] {
  const samples: ReturnType<typeof samplesOf> = []
  forEachSample(batch, (column, value) => {
    const labels = { __name__: metricAt(batch.layout, column).name, ...pairsOf(batch, column) }
    const time = batch.times?.[column] ?? NaN
    samples.push({ labels, value, timeMs: Number.isNaN(time) ? undefined : time })
  })
  return samples
}

function pairsOf(batch: Batch, column: number): Record<string, string> {
  return Object.fromEntries(labelPairs(labelsAt(batch.layout, column)))
}

async function checkLabels({ honor_labels, scrape_text, target_labels, expected }: Case): Promise<void> {
  const [batch] = await scrapeAll([scrape_text!], { honor_labels: honor_labels! }, target_labels)
  assert.deepEqual(
    samplesOf(batch!).map(({ labels, value }) => ({ labels, value })),
    expected!.map(({ labels, value }) => ({ labels, value: Number(value) })),
  )
}

async function checkLimit({ scrape_text, target_labels, limits, expect }: Case): Promise<void> {
  const [batch] = await scrapeAll([scrape_text!], limits!, target_labels)
  assert.equal(batch!.outcome, expect === 'ok' ? 'ok' : 'failed')
}

async function checkSequence({ scrapes, scrapes_base64, options = {}, expected, up }: Case): Promise<void> {
  const { track_timestamps_staleness: _, ...config } = options as Record<string, unknown>
  const bodies = scrapes ?? scrapes_base64!.map(text => Buffer.from(text, 'base64'))
  const batches = await scrapeAll(bodies, config)
  const ups: string[] = []
  const seen: { series: string; at: string; value: string }[] = []
  let live = new Set<string>()
  batches.forEach((batch, i) => {
    const scrape = `scrape ${Math.floor(i / 2) + 1}`
    if (i % 2 === 1) {
      ups.push(String(batch.values[0]))
      return
    }
    const samples = samplesOf(batch)
    const now = new Set(samples.map(({ labels }) => seriesText(labels)))
    for (const series of live) if (!now.has(series)) seen.push({ series, at: scrape, value: 'StaleNaN' })
    for (const { labels, value, timeMs } of samples) {
      seen.push({ series: seriesText(labels), at: timeMs === undefined ? scrape : `${timeMs}`, value: String(value) })
    }
    live = now
  })
  assert.deepEqual(
    seen,
    expected!.map(({ series, at, at_ms, value }) => ({ series: series!, at: at ?? at_ms!, value })),
  )
  if (up !== undefined) assert.deepEqual(ups, up)
}

function seriesText({ __name__, ...labels }: Record<string, string>): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${value}"`)
  return pairs.length === 0 ? __name__! : `${__name__}{${pairs.join(',')}}`
}
