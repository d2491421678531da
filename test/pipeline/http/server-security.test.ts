import assert from 'node:assert/strict'
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createSystemClock } from '../../../pipeline/clock/system-clock.ts'
import type { Listener, TlsOptions } from '../../../pipeline/component.ts'
import { createNetwork } from '../../../pipeline/http/network.ts'
import { createServerSecurity, type ServerSecurityConfig } from '../../../pipeline/http/server-security.ts'
import { testHost } from '../../support/test-host.ts'
import { recordResponse, type Recorded } from './record-response.ts'
import { createTestAuthority, type TestCertificate } from './test-certificates.ts'

describe('the security of a listener', () => {
  const clock = createSystemClock()
  const { log, logged } = testHost()
  const listeners: Listener[] = []
  let folder: string

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'gpucol-'))
    logged.length = 0
  })
  afterEach(async () => {
    await Promise.all(listeners.splice(0).map(listener => listener.close(clock.monotonic())))
    rmSync(folder, { recursive: true })
  })

  function file(name: string, text: string): string {
    const path = join(folder, name)
    // As those do it that replace secrets: nobody ever sees half a file.
    writeFileSync(`${path}.new`, text)
    renameSync(`${path}.new`, path)
    return path
  }

  function pair({ cert, key }: TestCertificate): { cert_file: string; key_file: string } {
    return { cert_file: file('cert.pem', cert), key_file: file('key.pem', key) }
  }

  /** Each question on a connection of its own. */
  async function listen(config: ServerSecurityConfig) {
    const network = createNetwork(clock)
    const listener = await network.listen(
      '127.0.0.1:0',
      (_, response) => response.end('in'),
      () => createServerSecurity(config, log),
    )
    listeners.push(listener)
    const scheme = config.tls === undefined ? 'http' : 'https'
    return async (headers: Record<string, string> = {}, tls?: TlsOptions): Promise<Recorded> => {
      const client = createNetwork(clock)
      const request = { url: `${scheme}://${listener.address}/`, headers, ...(tls && { tls }) }
      const recorded = await recordResponse(client, request)
      await client.close()
      return recorded
    }
  }

  const basic = (user: string, password: string) => ({
    authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`,
  })

  it('lets in who knows user name and password', async () => {
    const ask = await listen({ basic_auth: { username: 'scraper', password: 'päss:word' } })
    assert.equal((await ask(basic('scraper', 'päss:word'))).body, 'in')
    for (const headers of [{}, basic('scraper', 'password'), basic('other', 'päss:word'), { authorization: 'Basic' }]) {
      const refused = await ask(headers)
      assert.equal(refused.status, 401)
      assert.equal(refused.body, 'not authorized\n')
      assert.equal(refused.headers.get('www-authenticate'), 'Basic realm="gpucol", charset="UTF-8"')
    }
  })

  it('lets in who has a token; beside a password either is enough', async () => {
    const ask = await listen({
      basic_auth: { username: 'scraper', password: 'secret' },
      authorization: { type: 'Bearer', credentials: 'abc' },
    })
    for (const headers of [
      { authorization: 'Bearer abc' },
      { authorization: 'bearer  abc ' },
      basic('scraper', 'secret'),
    ]) {
      assert.equal((await ask(headers)).status, 200)
    }
    const refused = await ask({ authorization: 'Bearer secret' })
    assert.equal(refused.status, 401)
    assert.match(refused.headers.get('www-authenticate')!, /^Basic .*, Bearer realm="gpucol"$/)
    assert.equal((await ask({ authorization: 'Basic abc' })).status, 401)
  })

  it('reads secrets again when their file is replaced, and takes each line of it', async () => {
    const credentials_file = file('tokens', 'old\n')
    const ask = await listen({ authorization: { type: 'Bearer', credentials_file } })
    const statuses = async (): Promise<number[]> => [
      (await ask({ authorization: 'Bearer old' })).status,
      (await ask({ authorization: 'Bearer new' })).status,
    ]
    assert.deepEqual(await statuses(), [200, 401])
    file('tokens', 'old\nnew\n')
    assert.deepEqual(await statuses(), [200, 200])
    file('tokens', 'new')
    assert.deepEqual(await statuses(), [401, 200])
    file('tokens', '\n')
    assert.deepEqual(await statuses(), [401, 200], 'an empty file lets nobody in and locks nobody out')
    rmSync(credentials_file)
    assert.deepEqual(await statuses(), [401, 200])
    assert.deepEqual(
      logged.filter(line => !line.startsWith('info')),
      [`failing ${credentials_file}: "${credentials_file}" is empty; what was read before counts`],
    )
    file('tokens', 'newer\n')
    assert.deepEqual(await statuses(), [401, 401])
    assert.equal(logged.at(-1), `ok ${credentials_file}`)
  })

  it('shows a new certificate as soon as it is there, without letting the port go', async () => {
    const first = createTestAuthority('first')
    const second = createTestAuthority('second')
    const files = pair(first.issue('server', { addresses: ['127.0.0.1'] }))
    const ask = await listen({ tls: files })
    assert.equal((await ask({}, { ca: first.cert })).body, 'in')
    assert.match((await ask({}, { ca: second.cert })).error!, /is not trusted/)

    const next = second.issue('server', { addresses: ['127.0.0.1'] })
    file('cert.pem', next.cert)
    assert.equal((await ask({}, { ca: first.cert })).body, 'in', 'the key is not that of the certificate yet')
    assert.match(
      logged.at(-1)!,
      /^failing .*cert\.pem", ".*key\.pem" cannot be used for TLS: .*; what was read before counts$/,
    )
    file('key.pem', next.key)
    assert.equal((await ask({}, { ca: second.cert })).body, 'in')
    assert.match((await ask({}, { ca: first.cert })).error!, /is not trusted/)
    assert.equal(logged.at(-1), `ok ${files.cert_file}`)
  })

  it('asks clients for a certificate of an authority that can be replaced', async () => {
    const authority = createTestAuthority('server authority')
    const clients = createTestAuthority('client authority')
    const others = createTestAuthority('other authority')
    const tls = {
      ...pair(authority.issue('server', { addresses: ['127.0.0.1'] })),
      client_ca_file: file('ca.pem', clients.cert),
    }
    const ask = await listen({ tls })
    const asked = async (client?: TestCertificate): Promise<boolean> =>
      (await ask({}, { ca: authority.cert, ...client })).body === 'in'
    const [known, unknown] = [clients.issue('prometheus'), others.issue('prometheus')]
    assert.deepEqual([await asked(), await asked(known), await asked(unknown)], [false, true, false])
    file('ca.pem', others.cert)
    assert.deepEqual([await asked(), await asked(known), await asked(unknown)], [false, false, true])
  })

  it('does not begin with files that cannot be used', async () => {
    const { cert } = createTestAuthority('a').issue('a')
    const { key } = createTestAuthority('b').issue('b')
    const missing = join(folder, 'missing')
    const cases: [ServerSecurityConfig, RegExp][] = [
      [{ tls: pair({ cert, key }) }, /key\.pem" cannot be used for TLS: .*key values mismatch/],
      [{ tls: { cert_file: missing, key_file: missing } }, /^cannot read ".*missing": ENOENT/],
      [{ basic_auth: { username: 'a', password_file: missing } }, /^cannot read ".*missing": ENOENT/],
      [{ authorization: { type: 'Bearer', credentials_file: file('empty', '') } }, /empty" is empty$/],
    ]
    for (const [config, message] of cases) await assert.rejects(listen(config), { message })
  })
})
