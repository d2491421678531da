/** The receiver `otlp` over real HTTP. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { request, type IncomingHttpHeaders } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import { RefusedError } from '../../pipeline/component.ts'
import { createSystemClock } from '../../pipeline/clock/system-clock.ts'
import { createNetwork } from '../../pipeline/http/network.ts'
import { STATUS_CODES, type StatusName } from '../../pipeline/formats/otlp-answer.ts'
import type { Batch } from '../../pipeline/model/batch.ts'
import { otlp } from '../../receivers/otlp.ts'
import { createTestAuthority } from '../pipeline/http/test-certificates.ts'
import { configOf } from '../support/config-of.ts'
import { at, gauge, resource, sum } from '../support/pushed.ts'
import { sharedJson } from '../support/shared.ts'
import { testHost, type TestHost } from '../support/test-host.ts'
import { textFromBatch } from '../support/text-from-batch.ts'

type Answer = { status: number; headers: IncomingHttpHeaders; body: Buffer }
type Receiving = {
  host: TestHost
  address: string
  batches: Batch[]
  /** What is done with a batch before it is kept. */
  behind: { next(batch: Batch): void }
  post(body: string | Uint8Array, headers?: Record<string, string>, line?: string): Promise<Answer>
  /** At once. */
  stop(): Promise<void>
}

async function receiving(options: object, use: (receiving: Receiving) => Promise<void>): Promise<void> {
  const network = createNetwork(createSystemClock())
  let address = ''
  const host = testHost({
    id: 'otlp',
    network: {
      ...network,
      async listen(...args: Parameters<typeof network.listen>) {
        const listener = await network.listen(...args)
        ;({ address } = listener)
        return listener
      },
    },
  })
  const batches: Batch[] = []
  const behind = { next: (_batch: Batch): void => {} }
  const config = configOf(otlp, { endpoint: '127.0.0.1:0', ...options })
  const receiver = otlp.create(config, host, batch => {
    behind.next(batch)
    batches.push(batch)
  })
  await receiver.start!()
  async function stop(): Promise<void> {
    const stopped = receiver.stop!(host.clock.monotonic())
    await host.clock.advance(1)
    await stopped
  }
  try {
    const post: Receiving['post'] = (body, headers = {}, line = 'POST /v1/metrics') => {
      return send(address, line, { 'content-type': 'application/json', ...headers }, body)
    }
    await use({ host: host as unknown as TestHost, address, batches, behind, post, stop })
  } finally {
    await stop()
    await network.close()
  }
}

function send(
  address: string,
  line: string,
  headers: Record<string, string>,
  body: string | Uint8Array,
): Promise<Answer> {
  const [method, path] = line.split(' ') as [string, string]
  const [host, port] = address.split(':') as [string, string]
  const present = Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== ''))
  return new Promise((resolve, reject) => {
    request({ host, port, method, path, headers: present, agent: false }, response => {
      const pieces: Buffer[] = []
      response.on('data', (piece: Buffer) => pieces.push(piece))
      response.on('end', () => {
        resolve({ status: response.statusCode!, headers: response.headers, body: Buffer.concat(pieces) })
      })
    })
      .on('error', reject)
      .end(body)
  })
}

const VALID = JSON.stringify({ resourceMetrics: [resource([gauge('g', at(1, 42))])] })
/** The same: field by field, a resource, a scope, a metric, a gauge, a point with a time and a value. */
const VALID_PROTOBUF = Buffer.from('0a1d121b12190a01672a140a121900ca9a3b00000000210000000000004540', 'hex')

type Case = {
  side: string
  name: string
  request?: { method: string; path: string; content_type: string; content_encoding?: string; body: string }
  downstream_error?: 'permanent' | 'retryable'
  grpc_code?: string
  expected_status: number
  expected_content_type?: string
  expected_response?: string
  expected_status_body?: { code: string; message: string }
}
const suite = sharedJson<{ cases: Case[] }>('conformance', 'otlp', 'http-behaviour.json')
const CODES: Readonly<Record<string, number>> = { Internal: 13, Unavailable: 14 }

