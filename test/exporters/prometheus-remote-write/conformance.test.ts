/**
 * The sender suites of prometheus/compliance, restated as data: the real receiver scrapes what a case has, the real exporter sends it
 * over a connection, and what arrives is decoded by others' code and compared. What differs on purpose stands in `deviations.ts`.
 */
import assert from 'node:assert/strict'
import { sharedJson } from '../../support/shared.ts'
import { startWritePipeline, TARGET, type WritePipeline } from '../../support/remote-write-pipeline.ts'
import type { Behaviour } from '../../support/remote-write-receiver.ts'
import { TEST_START_MS } from '../../support/test-host.ts'
import { DEVIATIONS } from './deviations.ts'
import {
  checkExpected,
  checkForbidden,
  checkLayout1,
  checkLayout2,
  checkMetadata,
  type ExpectedSeries,
} from './sender-rules.ts'
import { PROSE } from './sender-prose.ts'
import { STALE_BITS } from '../../support/remote-write-messages.ts'

export type Case = {
  readonly name: string
  readonly level?: string
  readonly scrape_data?: string
  readonly scrapes?: readonly string[]
  readonly honor_labels?: boolean
  readonly receiver_responds?: { status: number; headers?: Record<string, string> }
  readonly expected_series?: readonly ExpectedSeries[]
  readonly forbidden_series?: readonly Omit<ExpectedSeries, 'value'>[]
  readonly expected_headers?: Readonly<Record<string, string>>
}

const suites = [
  { file: 'sender-1.0.json', version: 1 },
  { file: 'sender-2.0.json', version: 2 },
] as const

for (const { file, version } of suites) {
  const suite = sharedJson<{ count: number; cases: Case[] }>('conformance', 'remote-write', file)
  if (suite === undefined) continue
  const { cases, count } = suite

  describe(`remote write, ${file}`, () => {
    it('is whole', () => assert.equal(cases.length, count))

    for (const one of cases) {
      // Cases on 1.0 in the suite of 2.0 speak of a sender that is told to write 1.0.
      const spoken = one.name.startsWith('rw1_compat/') ? 1 : version
      const deviation = DEVIATIONS.find(({ name }) => name === one.name)
      const title = `${one.level === undefined ? '' : `${one.level} `}${one.name}`
      it(deviation === undefined ? title : `${title}, differently: ${deviation.reason}`, async () => {
        const check = run(one, spoken)
        if (deviation === undefined) await check
        else await assert.rejects(check, 'it is listed as different and is not: take it out of the list')
      })
    }
  })
}

type ClientCase = {
  readonly kind: string
  readonly name: string
  readonly status: number
  readonly headers?: Record<string, string>
  readonly recoverable: boolean | null
  readonly retry_after_seconds?: number
  readonly bits: string
  readonly is_stale: boolean
}

describe('remote write, scrape-semantics', () => {
  const cases = sharedJson<{ cases: ClientCase[] }>('conformance', 'scrape-semantics', 'cases.json')?.cases ?? []
  for (const one of cases.filter(({ kind }) => kind === 'remote-write-client')) {
    const deviation = DEVIATIONS.find(({ name }) => name === one.name)
    it(deviation === undefined ? one.name : `${one.name}, differently: ${deviation.reason}`, async () => {
      const check = runClient(one)
      if (deviation === undefined) await check
      else await assert.rejects(check, 'it is listed as different and is not: take it out of the list')
    })
  }

  for (const { name, bits, is_stale } of cases.filter(({ kind }) => kind === 'nan-bits')) {
    it(`${name} is ${is_stale ? '' : 'not '}the end of a series`, () =>
      assert.equal(bits === `0x${STALE_BITS}`, is_stale))
  }

  it('a NaN that was scraped is not the end of a series', async () => {
    const pipeline = await startWritePipeline()
    pipeline.answer('test_metric NaN\n')
    await pipeline.scrape()
    const bits = [...pipeline.receiver.samples()].flatMap(([series, samples]) =>
      series.startsWith('test_metric{') ? samples.map(sample => sample.bits) : [],
    )
    assert.equal(bits.length, 1)
    assert.match(bits[0]!, /^7ff8/)
    await pipeline.stop()
  })
})

