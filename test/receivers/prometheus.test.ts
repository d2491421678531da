import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { VirtualNetwork } from '../../pipeline/http/virtual-network.ts'
import type { Batch } from '../../pipeline/model/batch.ts'
import { prometheus } from '../../receivers/prometheus.ts'
import { configOf } from '../support/config-of.ts'
import { testHost } from '../support/test-host.ts'
import { textFromBatch } from '../support/text-from-batch.ts'

const TEXT = 'text/plain; version=0.0.4'

type Job = Record<string, unknown>

type Rest = { global?: object; strict?: boolean; prepare?: (network: VirtualNetwork) => void }

function start(jobs: Job | readonly Job[], rest: Rest = {}) {
  const { global, prepare, ...options } = rest
  const host = testHost({ id: 'prometheus' })
  prepare?.(host.network)
  const batches: Batch[] = []
  const scrape_configs = [jobs].flat().map(job => ({ job_name: 'job', static_configs: [{ targets: ['a:1'] }], ...job }))
  const config = configOf(prometheus, { config: { scrape_configs, ...(global && { global }) }, ...options })
  assert.deepEqual(prometheus.check!(config), [])
  const receiver = prometheus.create(config, host, batch => batches.push(batch))
  void receiver.start!()
  return { host, batches, receiver, texts: () => batches.splice(0).map(batch => textFromBatch(batch)) }
}

async function scrape(job: Job, body = 'x{job="own"} 1\n', contentType: string | undefined = TEXT) {
  const started = start(job)
  started.host.network.answer('http://a:1/metrics', { body, ...(contentType !== '' && { contentType }) })
  await started.host.clock.advance(0)
  const [text, report] = started.texts()
  return { ...started, text: text!, report: report!, request: started.host.network.requests[0]! }
}

