import assert from 'node:assert/strict'
import type { ConfigOf } from '../../pipeline/component.ts'
import { RefusedError } from '../../pipeline/component.ts'
import type { Batch } from '../../pipeline/model/batch.ts'
import { dcgm } from '../../receivers/dcgm.ts'
import type { Answer } from '../../pipeline/http/virtual-network.ts'
import { scrapeConfig } from '../support/scrape-config.ts'
import { testHost } from '../support/test-host.ts'
import { textFromBatch } from '../support/text-from-batch.ts'

type Config = ConfigOf<typeof dcgm.config>

const URL_A = 'http://node-a:9400/metrics'
const BODY = `# HELP DCGM_FI_DEV_GPU_TEMP GPU temperature (in C).
# TYPE DCGM_FI_DEV_GPU_TEMP gauge
DCGM_FI_DEV_GPU_TEMP{gpu="0",job="train"} 41
DCGM_FI_DEV_GPU_TEMP{gpu="1"} 43
`

function configOf(changes: Partial<Config> = {}): Config {
  return scrapeConfig({ static_targets: [URL_A], ...changes })
}

describe('dcgm receiver', () => {
  function start(changes: Partial<Config> = {}, refuse = false) {
    const host = testHost({ id: 'dcgm' })
    const batches: Batch[] = []
    const receiver = dcgm.create(configOf(changes), host, batch => {
      batches.push(batch)
      if (refuse) throw new RefusedError('not now')
    })
    void receiver.start!()
    return { host, batches, receiver, texts: () => batches.splice(0).map(batch => textFromBatch(batch)) }
  }

  it('hands on what a target says, with the labels of the target, and reports the scrape', async () => {
    const { host, texts } = start()
    host.network.answer(URL_A, { body: BODY })
    await host.clock.advance(0)
    assert.deepEqual(texts(), [
      `DCGM_FI_DEV_GPU_TEMP{gpu="0",instance="node-a:9400",job="train"} 41
DCGM_FI_DEV_GPU_TEMP{gpu="1",instance="node-a:9400",job="dcgm"} 43
`,
      `scrape_body_size_bytes{instance="node-a:9400",job="dcgm"} ${BODY.length}
scrape_duration_seconds{instance="node-a:9400",job="dcgm"} 0
scrape_samples_post_metric_relabeling{instance="node-a:9400",job="dcgm"} 2
scrape_samples_scraped{instance="node-a:9400",job="dcgm"} 2
scrape_series_added{instance="node-a:9400",job="dcgm"} 2
scrape_timeout_seconds{instance="node-a:9400",job="dcgm"} 10
up{instance="node-a:9400",job="dcgm"} 1
`,
    ])
  })

  it('keeps the layout for as long as the series are the same', async () => {
    const { host, batches } = start()
    host.network.answer(URL_A, { body: BODY })
    await host.clock.advance(0)
    host.network.answer(URL_A, { body: BODY.replace('41', '42') })
    await host.clock.advance(15_000)
    const [first, firstReport, second, secondReport] = batches
    assert.equal(second!.layout, first!.layout)
    assert.equal(secondReport!.layout, firstReport!.layout)
    assert.equal(second!.timeMs - first!.timeMs, 15_000)
    assert.match(textFromBatch(second!), / 42\n/)
  })

  const failures: {
    what: string
    answer: Answer
    message: RegExp
  }[] = [
    { what: 'a refused connection', answer: { error: 'refused' }, message: /refused/ },
    { what: 'no answer in time', answer: { error: 'timeout' }, message: /timed out after 10s/ },
    { what: 'another status than 200', answer: { status: 500, body: 'a 1\n' }, message: /status 500/ },
    { what: 'a body that is too large', answer: { body: `${BODY.repeat(10)}` }, message: /body_size_limit/ },
  ]
  for (const { what, answer, message } of failures) {
    it(`counts ${what} as a failed scrape, says so once and goes on`, async () => {
      const { host, texts } = start({ body_size_limit: '1000' })
      host.network.answer(URL_A, answer)
      await host.clock.advance(29_000)
      const [failed, report, failedAgain] = texts()
      assert.equal(failed, '# failed\n')
      assert.equal(failedAgain, '# failed\n')
      assert.match(report!, /^up\{.*\} 0$/m)
      assert.match(report!, /^scrape_samples_scraped\{.*\} 0$/m)
      const said = host.logged.filter(line => line.startsWith('failing'))
      assert.equal(said.length, 1)
      assert.match(said[0]!, message)
      assert.equal(host.counted.get('gpucol_receiver_scrapes{outcome="failed"}'), 2)

      host.network.answer(URL_A, { body: BODY })
      await host.clock.advance(1000)
      assert.match(texts()[0]!, /GPU_TEMP/)
      assert.deepEqual(host.logged.slice(-1), [`ok ${URL_A}`])
    })
  }

  it('does not start a scrape of a target whose last one is under way', async () => {
    const { host } = start({ scrape_timeout: '15s', scrape_interval: '15s', static_targets: [URL_A, 'node-b'] })
    host.network.serve(URL_A, (_, response) => response.head(200))
    host.network.answer('http://node-b:9400/metrics', { body: BODY })
    // The timer of the scrape was set before that of the timeout.
    await host.clock.advance(15_000)
    assert.equal(host.counted.get('gpucol_receiver_scrapes{outcome="skipped"}'), 1)
    assert.equal(host.counted.get('gpucol_receiver_scrapes{outcome="ok"}'), 2)
  })

  it('skips and counts bad lines and duplicates', async () => {
    const { host, texts } = start()
    host.network.answer(URL_A, {
      body: `${BODY}DCGM_FI_DEV_GPU_TEMP{gpu="1"} 99\nx ERROR - FAILED TO CONVERT TO STRING\n`,
    })
    await host.clock.advance(0)
    const [batch, report] = texts()
    assert.match(batch!, /gpu="1".* 43\n$/)
    assert.match(report!, /^scrape_samples_scraped\{.*\} 3$/m)
    assert.match(report!, /^scrape_samples_post_metric_relabeling\{.*\} 2$/m)
    assert.equal(host.counted.get('gpucol_receiver_bad_lines'), 1)
    assert.equal(host.counted.get('gpucol_receiver_duplicate_samples'), 1)
  })

  it('ends the series of a target when it stops, and may be stopped twice', async () => {
    const { host, texts, receiver } = start()
    host.network.answer(URL_A, { body: BODY })
    await host.clock.advance(0)
    texts()
    await receiver.stop!(0)
    assert.deepEqual(texts(), ['# removed\n', '# removed\n'])
    await receiver.stop!(0)
    await host.clock.advance(60_000)
    assert.deepEqual(texts(), [])
  })

  it('offers a batch that nobody takes again and again', async () => {
    const { host, batches } = start({}, true)
    host.network.answer(URL_A, { body: BODY })
    await host.clock.advance(30_000)
    assert.equal(new Set(batches.map(({ timeMs }) => timeMs)).size, 1)
    assert.ok(batches.length > 20)
  })

  it('waits no longer than the interval where no timeout is set', async () => {
    const { host } = start({ scrape_interval: '5s' })
    await host.clock.advance(0)
    assert.equal(host.network.requests[0]!.timeoutMs, 5000)
    assert.deepEqual(dcgm.check!(configOf({ scrape_interval: '5s' })), [])
  })

  it('sends its headers and says how long it waits', async () => {
    const { host } = start({
      headers: { Authorization: 'Bearer t' },
      static_targets: ['http://u:secret@node-a:9400/metrics'],
    })
    await host.clock.advance(0)
    const { headers } = host.network.requests[0]!
    assert.equal(headers!['authorization'], 'Bearer t')
    assert.equal(headers!['x-prometheus-scrape-timeout-seconds'], '10')
    assert.doesNotMatch(host.logged.join('\n'), /secret/)
  })

  const targets: [target: string, url: string, instance: string][] = [
    ['10.0.0.1', 'http://10.0.0.1:9400/metrics', '10.0.0.1:9400'],
    ['10.0.0.1:9500', 'http://10.0.0.1:9500/metrics', '10.0.0.1:9500'],
    ['10.0.0.1:80', 'http://10.0.0.1/metrics', '10.0.0.1:80'],
    ['node-a:9400/other', 'http://node-a:9400/other', 'node-a:9400'],
    ['[::1]', 'http://[::1]:9400/metrics', '[::1]:9400'],
    ['http://node-a:9400/', 'http://node-a:9400/', 'node-a:9400'],
    ['https://node-a/metrics', 'https://node-a/metrics', 'node-a:443'],
  ]
  for (const [target, url, instance] of targets) {
    it(`scrapes ${url} as instance ${instance} where the config says ${target}`, async () => {
      const { host, batches } = start({ static_targets: [target] })
      host.network.answer(url, { body: 'a 1\n' })
      await host.clock.advance(0)
      assert.deepEqual(host.network.unanswered(), [])
      assert.equal(textFromBatch(batches[0]!), `a{instance="${instance}",job="dcgm"} 1\n`)
    })
  }

  it('counts an empty body after a full one as a failed scrape', async () => {
    const { host, texts } = start()
    host.network.answer(URL_A, { body: '' })
    await host.clock.advance(0)
    assert.match(texts()[1]!, /^up\{.*\} 1$/m)
    host.network.answer(URL_A, { body: BODY })
    await host.clock.advance(15_000)
    host.network.answer(URL_A, { body: '# HELP DCGM_FI_DEV_GPU_TEMP Temperature.\n' })
    texts()
    await host.clock.advance(15_000)
    const [failed, report] = texts()
    assert.equal(failed, '# failed\n')
    assert.match(report!, /^up\{.*\} 0$/m)
    assert.match(host.logged.at(-1)!, /no samples/)
  })

  const mistakes: [changes: Partial<Config>, path: (string | number)[], message: RegExp][] = [
    [{ scrape_timeout: '20s' }, ['scrape_timeout'], /"20s" is longer than the scrape_interval "15s"/],
    [{ scrape_interval: '0' }, ['scrape_interval'], /above 0/],
    [{ scrape_timeout: '0' }, ['scrape_timeout'], /above 0/],
    [{ static_targets: ['node-a', 'ftp://node-b'] }, ['static_targets', 1], /"ftp:\/\/node-b" is not a URL/],
    [{ static_targets: ['node a'] }, ['static_targets', 0], /"node a"/],
  ]
  for (const [changes, path, message] of mistakes) {
    it(`finds the mistake in ${JSON.stringify(changes)}`, () => {
      const problems = dcgm.check!(configOf(changes))
      assert.deepEqual(
        problems.map(problem => problem.path),
        [path],
      )
      assert.match(problems[0]!.message, message)
    })
  }
})
