/** Exporters that push, over real TLS and through a real proxy. */
import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer as createHttpServer, type IncomingMessage, type Server } from 'node:http'
import { createServer, type ServerOptions } from 'node:https'
import { connect, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TLSSocket } from 'node:tls'
import { stringify } from 'yaml'
import { otlpHttp } from '../../../exporters/otlp-http.ts'
import { prometheusRemoteWrite } from '../../../exporters/prometheus-remote-write.ts'
import { createSystemClock } from '../../../pipeline/clock/system-clock.ts'
import type { Exporter } from '../../../pipeline/component.ts'
import { createNetwork, type SystemNetwork } from '../../../pipeline/http/network.ts'
import { createTestAuthority } from '../../pipeline/http/test-certificates.ts'
import { batchFromText } from '../../support/batch-from-text.ts'
import { configOf } from '../../support/config-of.ts'
import { freePorts, startProcess } from '../../support/gpucol-process.ts'
import { programOrSkip } from '../../support/programs.ts'
import { testHost, type TestHost } from '../../support/test-host.ts'

const DEFINITIONS = { otlp_http: otlpHttp, prometheus_remote_write: prometheusRemoteWrite }

for (const [type, definition] of Object.entries(DEFINITIONS)) {
  describe(`${type} by real connections`, () => {
    const authority = createTestAuthority('us')
    const ofServer = authority.issue('server', { addresses: ['127.0.0.1'] })
    const servers: Server[] = []
    const exporters: { exporter: Exporter; host: TestHost }[] = []
    let folder: string
    let network: SystemNetwork

    beforeEach(async () => {
      folder = await mkdtemp(join(tmpdir(), 'gpucol-tls-'))
      network = createNetwork(createSystemClock())
      await put('ca', authority.cert)
    })
    afterEach(async () => {
      for (const { exporter, host } of exporters.splice(0)) await exporter.stop?.(host.clock.monotonic())
      await network.close()
      for (const server of servers.splice(0)) {
        server.closeAllConnections()
        server.close()
      }
      await rm(folder, { recursive: true })
    })

    const path = (name: string): string => join(folder, name)
    const put = (name: string, text: string): Promise<void> => writeFile(path(name), text)

    async function listen(server: Server): Promise<string> {
      servers.push(server)
      await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
      return `127.0.0.1:${(server.address() as AddressInfo).port}`
    }

    type Destination = {
      address: string
      /** Whom the certificates of clients named, or their tokens. */ seen: string[]
    }

    async function startDestination(options: ServerOptions = {}): Promise<Destination> {
      const seen: string[] = []
      const server = createServer({ ...ofServer, ...options }, (request, response) => {
        const { subject } = (request.socket as TLSSocket).getPeerCertificate()
        seen.push(`${request.method} ${String(subject?.CN ?? '')} ${request.headers.authorization ?? ''}`.trim())
        request.resume().on('end', () => response.writeHead(200).end())
      })
      return { address: await listen(server), seen }
    }

    /** Time is virtual, connections are not. */
    async function start(url: string, config: object = {}): Promise<TestHost> {
      const host = testHost({ network }) as unknown as TestHost
      const given = configOf(definition as typeof otlpHttp, {
        endpoint: url,
        tls: { ca_file: path('ca') },
        retry_on_failure: { initial_interval: '1s', max_interval: '1s', randomization_factor: 0 },
        ...config,
      })
      const exporter = (definition as typeof otlpHttp).create(given, host)
      await exporter.start?.()
      exporters.push({ exporter, host })
      exporter.consume(batchFromText('a 1\n', { timeMs: host.clock.now() }))
      return host
    }

    const sent = ({ counted }: TestHost): number => counted.get('gpucol_exporter_sent_metric_points') ?? 0
    const failures = ({ logged }: TestHost): string[] => logged.filter(line => line.startsWith('failing'))

    async function until(host: TestHost, isTrue: () => boolean): Promise<void> {
      while (!isTrue()) {
        await host.clock.advance(100)
        await new Promise(resolve => setTimeout(resolve, 1))
      }
    }

    it('reaches a server whose authority is given', async () => {
      const { address, seen } = await startDestination()
      const host = await start(`https://${address}`)
      await until(host, () => sent(host) === 1)
      assert.deepEqual(seen, ['POST'])
      assert.deepEqual(failures(host), [])
    })

    it('sends nothing to one of an unknown authority and says so, until the file names it', async () => {
      const { address, seen } = await startDestination()
      await put('ca', createTestAuthority('others').cert)
      const host = await start(`https://${address}`)
      await until(host, () => failures(host).length > 0)
      assert.match(failures(host)[0]!, new RegExp(`the certificate of ${address} is not trusted: unable to verify`))
      assert.deepEqual(seen, [])
      await put('ca', authority.cert)
      await until(host, () => sent(host) === 1)
      assert.equal(host.counted.get('gpucol_exporter_possible_repeat_metric_points'), undefined)
    })

    it('shows its certificate to a server that wants one, and another when the files are replaced', async () => {
      const { address, seen } = await startDestination({ ca: authority.cert, requestCert: true })
      const replace = async (name: string): Promise<void> => {
        const { cert, key } = authority.issue(name)
        await put('cert', cert)
        await put('key', key)
      }
      await replace('first')
      const host = await start(`https://${address}`, {
        tls: { ca_file: path('ca'), cert_file: path('cert'), key_file: path('key') },
      })
      await until(host, () => sent(host) === 1)
      await replace('second')
      await host.clock.advance(10_000)
      exporters[0]!.exporter.consume(batchFromText('a 2\n', { timeMs: host.clock.now() }))
      await until(host, () => sent(host) === 2)
      assert.deepEqual(seen, ['POST first', 'POST second'])
      assert.deepEqual(failures(host), [])
    })

    it('says that a server wants a certificate, or does not trust it', async function () {
      const program = programOrSkip(this, 'prometheus')
      const [port] = (await freePorts(1)) as [number]
      await put('server-cert', ofServer.cert)
      await put('server-key', ofServer.key)
      const security = { cert_file: 'server-cert', key_file: 'server-key', client_ca_file: 'ca' }
      await put(
        'web',
        stringify({ tls_server_config: { ...security, client_auth_type: 'RequireAndVerifyClientCert' } }),
      )
      await put('config', '{}')
      const files = [`--config.file=${path('config')}`, `--web.config.file=${path('web')}`]
      const data = `--storage.tsdb.path=${path('data')}`
      const prometheus = startProcess(program, [...files, data, `--web.listen-address=127.0.0.1:${port}`])
      try {
        await prometheus.until(/Server is ready/)
        const { cert, key } = createTestAuthority('others').issue('stranger')
        await put('cert', cert)
        await put('key', key)
        const tls = { ca_file: path('ca'), cert_file: path('cert'), key_file: path('key') }
        const url = `https://127.0.0.1:${port}`
        const [without, stranger] = [await start(url), await start(url, { tls })]
        await until(without, () => failures(without).length > 0)
        assert.match(failures(without)[0]!, /: 127\.0\.0\.1:\d+ .*asks for (a client certificate|one)$/)
        await until(stranger, () => failures(stranger).length > 0)
        assert.match(failures(stranger)[0]!, /: 127\.0\.0\.1:\d+ does not (accept|trust) the client certificate/)
        for (const host of [without, stranger]) {
          await until(host, () => host.counted.get('gpucol_exporter_request_duration_seconds_count')! > 2)
          assert.equal(host.counted.get('gpucol_exporter_possible_repeat_metric_points'), undefined)
        }
      } finally {
        prometheus.child.kill('SIGKILL')
        await prometheus.ended
      }
    }).timeout(30_000)

    describe('through a proxy', () => {
      type Proxy = { address: string; seen: string[] }

      /** Tunnels for those who name the user and the password. */
      async function startProxy(user?: string): Promise<Proxy> {
        const seen: string[] = []
        const server = createHttpServer((request, response) => {
          seen.push(`${request.method} ${request.url}`)
          request.resume().on('end', () => response.writeHead(200).end())
        })
        server.on('connect', (request: IncomingMessage, socket) => {
          const { 'proxy-authorization': shown } = request.headers
          seen.push(`CONNECT ${request.url}`)
          if (user !== undefined && shown !== `Basic ${Buffer.from(user).toString('base64')}`) {
            socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n')
            return
          }
          const [host = '', port] = request.url!.split(':')
          const onward = connect(Number(port), host, () => {
            socket.write('HTTP/1.1 200 Fine\r\n\r\n')
            onward.pipe(socket).pipe(onward)
          })
          onward.on('error', () => socket.destroy())
          socket.on('error', () => onward.destroy())
        })
        return { address: await listen(server), seen }
      }

      it('reaches the server, and nobody in between can read along', async () => {
        const { address, seen } = await startDestination()
        const proxy = await startProxy()
        const host = await start(`https://${address}`, { proxy_url: `http://${proxy.address}` })
        await until(host, () => sent(host) === 1)
        assert.deepEqual([proxy.seen, seen], [[`CONNECT ${address}`], ['POST']])
      })

      it('takes the one that the environment names, but not for what it excepts', async () => {
        const { HTTP_PROXY, NO_PROXY } = process.env
        const proxy = await startProxy()
        try {
          Object.assign(process.env, { HTTP_PROXY: `http://${proxy.address}`, NO_PROXY: '.invalid' })
          const host = await start('http://destination.example')
          await until(host, () => sent(host) === 1)
          const excepted = await start('http://destination.invalid')
          await until(excepted, () => failures(excepted).length > 0)
          assert.match(failures(excepted)[0]!, /destination\.invalid/)
          assert.equal(proxy.seen.length, 1)
        } finally {
          for (const [name, value] of Object.entries({ HTTP_PROXY, NO_PROXY })) {
            if (value === undefined) delete process.env[name]
            else process.env[name] = value
          }
        }
      })

      it('says that it wants a password, and goes on with one', async () => {
        const { address } = await startDestination()
        const proxy = await startProxy('me:p@ss')
        const without = await start(`https://${address}`, { proxy_url: `http://${proxy.address}` })
        await until(without, () => failures(without).length > 0)
        assert.match(failures(without)[0]!, new RegExp(`the proxy ${proxy.address} answered 407 for ${address}`))
        const host = await start(`https://${address}`, { proxy_url: `http://me:p%40ss@${proxy.address}` })
        await until(host, () => sent(host) === 1)
        assert.equal(without.counted.get('gpucol_exporter_possible_repeat_metric_points'), undefined)
      })

      it('gives it what is not secret as a whole', async () => {
        const proxy = await startProxy()
        const host = await start('http://destination.example:4318', { proxy_url: `http://${proxy.address}` })
        await until(host, () => sent(host) === 1)
        assert.match(proxy.seen.join(), /^POST http:\/\/destination\.example:4318\//)
      })
    })

    describe('with a token', () => {
      async function startTokens(): Promise<Destination> {
        const seen: string[] = []
        const server = createServer(ofServer, (request, response) => {
          seen.push(`${request.method} ${request.url}`)
          const token = JSON.stringify({ access_token: 'abc', token_type: 'Bearer', expires_in: 3600 })
          request.resume().on('end', () => response.writeHead(200, { 'content-type': 'application/json' }).end(token))
        })
        return { address: await listen(server), seen }
      }
      const oauth2 = (address: string, ca: string): object => ({
        oauth2: {
          client_id: 'me',
          client_secret: 'x',
          token_url: `https://${address}/token`,
          tls: { ca_file: path(ca) },
        },
      })

      it('fetches it over TLS', async () => {
        const [{ address, seen }, tokens] = [await startDestination(), await startTokens()]
        const host = await start(`https://${address}`, oauth2(tokens.address, 'ca'))
        await until(host, () => sent(host) === 1)
        assert.deepEqual([tokens.seen, seen], [['POST /token'], ['POST  Bearer abc']])
      })

      it('says that it has none because the authority is not known', async () => {
        const [{ address, seen }, tokens] = [await startDestination(), await startTokens()]
        await put('others', createTestAuthority('others').cert)
        const host = await start(`https://${address}`, oauth2(tokens.address, 'others'))
        await until(host, () => failures(host).length > 0)
        assert.match(failures(host)[0]!, /no token from https:\S+: the certificate of \S+ is not trusted/)
        assert.deepEqual(seen, [])
      })
    })
  })
}