describe('receiver otlp', () => {
  for (const one of suite?.cases ?? []) {
    // What a client does is a matter of the exporter.
    if (one.side !== 'server') continue
    if (one.grpc_code !== undefined) {
      it(`answers as the Collector: ${one.name}`, () => {
        const name = one.grpc_code!.replace(/^./, first => first.toLowerCase()) as StatusName
        assert.equal(STATUS_CODES[name].http, one.expected_status)
      })
      continue
    }
    it(`answers as the Collector: ${one.name}`, () =>
      receiving({ max_request_body_size: '100KiB', max_bytes_in_flight: '1MiB' }, async ({ post, behind, batches }) => {
        behind.next = () => {
          if (one.downstream_error === 'permanent') throw new Error('my error')
          if (one.downstream_error === 'retryable') throw new RefusedError('my error')
        }
        const { method, path, content_type, content_encoding = '', body } = one.request ?? ACCEPTED
        const isProtobuf = content_type.toLowerCase() === 'application/x-protobuf'
        const headers = { 'content-type': content_type, 'content-encoding': content_encoding }
        const answer = await post(bodyOf(body, isProtobuf, content_encoding), headers, `${method} ${path}`)
        assert.equal(answer.status, one.expected_status)
        if (one.expected_content_type) assert.equal(answer.headers['content-type'], one.expected_content_type)
        if (one.expected_response !== undefined) {
          assert.equal(answer.body.toString(), isProtobuf ? '' : '{}')
          assert.deepEqual(
            batches.map(batch => textFromBatch(batch)),
            ['g 42 1000\n'],
          )
        }
        if (one.expected_status_body !== undefined) {
          const { code, message } = one.expected_status_body
          assert.deepEqual(JSON.parse(answer.body.toString()), { code: CODES[code], message })
        }
      }))
  }

  const ACCEPTED: NonNullable<Case['request']> = {
    method: 'POST',
    path: '/v1/metrics',
    content_type: 'application/json',
    body: 'a valid request',
  }

  function bodyOf(description: string, isProtobuf: boolean, encoding: string): string | Uint8Array {
    if (description.startsWith('larger than')) return `{"x":"${'x'.repeat(200_000)}"}`
    if (!description.startsWith('a valid')) return description
    const body = isProtobuf ? VALID_PROTOBUF : Buffer.from(VALID)
    return encoding === 'gzip' ? gzipSync(body) : body
  }

  it('takes zstd', () =>
    receiving({}, async ({ post, batches }) => {
      assert.equal((await post(zstdCompressSync(VALID), { 'content-encoding': 'zstd' })).status, 200)
      assert.equal(textFromBatch(batches[0]!), 'g 42 1000\n')
    }))

  it('takes large requests that are compressed', () =>
    receiving({}, async ({ post, batches }) => {
      const points = Array.from({ length: 5000 }, (_, i) =>
        at(1, i, { i, random: `${(i * 2_654_435_761) % 4_294_967_296}` }),
      )
      const body = gzipSync(JSON.stringify({ resourceMetrics: [resource([gauge('g', ...points)])] }))
      assert.ok(body.length > 8192)
      assert.equal((await post(body, { 'content-encoding': 'gzip' })).status, 200)
      assert.equal(batches[0]!.values.length, 5000)
    }))

  it('does not unpack more than the limit', () =>
    receiving({ max_request_body_size: '1MiB' }, async ({ post }) => {
      const bomb = Buffer.alloc(50 * 2 ** 20, ' ')
      for (const [encoding, body] of [
        ['gzip', gzipSync(bomb)],
        ['zstd', zstdCompressSync(bomb)],
      ] as const) {
        const { status, body: text } = await post(body, { 'content-encoding': encoding })
        assert.equal(status, 413)
        assert.match(text.toString(), /larger than max_request_body_size, 1048576 bytes/)
      }
    }))

  it('takes one request after the other, whoever comes while a large one is read', () =>
    receiving({}, async ({ post, batches, host }) => {
      const steps = Array.from({ length: 4 }, (_, i) => {
        const points = Array.from({ length: 3000 }, (__, n) => at(i + 2, 1, { n }, i + 1))
        return JSON.stringify({ resourceMetrics: [resource([sum('c', 'delta', ...points)])] })
      })
      // The first is the last to be unpacked if nobody waits.
      const answers = [
        post(gzipSync(steps[0]!), { 'content-encoding': 'gzip' }),
        ...steps.slice(1).map(step => post(step)),
      ]
      const other = { resourceMetrics: [resource([gauge('g', at(1, 1))], { 'service.name': 'small' })] }
      const [small] = await Promise.all([post(JSON.stringify(other)), ...answers])
      assert.equal(small.status, 200)
      for (const answer of answers) assert.equal((await answer).body.toString(), '{}')
      const late = host.counted.get('gpucol_receiver_late_metric_points') ?? 0
      const { values } = batches.filter(batch => batch.values.length === 3000).at(-1)!
      // Whatever came before others that began earlier, nothing was counted twice or in half.
      assert.ok(
        values.every(value => value === 4 - late / 3000),
        `${values[0]}, ${late} were late`,
      )
    }))

  it('hands nothing on once it has stopped, although it still reads a request', () =>
    receiving({}, async ({ post, batches, behind, stop }) => {
      const points = Array.from({ length: 20_000 }, (_, n) => at(1, n, { n }))
      const body = JSON.stringify({ resourceMetrics: [resource([gauge('g', ...points)])] })
      const stopped = new Promise<number>(resolve => {
        behind.next = () => void stop().then(() => resolve(batches.length))
      })
      const answers = await Promise.allSettled([post(body), post(body)])
      assert.ok(answers.some(({ status }) => status === 'rejected'))
      const handedOn = await stopped
      // As many turns as reading the rest would take.
      for (let turn = 0; turn < 500; turn++) await new Promise(resolve => setImmediate(resolve))
      assert.equal(batches.length, handedOn)
    }))

  it('refuses compressions that nobody knows', () =>
    receiving({}, async ({ post }) => {
      const { status, body } = await post('x', { 'content-encoding': 'br' })
      assert.equal(status, 415)
      assert.match(body.toString(), /"br" is not supported: use gzip, zstd or none/)
    }))

  it('says where traces and logs cannot go', () =>
    receiving({}, async ({ post }) => {
      for (const signal of ['traces', 'logs']) {
        const { status, body } = await post('{}', {}, `POST /v1/${signal}`)
        assert.equal(status, 404)
        assert.match(body.toString(), new RegExp(`metrics only, at /v1/metrics: ${signal} have to go somewhere else`))
      }
    }))

  it('says in both encodings what it did not take of a request', () =>
    receiving({}, async ({ post, host }) => {
      const json = JSON.stringify({
        resourceMetrics: [resource([gauge('g', { timeUnixNano: '1' }), gauge('h', at(1, 1))])],
      })
      const { status, body } = await post(json)
      assert.equal(status, 200)
      assert.deepEqual(JSON.parse(body.toString()), {
        partialSuccess: { rejectedDataPoints: '1', errorMessage: 'metric "g" has no value' },
      })
      const answer = await post(Buffer.from('0a0d120b12090a01672a040a020800', 'hex'), {
        'content-type': 'application/x-protobuf',
      })
      assert.equal(
        answer.body.toString('hex'),
        `0a1b0801${Buffer.from('\u0012\u0017metric "g" has no value').toString('hex')}`,
      )
      assert.equal(host.counted.get('gpucol_receiver_rejected_metric_points'), 2)
      assert.deepEqual(host.logged, ['failing points that were pushed: metric "g" has no value'])
    }))

  it('says in protobuf what is wrong with protobuf', () =>
    receiving({}, async ({ post }) => {
      const { status, headers, body } = await post(Buffer.of(0x0a, 5), { 'content-type': 'application/x-protobuf' })
      assert.equal(status, 400)
      assert.equal(headers['content-type'], 'application/x-protobuf')
      const message = 'it ends in the middle of a field'
      assert.deepEqual(body, Buffer.concat([Buffer.of(0x08, 3, 0x12, message.length), Buffer.from(message)]))
    }))

  it('asks clients to come back when the pipeline takes nothing, and takes the same request then', () =>
    receiving({}, async ({ post, behind, batches, host }) => {
      behind.next = () => {
        throw new RefusedError('there is not enough memory just now')
      }
      const refused = await post(VALID)
      assert.equal(refused.status, 503)
      assert.equal(refused.headers['retry-after'], '5')
      behind.next = () => {}
      assert.equal((await post(VALID)).status, 200)
      assert.equal(batches.length, 1)
      assert.equal(host.counted.get('gpucol_receiver_requests{status="503"}'), 1)
    }))

  it('receives only so many requests and bytes at the same time', () =>
    receiving({ max_concurrent_requests: 2, max_bytes_in_flight: '700' }, async ({ post, address }) => {
      const first = open(address)
      await first.write(VALID.slice(0, 100))
      // Too much also without what comes beside it.
      const tooMuch = await post(`{"x":"${'x'.repeat(1000)}"}`)
      assert.equal(tooMuch.status, 429)
      assert.equal(tooMuch.headers['retry-after'], '1')
      assert.match(tooMuch.body.toString(), /too much is being received/)
      const second = open(address)
      await second.write(VALID.slice(0, 100))
      const tooMany = await post(VALID)
      assert.equal(tooMany.status, 429)
      assert.match(tooMany.body.toString(), /2 requests are being answered already/)
      assert.equal(await first.end(VALID.slice(100)), 200)
      assert.equal(await second.end(VALID.slice(100)), 200)
      assert.equal((await post(VALID)).status, 200)
    }))

  /** A request that is sent in parts. */
  function open(address: string) {
    const [host, port] = address.split(':') as [string, string]
    const headers = { 'content-type': 'application/json', expect: '100-continue' }
    const sending = request({ host, port, method: 'POST', path: '/v1/metrics', headers, agent: false })
    const status = new Promise<number>((resolve, reject) => {
      sending.on('response', response => {
        response.resume()
        resolve(response.statusCode!)
      })
      sending.on('error', reject)
    })
    return {
      async write(text: string): Promise<void> {
        // The server has the head once it says that it wants the body.
        const continued = new Promise(resolve => sending.once('continue', resolve))
        sending.flushHeaders()
        await continued
        await new Promise(resolve => sending.write(text, resolve))
      },
      async leave(): Promise<void> {
        status.catch(() => {})
        const closed = new Promise(resolve => sending.once('close', resolve))
        sending.destroy()
        await closed
      },
      end(text: string): Promise<number> {
        sending.end(text)
        return status
      },
    }
  }

  it('lets in only those who bring the token', () => {
    const folder = mkdtempSync(join(tmpdir(), 'gpucol-'))
    const file = join(folder, 'token')
    writeFileSync(file, 'secret\n')
    return receiving({ authorization: { credentials_file: file } }, async ({ post, host }) => {
      assert.equal((await post(VALID)).status, 401)
      assert.equal((await post(VALID, { authorization: 'Bearer secret' })).status, 200)
      assert.equal(host.counted.get('gpucol_receiver_requests{status="401"}'), 1)
    }).finally(() => rmSync(folder, { recursive: true }))
  })

  it('talks TLS, to clients that show a certificate', async () => {
    const authority = createTestAuthority('gpucol tests')
    const server = authority.issue('localhost', { names: ['localhost'], addresses: ['127.0.0.1'] })
    const client = authority.issue('agent')
    const folder = mkdtempSync(join(tmpdir(), 'gpucol-'))
    const write = (name: string, text: string): string => {
      writeFileSync(join(folder, name), text)
      return join(folder, name)
    }
    const tls = {
      cert_file: write('cert.pem', server.cert),
      key_file: write('key.pem', server.key),
      client_ca_file: write('ca.pem', authority.cert),
    }
    const post = (address: string, credentials: object): Promise<number> =>
      new Promise((resolve, reject) => {
        const headers = { 'content-type': 'application/json' }
        const url = `https://${address}/v1/metrics`
        httpsRequest(url, { method: 'POST', headers, ca: authority.cert, agent: false, ...credentials }, response => {
          response.resume()
          resolve(response.statusCode!)
        })
          .on('error', reject)
          .end(VALID)
      })
    try {
      await receiving({ tls }, async ({ address, batches }) => {
        await assert.rejects(post(address, {}))
        assert.equal(await post(address, client), 200)
        assert.equal(batches.length, 1)
      })
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  it('goes on when a client goes away in the middle', () =>
    receiving({ max_concurrent_requests: 1 }, async ({ address, post, host }) => {
      const first = open(address)
      await first.write(VALID.slice(0, 100))
      await first.leave()
      let answer = await post(VALID)
      // Until the server has seen it, the place is taken.
      while (answer.status === 429) answer = await post(VALID)
      assert.equal(answer.status, 200)
      assert.deepEqual(
        host.logged.filter(line => line.startsWith('error')),
        [],
      )
    }))

  it('ends series by itself, and counts what it has', () =>
    receiving({ metric_expiration: '1m' }, async ({ post, host, batches }) => {
      await post(VALID)
      assert.equal(host.observed('gpucol_receiver_live_series').get(''), 1)
      assert.equal(host.observed('gpucol_receiver_sources').get(''), 1)
      await host.clock.advance(66_000)
      assert.equal(batches.at(-1)!.outcome, 'removed')
      assert.equal(host.observed('gpucol_receiver_live_series').get(''), 0)
    }))
})
