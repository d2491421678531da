import assert from 'node:assert/strict'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import type { Answer } from '../../../pipeline/http/virtual-network.ts'
import type { Batch } from '../../../pipeline/model/batch.ts'
import { createScrapeReceiver, type ReceiverKind } from '../../../receivers/scraping/scrape-receiver.ts'
import { checkScrapeConfig, type ScrapeConfig } from '../../../receivers/scraping/scrape-config.ts'
import { scrapeConfig } from '../../support/scrape-config.ts'
import { testHost } from '../../support/test-host.ts'
import { textFromBatch } from '../../support/text-from-batch.ts'

const TARGET = 'http://node-a:9100/metrics'
const KIND: ReceiverKind = {
  urls: { scheme: 'http', port: 9100, path: '/metrics' },
  fallback: undefined,
  emptyIsFailure: false,
  isOfNode: false,
}
const TEXT = 'text/plain; version=0.0.4; charset=utf-8'
const OPENMETRICS = 'application/openmetrics-text; version=1.0.0; charset=utf-8'

function start(changes: Partial<ScrapeConfig> = {}, kind: Partial<ReceiverKind> = {}) {
  const host = testHost({ id: 'prometheus' })
  const batches: Batch[] = []
  const receiver = createScrapeReceiver(
    scrapeConfig({ static_targets: [TARGET], honor_labels: false, ...changes }),
    { ...KIND, ...kind },
    host,
    batch => batches.push(batch),
  )
  void receiver.start!()
  return { host, batches, receiver, texts: () => batches.splice(0).map(batch => textFromBatch(batch)) }
}

/** One scrape: what it gave, and what was said about it. */
async function scrape(answer: Answer, changes: Partial<ScrapeConfig> = {}, kind: Partial<ReceiverKind> = {}) {
  const { host, texts, batches } = start(changes, kind)
  host.network.answer(TARGET, answer)
  await host.clock.advance(14_999)
  const first = batches[0]
  const [text, report] = texts()
  return { text: text!, report: report!, said: host.logged.join('\n'), host, batch: first! }
}

