/** Scrapes over real connections: who one is, whom one trusts, where one is sent, how much one takes. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type RequestListener, type Server } from 'node:http'
import { createServer as createTlsServer, type ServerOptions } from 'node:https'
import { connect, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { createSystemClock } from '../../../pipeline/clock/system-clock.ts'
import { createNetwork, type SystemNetwork } from '../../../pipeline/http/network.ts'
import { labelsFrom } from '../../../pipeline/model/labels.ts'
import { scrapeOptions, type ScrapeConfig } from '../../../receivers/scraping/scrape-config.ts'
import { createTarget, type Target } from '../../../receivers/scraping/target.ts'
import { createTestAuthority } from '../../pipeline/http/test-certificates.ts'
import { scrapeConfig } from '../../support/scrape-config.ts'
import { testHost } from '../../support/test-host.ts'

type Status = ReturnType<Target['status']>

const TEXT = { 'content-type': 'text/plain' }
const clock = createSystemClock()

describe('scraping over HTTP', () => {
  const authority = createTestAuthority('authority')
  const good = authority.issue('target', { addresses: ['127.0.0.1'] })
  const servers: Server[] = []
  let network: SystemNetwork
  let folder: string

  before(() => (folder = mkdtempSync(join(tmpdir(), 'gpucol-'))))
  after(() => rmSync(folder, { recursive: true }))
  beforeEach(() => (network = createNetwork(clock)))
  afterEach(async () => {
    await network.close()
    for (const server of servers.splice(0)) {
      server.closeAllConnections()
      server.close()
    }
  })

  function file(name: string, text: string): string {
    writeFileSync(join(folder, name), text)
    return join(folder, name)
  }

  async function listen(server: Server): Promise<string> {
    servers.push(server)
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    return `127.0.0.1:${(server.address() as AddressInfo).port}`
  }

  const serve = (handle: RequestListener): Promise<string> => listen(createServer(handle))
  const serveTls = (options: ServerOptions): Promise<string> =>
    listen(createTlsServer({ ...good, ...options }, (_, response) => response.writeHead(200, TEXT).end('a 1\n')))

  /** The target after one scrape. */
  async function scrape(url: string, changes: Partial<ScrapeConfig> = {}): Promise<Status> {
    const host = testHost({ clock, network })
    const options = scrapeOptions(scrapeConfig(changes), host)
    const labels = labelsFrom([
      ['instance', 'a'],
      ['job', 'b'],
    ])
    return new Promise(resolve => {
      const target = createTarget(
        { url, labels, timeoutMs: 10_000 },
        { ...options, fallback: 'text', emptyIsFailure: false },
        host,
        ({ layout }) => {
          if (layout.metrics[0]?.name === 'up') resolve(target.status())
        },
      )
      target.scrape()
    })
  }

  function isUp(target: Status): void {
    assert.equal(target.lastScrape!.error, undefined)
    assert.equal(target.state, 'up')
  }
  function isDown(target: Status, error: RegExp): void {
    assert.equal(target.state, 'down')
    assert.match(target.lastScrape!.error!, error)
  }

  it('says who it is', async () => {
    const address = await serve(({ headers }, response) => {
      const isKnown = [`Basic ${btoa('u:p')}`, 'Bearer token'].includes(headers.authorization ?? '')
      response.writeHead(isKnown ? 200 : 401, TEXT).end('a 1\n')
    })
    isUp(await scrape(`http://${address}`, { basic_auth: { username: 'u', password: 'p' } }))
    isUp(await scrape(`http://${address}`, { basic_auth: { username: 'u', password_file: file('password', 'p\n') } }))
    isUp(await scrape(`http://u:p@${address}`))
    const credentials_file = file('token', 'token\n')
    isUp(await scrape(`http://${address}`, { authorization: { type: 'Bearer', credentials_file } }))
    isDown(await scrape(`http://${address}`), /status 401/)
    isDown(await scrape(`http://${address}`, { basic_auth: { username: 'u', password: 'q' } }), /status 401/)
  })

  it('shows no password in the URL of a target', async () => {
    const address = await serve((_, response) => response.writeHead(200, TEXT).end('a 1\n'))
    assert.equal((await scrape(`http://u:p@${address}`)).url, `http://${address}/`)
  })

  it('trusts whom it is told to', async () => {
    const address = await serveTls({})
    const tls = { ca_file: file('ca.pem', authority.cert), insecure_skip_verify: false }
    isUp(await scrape(`https://${address}`, { tls }))
    isUp(await scrape(`https://${address}`, { tls: { insecure_skip_verify: true } }))
    const other = await serveTls(authority.issue('x', { names: ['gpu.example'] }))
    isUp(await scrape(`https://${other}`, { tls: { ...tls, server_name_override: 'gpu.example' } }))
  })

  it('says why it does not trust', async () => {
    const tls = { ca_file: file('ca.pem', authority.cert), insecure_skip_verify: false }
    isDown(await scrape(`https://${await serveTls({})}`), /the certificate of .* is not trusted: unable to verify/)
    const others = authority.issue('x', { names: ['other.example'] })
    isDown(await scrape(`https://${await serveTls(others)}`, { tls }), /is not trusted: .*127\.0\.0\.1/)
    const expired = authority.issue('x', { addresses: ['127.0.0.1'], expired: true })
    isDown(await scrape(`https://${await serveTls(expired)}`, { tls }), /is not trusted: certificate has expired/)
    const plain = await serve((_, response) => response.end())
    isDown(await scrape(`https://${plain}`, { tls }), /does not speak TLS/)
    const broken = { ...tls, ca_file: file('broken.pem', 'no certificate') }
    isDown(await scrape(`https://${await serveTls({})}`, { tls: broken }), /./)
  })

  it('shows its own certificate where one is wanted', async () => {
    const address = await serveTls({ ca: authority.cert, requestCert: true, rejectUnauthorized: true })
    const ca_file = file('ca.pem', authority.cert)
    const own = authority.issue('client')
    const files = { cert_file: file('cert.pem', own.cert), key_file: file('key.pem', own.key) }
    isUp(await scrape(`https://${address}`, { tls: { ca_file, ...files, insecure_skip_verify: false } }))
    isDown(
      await scrape(`https://${address}`, { tls: { ca_file, insecure_skip_verify: false } }),
      /certificate|reset|closed/,
    )
  })

  it('goes through a proxy', async () => {
    const address = await serveTls({})
    const asked: string[] = []
    const proxy = createServer().on('connect', ({ url }, client) => {
      asked.push(url!)
      const [host, port] = url!.split(':') as [string, string]
      const upstream = connect(Number(port), host, () => {
        client.write('HTTP/1.1 200 OK\r\n\r\n')
        client.pipe(upstream).pipe(client)
      })
      upstream.on('error', () => client.destroy())
      client.on('error', () => upstream.destroy())
    })
    const proxy_url = `http://${await listen(proxy)}`
    isUp(await scrape(`https://${address}`, { proxy_url, tls: { insecure_skip_verify: true } }))
    assert.deepEqual(asked, [address])
    const dead = await serve(() => {})
    servers.pop()!.close()
    isDown(await scrape(`http://${address}`, { proxy_url: `http://${dead}` }), /connection refused by/)
  })

  it('goes where it is sent, but not in circles', async () => {
    const target = await serve((_, response) => response.writeHead(200, TEXT).end('a 1\nb 2\n'))
    const asked: string[] = []
    const address = await serve(({ url }, response) => {
      asked.push(url!)
      const location = url === '/elsewhere' ? `http://${target}/` : url === '/near' ? 'elsewhere' : '/circle'
      response.writeHead(302, { location }).end('moved')
    })
    const found = await scrape(`http://${address}/near`)
    isUp(found)
    assert.equal(found.lastScrape!.samples, 2)
    assert.deepEqual(asked.splice(0), ['/near', '/elsewhere'])
    isDown(await scrape(`http://${address}/circle`), /redirects more than 10 times/)
    assert.equal(asked.splice(0).length, 11)
    isDown(await scrape(`http://${address}/circle`, { follow_redirects: false }), /status 302/)
    assert.equal(asked.length, 1)
  })

  it('asks for gzip if told to, and takes it also unasked', async () => {
    const asked: string[] = []
    const address = await serve(({ headers }, response) => {
      asked.push(String(headers['accept-encoding']))
      response.writeHead(200, { ...TEXT, 'content-encoding': 'gzip' }).end(gzipSync('a 1\n'.repeat(3)))
    })
    const samples = async (changes: Partial<ScrapeConfig>): Promise<number> => {
      const target = await scrape(`http://${address}`, changes)
      isUp(target)
      return target.lastScrape!.samples
    }
    assert.equal(await samples({ enable_compression: true }), 3)
    assert.equal(await samples({}), 3)
    assert.deepEqual(asked, ['gzip', 'identity'])
  })

  const limits: [changes: Partial<ScrapeConfig>, error: RegExp][] = [
    [{ body_size_limit: '1KiB' }, /the body is larger than body_size_limit, 1024 bytes/],
    [{ body_size_limit: '1KiB', enable_compression: true }, /the body is larger than body_size_limit, 1024 bytes/],
    [{ sample_limit: 10 }, /there are 20 samples, sample_limit is 10/],
    [{ label_limit: 3 }, /a series has 4 labels, label_limit is 3/],
    [{ label_name_length_limit: 7 }, /"instance" is longer than label_name_length_limit, 7/],
    [{ label_value_length_limit: 20 }, /"x{50}\.\.\." is longer than label_value_length_limit, 20/],
  ]
  for (const [changes, error] of limits) {
    it(`takes no more than ${JSON.stringify(changes)}`, async () => {
      const lines = Array.from({ length: 20 }, (_, i) => `a{b="${'x'.repeat(80)}${i}"} 1\n`)
      const address = await serve(({ headers }, response) => {
        const isPacked = headers['accept-encoding'] === 'gzip'
        response.writeHead(200, { ...TEXT, ...(isPacked && { 'content-encoding': 'gzip' }) })
        if (isPacked) response.write(gzipSync(lines.join('')))
        else for (const line of lines) response.write(line)
        response.end()
      })
      isDown(await scrape(`http://${address}`, changes), error)
      isUp(await scrape(`http://${address}`))
    })
  }
})
