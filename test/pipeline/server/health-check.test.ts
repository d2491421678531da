import assert from 'node:assert/strict'
import type { ComponentStatus, ServiceState } from '../../../pipeline/component.ts'
import { createNetwork } from '../../../pipeline/http/network.ts'
import { healthCheck } from '../../../pipeline/server/health-check.ts'
import { ask } from '../../support/ask.ts'
import { serviceHost } from './service-host.ts'

const components: readonly ComponentStatus[] = [
  { kind: 'receiver', id: 'dcgm', state: 'failing', message: 'http://a: connection refused' },
  { kind: 'processor', id: 'relabel', pipeline: 'metrics', state: 'ok' },
]

describe('health_check', () => {
  let state: ServiceState
  const host = serviceHost({ state: () => state, components: () => components })
  const extension = healthCheck.create({ endpoint: '127.0.0.1:0' }, host)
  let address: string

  before(async () => {
    await extension.start!()
    address = host.addresses[0]!
  })
  beforeEach(() => (state = 'running'))
  after(() => extension.stop!(0))

  const answers: [path: string, state: ServiceState, status: number, body: object][] = [
    ['/', 'running', 200, { status: 'ok' }],
    ['/healthz', 'starting', 200, { status: 'ok' }],
    ['/healthz', 'running', 200, { status: 'ok' }],
    ['/healthz', 'stopping', 200, { status: 'ok' }],
    ['/readyz', 'starting', 503, { status: 'not ready', reason: 'gpucol is starting', components }],
    ['/readyz', 'running', 200, { status: 'ready', components }],
    ['/readyz', 'stopping', 503, { status: 'not ready', reason: 'gpucol is stopping', components }],
    ['/readyz', 'stopped', 503, { status: 'not ready', reason: 'gpucol has stopped', components }],
  ]
  for (const [path, at, status, body] of answers) {
    it(`answers ${path} with ${status} while the service is ${at}`, async () => {
      state = at
      const answer = await ask(address, `GET ${path}`)
      assert.equal(answer.status, status)
      const uptime_seconds = host.clock.monotonic() / 1000
      assert.deepEqual(JSON.parse(answer.body), { ...body, version: '1.2.3', uptime_seconds })
    })
  }

  it('says how long it runs', async () => {
    await host.clock.advance(90_000)
    const answer = await ask(address, 'GET /healthz')
    assert.deepEqual(JSON.parse(answer.body), { status: 'ok', version: '1.2.3', uptime_seconds: 90 })
  })

  it('answers HEAD, refuses other methods and knows nothing else', async () => {
    assert.equal((await ask(address, 'HEAD /readyz')).status, 200)
    assert.equal((await ask(address, 'POST /healthz')).status, 405)
    assert.equal((await ask(address, 'GET /metrics')).status, 404)
  })

  it('rejects at the start if the address is taken', async () => {
    const second = healthCheck.create({ endpoint: address }, serviceHost({}))
    await assert.rejects(async () => second.start!(), new RegExp(`${address} is in use`))
    await second.stop!(0)
  })

  it('can be stopped without a start, and twice, and gives up its address', async () => {
    const host = serviceHost({})
    const once = healthCheck.create({ endpoint: '127.0.0.1:0' }, host)
    await once.stop!(0)
    await once.start!()
    await once.stop!(0)
    await once.stop!(0)
    const listener = await createNetwork(host.clock).listen(host.addresses[0]!, () => {})
    await listener.close(0)
  })

  it('names the address that it listens at', () => {
    assert.equal(extension.describe!(), `http://${address}`)
    assert.equal(healthCheck.create({ endpoint: '[::1]:13133' }, serviceHost({})).describe!(), 'http://[::1]:13133')
    assert.deepEqual(healthCheck.listens!({ endpoint: '0.0.0.0:13133' }), [
      { address: '0.0.0.0:13133', path: ['endpoint'] },
    ])
  })
})