describe('scraping a target', () => {
  const formats: [what: string, contentType: string | undefined, fallback: 'text' | undefined, expected: RegExp][] = [
    ['text 0.0.4', TEXT, undefined, / 1 5\n/],
    ['text 1.0.0', 'text/plain;version=1.0.0;escaping=allow-utf-8', undefined, / 1 5\n/],
    ['text without a version', 'text/plain', undefined, / 1 5\n/],
    ['OpenMetrics 1.0.0', OPENMETRICS, undefined, / 1 5000\n/],
    ['OpenMetrics 0.0.1', 'application/openmetrics-text;version=0.0.1', undefined, / 1 5000\n/],
    ['no type, where text is expected', undefined, 'text', / 1 5\n/],
    ['a wrong type, where text is expected', 'text/html', 'text', / 1 5\n/],
  ]
  for (const [what, contentType, fallback, expected] of formats) {
    it(`reads ${what}`, async () => {
      const body = 'a 1 5\n# EOF\n'
      const { text } = await scrape({ body, ...(contentType && { contentType }) }, {}, { fallback })
      assert.match(text, expected)
    })
  }

  const failures: [what: string, answer: Answer, changes: Partial<ScrapeConfig>, message: RegExp][] = [
    ['a missing Content-Type', { body: 'a 1\n' }, {}, /Content-Type is missing/],
    ['another Content-Type', { body: 'a 1\n', contentType: 'text/html' }, {}, /unknown Content-Type "text\/html"/],
    [
      'a page about something else',
      { body: '<html>\n<h1>Welcome</h1>\n', contentType: TEXT },
      {},
      /nothing in the body can be read, line 1: /,
    ],
    ['a status that is not 200', { status: 404, contentType: TEXT, body: 'a 1\n' }, {}, /status 404/],
    [
      'an encoding that was not asked for',
      { body: 'a 1\n', contentType: TEXT, headers: { 'content-encoding': 'br' } },
      {},
      /encoded as "br"/,
    ],
    [
      'too many samples',
      { body: 'a 1\nb 1\nc 1\n', contentType: TEXT },
      { sample_limit: 2 },
      /3 samples, sample_limit is 2/,
    ],
    [
      'too many labels',
      { body: 'a{x="1",y="2"} 1\n', contentType: TEXT },
      { label_limit: 4 },
      /5 labels, label_limit is 4/,
    ],
    [
      'a label name that is too long',
      { body: 'a{too_long_a_name="1"} 1\n', contentType: TEXT },
      { label_name_length_limit: 10 },
      /"too_long_a_name" is longer than label_name_length_limit, 10/,
    ],
    [
      'a label value that is too long',
      { body: `a{x="${'é'.repeat(16)}"} 1\n`, contentType: TEXT },
      { label_value_length_limit: 31 },
      /label_value_length_limit, 31/,
    ],
    [
      'a metric name that is too long',
      { body: `${'a'.repeat(100)} 1\n`, contentType: TEXT },
      { label_value_length_limit: 90 },
      /"a{50}\.\.\." is longer than label_value_length_limit, 90/,
    ],
    [
      'a mistake in OpenMetrics that is read strictly',
      { body: 'a 1\n', contentType: OPENMETRICS },
      { strict: true },
      /# EOF/,
    ],
    [
      'a file that is not there',
      { body: 'a 1\n', contentType: TEXT },
      { tls: tlsWith('/nowhere/ca.pem') },
      /"\/nowhere\/ca.pem"/,
    ],
  ]
  for (const [what, answer, changes, message] of failures) {
    it(`fails because of ${what}`, async () => {
      const { text, report, said } = await scrape(answer, changes)
      assert.equal(text, '# failed\n')
      assert.match(report, /^up\{.*\} 0$/m)
      assert.match(said, message)
    })
  }

  it('goes on with the next scrape after a limit was hit', async () => {
    const { host, texts } = start({ sample_limit: 2 })
    for (const [body, expected] of [
      ['a 1\nb 2\n', /a\{.*\} 1\nb\{.*\} 2\n/],
      ['a 1\nb 2\nc 3\n', /# failed/],
      ['a 4\nb 5\n', /a\{.*\} 4\nb\{.*\} 5\n/],
    ] as const) {
      host.network.answer(TARGET, { body, contentType: TEXT })
      await host.clock.advance(host.network.requests.length === 0 ? 0 : 15_000)
      assert.match(texts()[0]!, expected)
    }
  })

  it('counts exemplars and a missing end', async () => {
    const body = 'a_total 1 # {t="1"} 2\nb_total 1 # {t="1"} x\n'
    const { host } = await scrape({ body, contentType: OPENMETRICS })
    assert.equal(host.counted.get('gpucol_receiver_exemplars{outcome="left out"}'), 1)
    assert.equal(host.counted.get('gpucol_receiver_exemplars{outcome="bad"}'), 1)
    assert.equal(host.counted.get('gpucol_receiver_missing_ends'), 1)
  })

  it('hands on timestamps and start times, or not', async () => {
    const answer = { body: '# TYPE a counter\na_total 1 5\na_created 3\n# EOF\n', contentType: OPENMETRICS }
    const { batch } = await scrape(answer)
    assert.deepEqual([...batch.times!], [5000])
    assert.deepEqual([...batch.starts!], [3000])
    assert.equal((await scrape(answer, { honor_timestamps: false })).batch.times, undefined)
  })

  it('unpacks gzip, also when the body arrives in pieces', async () => {
    const body = `# TYPE a gauge\n${Array.from({ length: 5000 }, (_, i) => `a{i="${i}"} ${i}\n`).join('')}`
    const { host, batches } = start({ enable_compression: true })
    const packed = gzipSync(body)
    host.network.serve(TARGET, (_, response) => {
      response.head(200, { 'content-type': TEXT, 'content-encoding': 'gzip' })
      for (let at = 0; at < packed.length; at += 1000) response.chunk(packed.subarray(at, at + 1000))
      response.end()
    })
    await host.clock.advance(0)
    await until(() => batches.length === 2)
    assert.equal(host.network.requests[0]!.headers!['accept-encoding'], 'gzip')
    assert.equal(batches[0]!.values.length, 5000)
    assert.match(textFromBatch(batches[1]!), new RegExp(`scrape_body_size_bytes\\{.*\\} ${body.length}\n`))
  })

  for (const [what, packed, message] of [
    ['that is no gzip', Buffer.from('a 1\n'), /not gzip/],
    ['that ends too early', gzipSync('a 1\n'.repeat(1000)).subarray(0, 30), /not gzip/],
    ['that becomes too large', gzipSync(Buffer.alloc(50_000_000)), /larger than body_size_limit/],
  ] as const) {
    it(`fails because of a compressed body ${what}`, async () => {
      const { host, batches } = start({ enable_compression: true, body_size_limit: '1MiB' })
      const headers = { 'content-encoding': 'gzip' }
      host.network.answer(TARGET, { body: packed, contentType: TEXT, headers })
      await host.clock.advance(0)
      await until(() => batches.length === 2)
      assert.equal(batches[0]!.outcome, 'failed')
      assert.match(host.logged.join('\n'), message)
    })
  }

  it('does not ask for compression unless told to', async () => {
    const { host } = await scrape({ body: '', contentType: TEXT })
    assert.equal(host.network.requests[0]!.headers!['accept-encoding'], 'identity')
  })

  describe('that redirects', () => {
    it('goes there, without showing another host what was meant for this one', async () => {
      const { host, texts } = start({ authorization: { type: 'Bearer', credentials: 'secret' } })
      host.network.answer(TARGET, { status: 302, headers: { location: '/other' } })
      host.network.answer('http://node-a:9100/other', { status: 307, headers: { location: 'http://node-b/x' } })
      host.network.answer('http://node-b/x', { body: 'a 1\n', contentType: TEXT })
      await host.clock.advance(0)
      assert.match(texts()[0]!, /^a\{instance="node-a:9100",job="prometheus"\} 1\n/)
      const sent = host.network.requests.map(({ url, headers }) => [url, headers!['authorization']])
      assert.deepEqual(sent, [
        [TARGET, 'Bearer secret'],
        ['http://node-a:9100/other', 'Bearer secret'],
        ['http://node-b/x', undefined],
      ])
    })

    it('is a failed scrape if it goes in circles', async () => {
      const { text, said, host } = await scrape({ status: 301, headers: { location: TARGET } })
      assert.equal(text, '# failed\n')
      assert.match(said, /redirects more than 10 times/)
      assert.equal(host.network.requests.length, 11)
    })

    it('is a failed scrape if that was not wanted', async () => {
      const { said } = await scrape({ status: 301, headers: { location: '/x' } }, { follow_redirects: false })
      assert.match(said, /status 301/)
    })

    it('has no more time than any other', async () => {
      const { host } = start({ scrape_timeout: '5s' })
      host.network.serve(TARGET, (_, response) => {
        host.clock.after(3000, () => {
          response.head(302, { location: '/metrics' })
          response.end()
        })
      })
      await host.clock.advance(4999)
      assert.equal(host.counted.get('gpucol_receiver_scrapes'), undefined)
      await host.clock.advance(2)
      assert.equal(host.counted.get('gpucol_receiver_scrapes{outcome="failed"}'), 1)
    })
  })

  describe('with credentials', () => {
    it('sends a user and a password', async () => {
      const { host } = await scrape({ error: 'refused' }, { basic_auth: { username: 'u', password: 'p' } })
      assert.equal(host.network.requests[0]!.headers!['authorization'], `Basic ${btoa('u:p')}`)
    })

    it('reads a token again when its file has changed', async () => {
      const file = join(mkdtempSync(join(tmpdir(), 'gpucol-')), 'token')
      writeFileSync(file, 'one\n')
      const { host } = start({ authorization: { type: 'Bearer', credentials_file: file } })
      await host.clock.advance(0)
      writeFileSync(file, 'two\n')
      await host.clock.advance(15_000)
      const sent = host.network.requests.map(({ headers }) => headers!['authorization'])
      assert.deepEqual(sent, ['Bearer one', 'Bearer two'])
    })

    it('gives the network certificates, the same object while they are the same', async () => {
      const folder = mkdtempSync(join(tmpdir(), 'gpucol-'))
      writeFileSync(join(folder, 'ca.pem'), 'CA')
      const { host } = start({ tls: { ...tlsWith(join(folder, 'ca.pem')), server_name_override: 'x' } })
      await host.clock.advance(15_000)
      const [first, second] = host.network.requests
      assert.deepEqual(first!.tls, { ca: 'CA', serverName: 'x', insecureSkipVerify: false })
      assert.equal(first!.tls, second!.tls)
    })

    it('takes one way to say who it is', () => {
      const config = scrapeConfig({
        basic_auth: { username: 'u' },
        authorization: { type: 'Bearer', credentials: 'x' },
      })
      assert.deepEqual(checkScrapeConfig(config, KIND.urls)[0]!.path, ['authorization'])
    })
  })

  it('adds parameters to the URL, and labels to the target', async () => {
    const { host, batches } = start({ params: { match: ['a', 'b c'] }, labels: { cluster: 'x' } })
    await host.clock.advance(0)
    assert.equal(host.network.requests[0]!.url, `${TARGET}?match=a&match=b+c`)
    assert.match(textFromBatch(batches[1]!), /up\{cluster="x",instance="node-a:9100",job="prometheus"\} 0/)
  })

  it('goes on when the clock is set back, and no scrape takes less than no time', async () => {
    const { host, batches } = start()
    host.network.serve(TARGET, (_, response) => {
      host.clock.step(-3_600_000)
      host.clock.after(1000, () => {
        response.head(200, { 'content-type': TEXT })
        response.chunk('a 1\n')
        response.end()
      })
    })
    await host.clock.advance(31_000)
    const reports = batches.filter((_, i) => i % 2 === 1).map(batch => textFromBatch(batch))
    assert.equal(reports.length, 3)
    for (const report of reports) assert.match(report, /^scrape_duration_seconds\{.*\} 1$/m)
    assert.ok(batches[0]!.timeMs > batches[2]!.timeMs)
  })

  it('lets nothing through after it was stopped', async () => {
    const { host, texts, receiver } = start()
    host.network.answer(TARGET, { body: 'a 1\n', contentType: TEXT })
    await host.clock.advance(0)
    texts()
    host.network.answer(TARGET, { error: 'timeout' })
    await host.clock.advance(15_000)
    await receiver.stop!(0)
    assert.deepEqual(texts(), ['# removed\n', '# removed\n'])
    await host.clock.advance(60_000)
    assert.deepEqual(texts(), [])
  })
})

function tlsWith(ca_file: string): NonNullable<ScrapeConfig['tls']> {
  return { ca_file, insecure_skip_verify: false }
}

/** Waits for what happens outside the virtual clock: for as long as the test may take, since other threads may be slow. */
async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise(resolve => setImmediate(resolve))
}
