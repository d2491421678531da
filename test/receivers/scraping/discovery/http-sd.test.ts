import assert from 'node:assert/strict'
import type { Answer } from '../../../../pipeline/http/virtual-network.ts'
import { createCredentials, type CredentialsConfig } from '../../../../pipeline/http/credentials.ts'
import type { DiscoveredTarget } from '../../../../receivers/scraping/discovery/discovery.ts'
import { createHttpDiscovery } from '../../../../receivers/scraping/discovery/http-sd.ts'
import { testHost } from '../../../support/test-host.ts'

const URL_SD = 'http://inventory/targets'
const JSON_TYPE = 'application/json; charset=utf-8'

describe('targets from a URL', () => {
  function discover(answer: Answer, credentials: CredentialsConfig = {}, followRedirects = true) {
    const host = testHost()
    const updates: (readonly DiscoveredTarget[])[] = []
    host.network.answer(URL_SD, answer)
    const discovery = createHttpDiscovery(
      {
        url: URL_SD,
        refreshMs: 60_000,
        headers: { 'x-team': 'gpu' },
        credentials: createCredentials(credentials, host.clock),
        followRedirects,
      },
      host,
    )
    discovery.start(targets => updates.push(targets))
    const addresses = (): string[][] =>
      updates.splice(0).map(targets => targets.map(({ labels }) => labels.get('__address__')!))
    return { host, discovery, updates, addresses }
  }
  const groups = (...targets: string[]): Answer => ({
    contentType: JSON_TYPE,
    body: JSON.stringify([{ targets, labels: { rack: 'b' } }]),
  })

  it('are asked for at every interval', async () => {
    const { host, updates } = discover(groups('a', 'b'), { authorization: { type: 'Bearer', credentials: 'secret' } })
    await host.clock.advance(0)
    assert.deepEqual(
      updates[0]!.map(({ labels }) => Object.fromEntries(labels)),
      [
        { __address__: 'a', __meta_url: URL_SD, rack: 'b' },
        { __address__: 'b', __meta_url: URL_SD, rack: 'b' },
      ],
    )
    const { headers, timeoutMs } = host.network.requests[0]!
    assert.equal(headers!['accept'], 'application/json')
    assert.equal(headers!['x-prometheus-refresh-interval-seconds'], '60')
    assert.equal(headers!['authorization'], 'Bearer secret')
    assert.equal(headers!['x-team'], 'gpu')
    assert.equal(timeoutMs, 30_000)

    await host.clock.advance(120_000)
    assert.equal(host.network.requests.length, 3)
    assert.equal(updates.length, 1)
    host.network.answer(URL_SD, groups('b', 'c'))
    await host.clock.advance(60_000)
    assert.equal(updates[1]![0], updates[0]![1])
  })

  it('may be none', async () => {
    const { host, addresses } = discover(groups('a'))
    await host.clock.advance(0)
    host.network.answer(URL_SD, { contentType: JSON_TYPE, body: '[]' })
    await host.clock.advance(60_000)
    assert.deepEqual(addresses(), [['a'], []])
  })

  const failures: [what: string, answer: Answer, message: RegExp][] = [
    ['a refused connection', { error: 'refused' }, /refused/],
    ['no answer', { error: 'timeout' }, /timed out after 30s/],
    ['another status', { status: 404, body: '' }, /status 404/],
    ['another type', { contentType: 'text/html', body: '[]' }, /Content-Type is "text\/html"/],
    ['no JSON', { contentType: JSON_TYPE, body: '[' }, /JSON/],
    ['other JSON', { contentType: JSON_TYPE, body: '[{"targets":[1]}]' }, /a target of group 1 is no text/],
    ['a loop', { status: 302, headers: { location: URL_SD } }, /redirects more than 10 times/],
  ]
  for (const [what, answer, message] of failures) {
    it(`stay as they were after ${what}`, async () => {
      const { host, addresses } = discover(groups('a'))
      await host.clock.advance(0)
      host.network.answer(URL_SD, answer)
      await host.clock.advance(180_000)
      assert.deepEqual(addresses(), [['a']])
      assert.equal(host.logged.length, 1)
      assert.match(host.logged[0]!, /^failing http:\/\/inventory\/targets: the targets stay as they were: /)
      assert.match(host.logged[0]!, message)
    })
  }

  it('are found where one is redirected to, if that is wanted', async () => {
    const redirect: Answer = { status: 302, headers: { location: '/other' } }
    const following = discover(redirect)
    following.host.network.answer('http://inventory/other', groups('a'))
    await following.host.clock.advance(0)
    assert.deepEqual(following.addresses(), [['a']])
    const staying = discover(redirect, {}, false)
    await staying.host.clock.advance(0)
    assert.match(staying.host.logged[0]!, /status 302/)
  })

  it('wait for credentials that cannot be read', async () => {
    const { host, addresses } = discover(groups('a'), {
      authorization: { type: 'Bearer', credentials_file: '/nowhere' },
    })
    await host.clock.advance(0)
    assert.match(host.logged[0]!, /cannot read "\/nowhere"/)
    assert.deepEqual(addresses(), [])
  })

  it('are not asked for after the end', async () => {
    const { host, discovery, updates } = discover(groups('a'))
    discovery.stop()
    discovery.stop()
    await host.clock.advance(300_000)
    assert.deepEqual(updates, [])
    assert.equal(host.network.requests.length, 1)
  })
})