/** Whether the first request comes again, and not before it may. */
async function runClient({ status, headers, recoverable, retry_after_seconds = 0 }: ClientCase): Promise<void> {
  const startsMs: number[] = []
  const behaviour: Behaviour = () => {
    startsMs.push(pipeline.host.clock.monotonic())
    return startsMs.length === 1 ? { status, ...(headers && { headers }) } : undefined
  }
  const pipeline = await startWritePipeline({ shards: 1, send_metadata: false }, behaviour)
  pipeline.answer('test_metric 1\n')
  await pipeline.scrape()
  try {
    const [first, ...later] = pipeline.receiver.requests.map(({ body }) => body.toString('base64'))
    const at = later.indexOf(first!)
    assert.equal(at >= 0, recoverable ?? false)
    if (at >= 0) assert.ok(startsMs[at + 1]! - startsMs[0]! >= retry_after_seconds * 1000)
  } finally {
    await pipeline.stop()
  }
}

async function run(one: Case, version: 1 | 2): Promise<void> {
  const prose = PROSE[one.name]
  const answer = one.receiver_responds
  const behaviour: Behaviour = number =>
    prose?.behaviour?.(number, version) ?? (answer === undefined ? undefined : { ...answer })
  const pipeline = await startWritePipeline({ version, ...prose?.config }, behaviour, {
    ...(one.honor_labels !== undefined && { honor_labels: one.honor_labels }),
  })
  try {
    await scrape(pipeline, one)
    checkCommon(pipeline, version)
    if (one.receiver_responds === undefined && one.expected_series !== undefined) {
      checkExpected(pipeline.receiver.requests, one.expected_series)
    }
    checkForbidden(pipeline.receiver.requests, one.forbidden_series ?? [])
    if (one.scrape_data !== undefined && one.receiver_responds === undefined) {
      checkMetadata(pipeline.receiver.requests, one.scrape_data, version)
    }
    for (const [name, value] of Object.entries(one.expected_headers ?? {})) {
      for (const { headers } of pipeline.receiver.requests) assert.equal(headers[name.toLowerCase()], value)
    }
    await prose?.check?.(pipeline, one)
    if (one.receiver_responds !== undefined) checkRetries(pipeline, one.receiver_responds.status)
  } finally {
    await pipeline.stop()
  }
}

async function scrape(pipeline: WritePipeline, one: Case): Promise<void> {
  const prose = PROSE[one.name]
  const texts = one.scrapes ?? (one.scrape_data === undefined ? prose?.scrapes : [one.scrape_data])
  for (const text of texts ?? ['test_metric 42\n']) {
    pipeline.answer(text)
    await pipeline.scrape()
  }
  if (prose?.waits !== undefined) await pipeline.scrape(prose.waits)
  // Long enough for what is tried again, and for metadata.
  else await pipeline.scrape(4)
}

/** What the specification says of every request, whatever is in it. */
function checkCommon({ receiver }: WritePipeline, version: 1 | 2): void {
  assert.ok(receiver.requests.length > 0, 'nothing was sent')
  for (const request of receiver.requests) {
    assert.equal(request.method, 'POST')
    assert.equal(request.headers['content-encoding'], 'snappy')
    assert.ok(request.headers['user-agent'])
    assert.equal(request.headers['x-prometheus-remote-write-version'], version === 1 ? '0.1.0' : '2.0.0')
    assert.equal(
      request.headers['content-type'],
      version === 1 ? 'application/x-protobuf' : 'application/x-protobuf;proto=io.prometheus.write.v2.Request',
    )
    if (version === 1) checkLayout1(request)
    else checkLayout2(request)
  }
  for (const [series, samples] of receiver.samples()) {
    assert.ok(series.includes(`instance="${TARGET}"`) && series.includes('job="test"'), series)
    for (const [i, { timeMs }] of samples.entries()) {
      assert.ok(i === 0 || timeMs > samples[i - 1]!.timeMs, `${series} is out of order`)
      assert.ok(timeMs >= TEST_START_MS && timeMs < TEST_START_MS + 3_600_000, `${series} is at ${timeMs}`)
    }
  }
}

/** 5xx and 429 are tried again, with the same samples; nothing else is. */
function checkRetries({ receiver }: WritePipeline, status: number): void {
  const times = new Map<string, number>()
  for (const { body } of receiver.requests) {
    const text = body.toString('base64')
    times.set(text, (times.get(text) ?? 0) + 1)
  }
  const most = Math.max(...times.values())
  if (status >= 500 || status === 429) assert.ok(most > 1, 'it was not tried again')
  else assert.equal(most, 1, 'it was tried again')
}