describe('prometheus receiver', () => {
  it('labels as Prometheus does', async () => {
    const { text, report } = await scrape({ static_configs: [{ targets: ['a:1'], labels: { rack: 'b' } }] })
    assert.equal(text, 'x{exported_job="own",instance="a:1",job="job",rack="b"} 1\n')
    assert.match(report, /^up\{instance="a:1",job="job",rack="b"\} 1$/m)
    assert.equal((await scrape({ honor_labels: true })).text, 'x{instance="a:1",job="own"} 1\n')
  })

  it('has the defaults of Prometheus, those of `global` before them', async () => {
    const { host, receiver } = start([{}, { job_name: 'often', scrape_interval: '5s' }])
    await host.clock.advance(59_999)
    const timeouts = host.network.requests.map(({ timeoutMs }) => timeoutMs)
    assert.deepEqual(
      timeouts.toSorted((a, b) => b - a),
      [10_000, ...Array.from({ length: 12 }, () => 5000)],
    )
    assert.equal(receiver.describe!(), '2 targets of 2 jobs')
    const other = start([{}, { job_name: 'b', scrape_timeout: '1s' }, { job_name: 'c', scrape_interval: '3s' }], {
      global: { scrape_interval: '20s', scrape_timeout: '15s' },
    })
    await other.host.clock.advance(0)
    const { requests } = other.host.network
    assert.deepEqual(
      requests.map(({ timeoutMs }) => timeoutMs),
      [15_000, 1000, 3000],
    )
  })

  it('needs to know the format of a body', async () => {
    const { text, host } = await scrape({}, 'x 1\n', '')
    assert.equal(text, '# failed\n')
    assert.match(host.logged.join(), /the Content-Type is missing/)
    const fallback = { fallback_scrape_protocol: 'PrometheusText0.0.4' }
    assert.match((await scrape(fallback, 'x 1\n', '')).text, /^x\{.*\} 1\n$/)
    assert.match((await scrape(fallback, 'x 1\n', 'text/html')).text, /^x\{.*\} 1\n$/)
    const open = { fallback_scrape_protocol: 'OpenMetricsText1.0.0' }
    assert.match((await scrape(open, 'x 1 5\n# EOF\n', '')).text, /^x\{.*\} 1 5000\n$/)
  })

  it('asks for the formats it is told to', async () => {
    const { request } = await scrape({ scrape_protocols: ['PrometheusText0.0.4', 'OpenMetricsText1.0.0'] })
    assert.equal(
      request.headers!['accept'],
      'text/plain;version=0.0.4;q=0.3,application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.2,*/*;q=0.1',
    )
  })

  const requests: [job: Job, expected: object][] = [
    [{ metrics_path: '/probe', scheme: 'https', params: { module: ['x'] } }, { url: 'https://a:1/probe?module=x' }],
    [{ bearer_token: 't' }, { authorization: 'Bearer t' }],
    [{ authorization: { type: 'Token', credentials: 't' } }, { authorization: 'Token t' }],
    [{ basic_auth: { username: 'u', password: 'p' } }, { authorization: `Basic ${btoa('u:p')}` }],
    [{ http_headers: { 'X-Scope': { values: ['a', 'b'], secrets: ['c'] } } }, { 'x-scope': 'a, b, c' }],
    [{ enable_compression: true }, { 'accept-encoding': 'gzip' }],
    [{ proxy_url: 'http://proxy:3128' }, { proxyUrl: 'http://proxy:3128' }],
    [
      { tls_config: { ca: 'C', cert: 'D', key: 'K', server_name: 's', insecure_skip_verify: true } },
      { tls: { ca: 'C', cert: 'D', key: 'K', serverName: 's', insecureSkipVerify: true } },
    ],
  ]
  for (const [job, expected] of requests) {
    it(`sends ${JSON.stringify(expected)} where a job has ${JSON.stringify(job)}`, async () => {
      const { request } = await scrape(job)
      const { headers, ...rest } = request
      const found: Record<string, unknown> = { ...rest, ...headers }
      for (const [name, value] of Object.entries(expected)) assert.deepEqual(found[name], value)
    })
  }

  it('reads credentials from files, and again when they change', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'gpucol-'))
    const write = (name: string, text: string): string => {
      writeFileSync(join(folder, name), text)
      return join(folder, name)
    }
    try {
      const { host } = start([
        { job_name: 'a', bearer_token_file: write('token', 'one\n') },
        { job_name: 'b', basic_auth: { username_file: write('user', 'u\n'), password_file: write('password', 'p\n') } },
        { job_name: 'c', http_headers: { 'x-key': { files: [write('key', 'k\n')] } } },
      ])
      await host.clock.advance(0)
      write('token', 'two\n')
      await host.clock.advance(60_000)
      const sent = host.network.requests.map(({ headers }) => headers!['authorization'] ?? headers!['x-key'])
      const basic = `Basic ${btoa('u:p')}`
      assert.deepEqual(sent, ['Bearer one', basic, 'k', 'Bearer two', basic, 'k'])
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  it('chooses and labels targets by rules, and says what it dropped', () => {
    const { receiver } = start({
      static_configs: [{ targets: ['a:1', 'b:1', 'c:1'] }],
      relabel_configs: [
        { source_labels: ['__address__'], regex: 'b:.*', action: 'drop' },
        { source_labels: ['__address__'], regex: '(.):1', target_label: 'host', replacement: '${1}' },
        { source_labels: ['host'], regex: 'c', target_label: '__scrape_interval__', replacement: 'often' },
      ],
    })
    const { active, dropped, droppedCount } = receiver.targets!()
    assert.deepEqual(
      active.map(({ url, labels }) => [url, [...labels.values]]),
      [['http://a:1/metrics', ['a', 'a:1', 'job']]],
    )
    assert.deepEqual(
      dropped.map(({ reason }) => reason),
      ['relabel_configs drop it', 'bad __scrape_interval__: "often" is not a duration such as 15s or 1h30m'],
    )
    assert.equal(droppedCount, 2)
  })

  it('relabels series, and counts what is left', async () => {
    const { text, report } = await scrape(
      {
        metric_relabel_configs: [
          { source_labels: ['__name__'], regex: 'go_.*', action: 'drop' },
          { regex: 'instance', action: 'labeldrop' },
          { source_labels: ['__name__'], regex: 'old_(.*)', target_label: '__name__', replacement: 'new_$1' },
        ],
      },
      'go_threads 1\nold_a 2\nold_b{x="1"} 3\ngo_gc 4\n',
    )
    assert.equal(text, 'new_a{job="job"} 2\nnew_b{job="job",x="1"} 3\n')
    assert.match(report, /^scrape_samples_scraped\{.*\} 4$/m)
    assert.match(report, /^scrape_samples_post_metric_relabeling\{.*\} 2$/m)
    assert.match(report, /^scrape_series_added\{.*\} 2$/m)
  })

  it('counts the series that are new after relabelling', async () => {
    const drop = [{ source_labels: ['__name__'], regex: 'go_.*', action: 'drop' }]
    const { host, texts } = start({ metric_relabel_configs: drop, scrape_interval: '10s' })
    const added: string[] = []
    for (const body of ['a 1\n', 'a 1\ngo_x 1\n', 'a 1\nb 1\ngo_y 1\n', 'b 1\nc 1\n', 'b 2\nc 2\n']) {
      host.network.answer('http://a:1/metrics', { body, contentType: TEXT })
      await host.clock.advance(added.length === 0 ? 0 : 10_000)
      added.push(/^scrape_series_added\{.*\} (\d+)$/m.exec(texts()[1]!)![1]!)
    }
    assert.deepEqual(added, ['1', '0', '1', '1', '0'])
  })

  it('counts limits after relabelling', async () => {
    const rules = [{ source_labels: ['__name__'], regex: 'go_.*', action: 'drop' }]
    const body = 'go_a 1\ngo_b 1\nx{l="long enough"} 1\n'
    const limits = { sample_limit: 1, label_limit: 4 }
    assert.match((await scrape({ ...limits, metric_relabel_configs: rules }, body)).text, /^x\{/)
    const tooMany = await scrape(
      { sample_limit: 2, metric_relabel_configs: [{ regex: 'y', action: 'labeldrop' }] },
      body,
    )
    assert.equal(tooMany.text, '# failed\n')
    assert.match(tooMany.report, /^scrape_samples_scraped\{.*\} 3$/m)
    assert.match(tooMany.host.logged.join(), /there are 3 samples, sample_limit is 2/)
    const tooLong = await scrape({ label_value_length_limit: 5, metric_relabel_configs: rules }, body)
    assert.match(tooLong.host.logged.join(), /"long enough" is longer than label_value_length_limit, 5/)
    const shortened = [{ regex: 'l', action: 'labeldrop' }]
    assert.match((await scrape({ label_value_length_limit: 6, metric_relabel_configs: shortened }, body)).text, /^go_a/)
  })

  const sizes: [limit: string | number, isEnough: boolean][] = [
    ['1KB', true],
    ['1KiB', true],
    [1023, false],
    ['0', true],
  ]
  for (const [limit, isEnough] of sizes) {
    it(`takes a body of 1024 bytes ${isEnough ? '' : 'for too large '}with a limit of ${limit}`, async () => {
      const body = `x 1\n${'#'.repeat(1019)}\n`
      assert.equal((await scrape({ body_size_limit: String(limit) }, body)).text !== '# failed\n', isEnough)
    })
  }

  it('takes OpenMetrics to the letter if told to', async () => {
    const { host, texts } = start({}, { strict: true })
    host.network.answer('http://a:1/metrics', { body: 'x 1\n', contentType: 'application/openmetrics-text' })
    await host.clock.advance(0)
    assert.equal(texts()[0], '# failed\n')
  })

  it('finds targets by files, the DNS and URLs', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'gpucol-'))
    writeFileSync(join(folder, 'a.json'), '[{"targets":["file:1"]}]')
    const { host, receiver } = start(
      {
        static_configs: [],
        file_sd_configs: [{ files: [join(folder, '*.json')] }],
        dns_sd_configs: [{ names: ['n'], type: 'A', port: 2 }],
        http_sd_configs: [{ url: 'http://inventory/', bearer_token: 't', refresh_interval: '30s' }],
      },
      {
        prepare(network) {
          network.name('n', 'A', [{ host: '10.0.0.1' }])
          network.answer('http://inventory/', { body: '[{"targets":["http:3"]}]', contentType: 'application/json' })
        },
      },
    )
    await host.clock.advance(0)
    rmSync(folder, { recursive: true })
    assert.equal(host.network.requests[0]!.headers!['authorization'], 'Bearer t')
    assert.deepEqual(
      receiver.targets!().active.map(({ url }) => url),
      ['http://file:1/metrics', 'http://10.0.0.1:2/metrics', 'http://http:3/metrics'],
    )
    await receiver.stop!(0)
  })

  const mistakes: [what: string, jobs: Job | readonly Job[], path: (string | number)[], message: RegExp][] = [
    ['a name twice', [{}, {}], ['scrape_configs', 1, 'job_name'], /there is a job "job" already/],
    [
      'a timeout that is too long',
      { scrape_interval: '5s', scrape_timeout: '6s' },
      ['scrape_configs', 0, 'scrape_timeout'],
      /"6s" is longer/,
    ],
    ['no interval', { scrape_interval: '0' }, ['scrape_configs', 0, 'scrape_interval'], /above 0/],
    [
      'a URL as target',
      { static_configs: [{ targets: ['a:1', 'http://b'] }] },
      ['scrape_configs', 0, 'static_configs', 0, 'targets', 1],
      /"http:\/\/b" is no host:port/,
    ],
    [
      'a bad rule',
      { relabel_configs: [{ action: 'replace' }] },
      ['scrape_configs', 0, 'relabel_configs', 0],
      /target_label/,
    ],
    [
      'a bad rule for series',
      { metric_relabel_configs: [{ regex: '(', action: 'labeldrop' }] },
      ['scrape_configs', 0, 'metric_relabel_configs', 0, 'regex'],
      /bad regular expression/,
    ],
    [
      'two ways to say who it is',
      { basic_auth: { username: 'u' }, bearer_token: 't' },
      ['scrape_configs', 0, 'bearer_token'],
      /there is `basic_auth` already/,
    ],
    [
      'a password twice',
      { basic_auth: { username: 'u', password: 'p', password_file: 'f' } },
      ['scrape_configs', 0, 'basic_auth', 'password_file'],
      /there is `password` already/,
    ],
    ['a certificate alone', { tls_config: { cert: 'c' } }, ['scrape_configs', 0, 'tls_config'], /needs its `key`/],
    [
      'addresses without port',
      { dns_sd_configs: [{ names: ['n'], type: 'A' }] },
      ['scrape_configs', 0, 'dns_sd_configs', 0, 'type'],
      /`port` is needed/,
    ],
    [
      'a file of another kind',
      { file_sd_configs: [{ files: ['a.txt'] }] },
      ['scrape_configs', 0, 'file_sd_configs', 0, 'files', 0],
      /does not end in/,
    ],
    [
      'no time between requests',
      { http_sd_configs: [{ url: 'http://a', refresh_interval: '0' }] },
      ['scrape_configs', 0, 'http_sd_configs', 0, 'refresh_interval'],
      /above 0/,
    ],
  ]
  for (const [what, jobs, path, message] of mistakes) {
    it(`refuses ${what}`, () => {
      const scrape_configs = [jobs].flat().map(job => ({ job_name: 'job', ...job }))
      const problems = prometheus.check!(configOf(prometheus, { config: { scrape_configs } }))
      assert.deepEqual(
        problems.map(problem => problem.path),
        [['config', ...path]],
      )
      assert.match(problems[0]!.message, message)
    })
  }
})
