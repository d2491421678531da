import assert from 'node:assert/strict'
import type { Extension, ReloadResult } from '../../../pipeline/component.ts'
import { web } from '../../../pipeline/server/web.ts'
import { ask } from '../../support/ask.ts'
import { serviceHost } from './service-host.ts'

describe('web', () => {
  let reload: () => Promise<ReloadResult>
  let extension: Extension
  let address: string

  beforeEach(async () => {
    const host = serviceHost({ reload: () => reload(), version: '1.2.3 <&>' })
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

  it('lists what there is', async () => {
    const answer = await ask(address, 'GET /')
    assert.equal(answer.headers['content-type'], 'text/html; charset=utf-8')
    assert.match(answer.body, /<h1>gpucol 1\.2\.3 &lt;&amp;&gt;<\/h1>/)
    assert.match(answer.body, /<li>POST \/-\/reload: reads the configuration again<\/li>/)
    assert.match(answer.body, /<a href="\/">/)
    assert.equal((await ask(address, 'GET /nothing')).status, 404)
  })
})
