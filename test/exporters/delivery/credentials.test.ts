import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { checkPushConfig } from '../../../exporters/delivery/push-config.ts'
import type { NetworkRequest } from '../../../pipeline/component.ts'
import { accept, answerWith, points, PUSH_URL, pushConfig, startPush, stopPush } from '../../support/pushing.ts'
import type { TestHost } from '../../support/test-host.ts'

describe('what a destination is shown', () => {
  let folder: string
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'gpucol-credentials-'))
  })
  afterEach(() => rm(folder, { recursive: true }))

  /** The request that one batch makes. */
  async function requestWith(given: object): Promise<NetworkRequest> {
    const { host, push } = await startPush(given)
    push.consume(points(1))
    await host.clock.advance(200)
    await stopPush(host, push)
    return host.network.requests[0]!
  }

  it('headers, and those whose values stand in files, which are read again', async () => {
    const file = join(folder, 'key')
    await writeFile(file, 'first\n')
    const { host, push } = await startPush({ headers: { 'Api-Key': 'k' }, headers_files: { 'X-Token': file } })
    push.consume(points(1))
    await host.clock.advance(200)
    await writeFile(file, 'second\n')
    await host.clock.advance(10_000)
    push.consume(points(1))
    await host.clock.advance(200)
    const seen = host.network.requests.map(({ headers }) => [headers!['api-key'], headers!['x-token']])
    assert.deepEqual(seen, [
      ['k', 'first'],
      ['k', 'second'],
    ])
    await stopPush(host, push)
  })

  it('nothing while a file cannot be read: the points wait', async () => {
    const file = join(folder, 'key')
    const { host, push, destination } = await startPush({ headers_files: { 'X-Token': file } })
    push.consume(points(1))
    await host.clock.advance(200)
    assert.equal(host.network.requests.length, 0)
    assert.match(host.logged[0]!, new RegExp(`^failing ${PUSH_URL}: cannot read "${file}": `))
    await writeFile(file, 'there')
    await host.clock.advance(30_000)
    assert.equal(destination.taken.length, 1)
    await stopPush(host, push)
  })

  it('a user and a password', async () => {
    const { headers } = await requestWith({ basic_auth: { username: 'me', password: 'secret' } })
    assert.equal(headers!['authorization'], `Basic ${Buffer.from('me:secret').toString('base64')}`)
  })

  it('a bearer token from a file', async () => {
    await writeFile(join(folder, 'token'), 'abc\n')
    const { headers } = await requestWith({ authorization: { credentials_file: join(folder, 'token') } })
    assert.equal(headers!['authorization'], 'Bearer abc')
  })

  it('a certificate, through a proxy', async () => {
    for (const name of ['ca', 'cert', 'key']) await writeFile(join(folder, name), `${name} in PEM\n`)
    const { tls, proxyUrl } = await requestWith({
      tls: { ca_file: join(folder, 'ca'), cert_file: join(folder, 'cert'), key_file: join(folder, 'key') },
      proxy_url: 'http://proxy.test:3128',
    })
    assert.deepEqual(tls, { ca: 'ca in PEM', cert: 'cert in PEM', key: 'key in PEM', insecureSkipVerify: false })
    assert.equal(proxyUrl, 'http://proxy.test:3128')
  })

  describe('by OAuth 2.0', () => {
    const TOKEN_URL = 'https://login.test/token'
    const oauth2 = {
      client_id: 'us:er',
      client_secret: 'geheim&',
      token_url: TOKEN_URL,
      scopes: ['metrics.write', 'more'],
      endpoint_params: { audience: 'telemetry' },
    }

    /** Tokens `t1`, `t2` and so on, each for an hour. */
    function serveTokens(host: TestHost, expires: object = { expires_in: 3600 }): NetworkRequest[] {
      const asked: NetworkRequest[] = []
      host.network.serve(TOKEN_URL, (request, response) => {
        asked.push(request)
        const token = { access_token: `t${asked.length}`, token_type: 'bearer', ...expires }
        answerWith(response, 200, { 'content-type': 'application/json' }, JSON.stringify(token))
      })
      return asked
    }
    const shown = (host: TestHost): (string | undefined)[] =>
      host.network.requests.filter(({ url }) => url === PUSH_URL).map(({ headers }) => headers!['authorization'])

    it('a token that is fetched once, however many requests there are, and again before it ends', async () => {
      const { host, push } = await startPush({ oauth2 }, { maxPoints: 1 })
      const asked = serveTokens(host)
      push.consume(points(5))
      await host.clock.advance(1000)
      assert.deepEqual(
        shown(host),
        Array.from({ length: 5 }, () => 'Bearer t1'),
      )
      assert.equal(asked.length, 1)
      const { method, headers, body } = asked[0]!
      assert.equal(method, 'POST')
      assert.equal(headers!['authorization'], `Basic ${Buffer.from('us%3Aer:geheim%26').toString('base64')}`)
      assert.equal(
        Buffer.from(body!).toString(),
        'grant_type=client_credentials&audience=telemetry&scope=metrics.write+more',
      )
      await host.clock.advance(3_600_000 - 300_000)
      push.consume(points(1))
      await host.clock.advance(1000)
      assert.equal(shown(host).at(-1), 'Bearer t2')
      await stopPush(host, push)
    })

    it('a new token where the one it has is not taken any more, once', async () => {
      const { host, push, destination } = await startPush({ oauth2 }, { maxPoints: 1 })
      serveTokens(host)
      const taken = new Set(['Bearer t2'])
      host.network.serve(PUSH_URL, ({ headers }, response) => {
        if (taken.has(headers!['authorization']!)) accept(response)
        else answerWith(response, 401)
      })
      push.consume(points(1))
      await host.clock.advance(1000)
      assert.deepEqual(shown(host), ['Bearer t1', 'Bearer t2'])
      assert.equal(host.counted.get('gpucol_exporter_sent_metric_points'), 1)
      taken.clear()
      push.consume(points(1))
      await host.clock.advance(1000)
      assert.deepEqual(shown(host).slice(2), ['Bearer t2', 'Bearer t3'])
      // By the rules of the protocol this is for ever.
      assert.equal(host.counted.get('gpucol_exporter_send_failed_metric_points{reason="refused"}'), 1)
      assert.deepEqual(destination.taken, [])
      await stopPush(host, push)
    })

    it('nothing while there is no token: the points wait, and it says why', async () => {
      const { host, push, destination } = await startPush({ oauth2 })
      const error = { error: 'invalid_client', error_description: 'unknown client' }
      host.network.answer(TOKEN_URL, { status: 401, body: JSON.stringify(error) })
      push.consume(points(1))
      await host.clock.advance(1000)
      assert.deepEqual(host.logged, [
        `failing ${PUSH_URL}: no token from ${TOKEN_URL}: it answered 401 (invalid_client: unknown client)`,
      ])
      const token = { access_token: 'good' }
      host.network.answer(TOKEN_URL, { body: JSON.stringify(token) })
      await host.clock.advance(30_000)
      assert.equal(destination.taken.length, 1)
      assert.deepEqual(shown(host), ['Bearer good'])
      await stopPush(host, push)
    })

    it('a secret from a file, read again for each token', async () => {
      const file = join(folder, 'secret')
      await writeFile(file, 'one\n')
      const { client_secret: _, ...rest } = oauth2
      const { host, push } = await startPush({ oauth2: { ...rest, client_secret_file: file } })
      const asked = serveTokens(host, { expires_in: 60 })
      // Files are read by another thread, which the virtual clock does not see.
      const settle = async (): Promise<void> => {
        const count = asked.length
        push.consume(points(1))
        await host.clock.advance(200)
        while (asked.length === count) {
          await new Promise(resolve => setImmediate(resolve))
          await host.clock.advance(0)
        }
        await host.clock.advance(0)
      }
      await settle()
      await writeFile(file, 'two\n')
      await host.clock.advance(60_000)
      await settle()
      const secrets = asked.map(({ headers }) =>
        Buffer.from(headers!['authorization']!.slice(6), 'base64').toString().split(':').at(-1),
      )
      assert.deepEqual(secrets, ['one', 'two'])
      await stopPush(host, push)
    })
  })

  const problems: [object, string][] = [
    [{ timeout: '0s' }, 'the timeout must be above 0'],
    [{ retry_on_failure: { initial_interval: '0s' } }, 'the interval must be above 0'],
    [{ retry_on_failure: { max_interval: '1s' } }, 'the max_interval "1s" is shorter than the initial_interval "5s"'],
    [{ sending_queue: { max_bytes: '0' } }, 'must be above 0, or nothing could ever be sent'],
    [
      { basic_auth: { username: 'a' }, authorization: { credentials: 'b' } },
      'there is basic_auth already: a request has one of the two',
    ],
    [
      { oauth2: { token_url: 'https://x.test', client_id: 'a' } },
      'oauth2 needs client_secret or client_secret_file, one of the two',
    ],
    [{ headers: { 'X-A': '1' }, headers_files: { 'x-a': 'file' } }, '"x-a" is in headers already'],
  ]
  for (const [given, message] of problems) {
    it(`is checked: ${message}`, () => {
      assert.deepEqual(
        checkPushConfig(pushConfig(given)).map(problem => problem.message),
        [message],
      )
    })
  }
})
