import assert from 'node:assert/strict'
import type { Extension, ReloadResult, Targets } from '../../../pipeline/component.ts'
import { labelsFrom } from '../../../pipeline/model/labels.ts'
import { web } from '../../../pipeline/server/web.ts'
import { ask } from '../../support/ask.ts'
import { serviceHost } from './service-host.ts'

describe('web', () => {
  let reload: () => Promise<ReloadResult>
  let targets: Map<string, Targets>
  let extension: Extension
  let address: string

  beforeEach(async () => {
    targets = new Map()
    const host = serviceHost({ reload: () => reload(), targets: () => targets, version: '1.2.3 <&>' })
    extension = web.create({ endpoint: '127.0.0.1:0' }, host)
    await extension.start!()
    address = host.addresses[0]!
  })
  afterEach(() => extension.stop!(0))

  it('reloads and says what changed', async () => {
    reload = () => Promise.resolve({ ok: true, changed: ['~ exporter prometheus', '+ exporter debug'] })
    const answer = await ask(address, 'POST /-/reload')
    assert.equal(answer.status, 200)
    assert.deepEqual(JSON.parse(answer.body), {
      status: 'reloaded',
      changed: ['~ exporter prometheus', '+ exporter debug'],
    })
  })

  it('answers a reload of a bad config with what is wrong with it', async () => {
    reload = () => Promise.resolve({ ok: false, error: 'gpucol.yaml:3:5: unknown key "exporter"' })
    const answer = await ask(address, 'POST /-/reload')
    assert.equal(answer.status, 400)
    assert.equal(answer.body, 'gpucol.yaml:3:5: unknown key "exporter"\n')
  })

  it('answers a reload that fails otherwise with why', async () => {
    reload = () => Promise.reject(new Error('out of files'))
    const answer = await ask(address, 'POST /-/reload')
    assert.equal(answer.status, 500)
    assert.equal(answer.body, 'the reload failed: out of files\n')
  })

  it('reloads neither by GET nor for a page of another site', async () => {
    reload = () => assert.fail('reloaded')
    const get = await ask(address, 'GET /-/reload')
    assert.equal(get.status, 405)
    assert.equal(get.headers.allow, 'POST')
    assert.equal((await ask(address, 'POST /-/reload', { origin: 'http://evil.example' })).status, 403)
    assert.equal((await ask(address, 'POST /-/reload', { origin: 'null' })).status, 403)
  })

  it('answers every one of several reloads at the same time', async () => {
    let count = 0
    reload = () => Promise.resolve({ ok: true, changed: [String(++count)] })
    const answers = await Promise.all([1, 2, 3].map(() => ask(address, 'POST /-/reload')))
    const changed = answers.map(answer => (JSON.parse(answer.body) as { changed: string[] }).changed[0])
    assert.deepEqual(new Set(changed), new Set(['1', '2', '3']))
  })

  it('does not wait for the reload that stops it', async () => {
    const stopped = Promise.withResolvers<void>()
    reload = async () => {
      // As the service does: it waits for this extension, which is to answer first. Time stands still, so no deadline helps.
      await extension.stop!(1_000_000)
      stopped.resolve()
      return { ok: true, changed: [] }
    }
    const answer = await ask(address, 'POST /-/reload')
    assert.equal(answer.status, 202)
    await stopped.promise
  })

  describe('/targets', () => {
    beforeEach(() => {
      const labels = labelsFrom([['job', 'dcgm']])
      const lastScrape = { timeMs: 1_700_000_000_000, durationSeconds: 0.0125, samples: 25 }
      targets = new Map([
        [
          'dcgm',
          {
            active: [
              { url: 'http://a:9400/metrics', labels, node: 'a', state: 'up', intervalMs: 15_000, lastScrape },
              {
                url: 'http://b:9400/metrics',
                labels,
                state: 'down',
                intervalMs: 15_000,
                lastScrape: { ...lastScrape, samples: 0, error: 'the body says <b>' },
              },
              { url: 'http://c:9400/metrics', labels, state: 'unknown', intervalMs: 500 },
            ],
            dropped: [{ labels: labelsFrom([['__address__', 'd']]), reason: 'relabel_configs drop it' }],
            droppedCount: 7,
          },
        ],
      ])
    })

    it('says in JSON what is scraped, how that goes, and what is left out', async () => {
      const answer = await ask(address, 'GET /targets', { accept: '*/*' })
      assert.equal(answer.headers['content-type'], 'application/json')
      const common = { receiver: 'dcgm', labels: { job: 'dcgm' } }
      const scrape = { interval_seconds: 15, last_scrape: '2023-11-14T22:13:20.000Z', duration_seconds: 0.0125 }
      assert.deepEqual(JSON.parse(answer.body), {
        targets: [
          { ...common, url: 'http://a:9400/metrics', node: 'a', state: 'up', ...scrape, samples: 25 },
          { ...common, url: 'http://b:9400/metrics', state: 'down', ...scrape, samples: 0, error: 'the body says <b>' },
          { ...common, url: 'http://c:9400/metrics', state: 'unknown', interval_seconds: 0.5 },
        ],
        dropped: [{ receiver: 'dcgm', labels: { __address__: 'd' }, reason: 'relabel_configs drop it' }],
        dropped_count: 7,
      })
    })

    it('is a page for browsers', async () => {
      const accept = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'
      const answer = await ask(address, 'GET /targets', { accept })
      assert.equal(answer.headers['content-type'], 'text/html; charset=utf-8')
      assert.match(answer.body, /3 targets, 1 of them up/)
      assert.match(answer.body, /<td>down<\/td><td>the body says &lt;b&gt;<\/td><td>job=&quot;dcgm&quot;<\/td>/)
      assert.match(answer.body, /7 dropped, the first 1 of them here/)
      assert.match(answer.body, /<td>relabel_configs drop it<\/td><td>__address__=&quot;d&quot;<\/td>/)
    })
  })

  it('lists what there is', async () => {
    const answer = await ask(address, 'GET /')
    assert.equal(answer.headers['content-type'], 'text/html; charset=utf-8')
    assert.match(answer.body, /<h1>gpucol 1\.2\.3 &lt;&amp;&gt;<\/h1>/)
    assert.match(answer.body, /<li>POST \/-\/reload: reads the configuration again<\/li>/)
    assert.match(answer.body, /<a href="\/">/)
    assert.equal((await ask(address, 'GET /nothing')).status, 404)
  })
})
