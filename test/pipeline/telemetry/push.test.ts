import assert from 'node:assert/strict'
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createNetwork } from '../../../pipeline/http/network.ts'
import { createTelemetry, type Telemetry } from '../../../pipeline/telemetry/telemetry.ts'
import { testHost } from '../../support/test-host.ts'

type Metric = {
  name: string
  sum: { isMonotonic: boolean; aggregationTemporality: number; dataPoints: { asDouble: number }[] }
}
type Body = {
  resourceMetrics: [
    {
      resource: { attributes: { key: string; value: { stringValue: string } }[] }
      scopeMetrics: [{ metrics: Metric[] }]
    },
  ]
}
type Received = { url: string; headers: IncomingHttpHeaders; body: Body }

describe('pushing own metrics', () => {
  let host = testHost()
  let telemetry: Telemetry
  let server: Server
  let status = 200
  let endpoint = ''
  const received: Received[] = []
  let arrived = Promise.withResolvers<Received>()

  before(async () => {
    server = createServer((request, response) => {
      let text = ''
      request.setEncoding('utf8').on('data', (part: string) => (text += part))
      request.on('end', () => {
        response.writeHead(status, { 'content-type': 'application/json' }).end('{}')
        const push = { url: request.url!, headers: request.headers, body: JSON.parse(text) as Body }
        received.push(push)
        arrived.resolve(push)
        arrived = Promise.withResolvers()
      })
    })
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/metrics?token=hidden`
  })
  after(() => {
    server.close()
    server.closeAllConnections()
  })

  beforeEach(async () => {
    status = 200
    received.length = 0
    host = testHost()
    telemetry = createTelemetry({ clock: host.clock, version: '1.2.3', log: host.log })
    await telemetry.start(configWith('60s'), createNetwork(host.clock))
  })
  afterEach(() => telemetry.stop(0))

  function configWith(interval: string) {
    return { address: 'none', push: { endpoint, interval, headers: { 'api-key': 'k' } } }
  }

  /** Lets time pass and waits for the push that this sets off. */
  async function nextPush(afterMs: number): Promise<Received> {
    const { promise } = arrived
    await host.clock.advance(afterMs)
    return promise
  }

  async function passTimeUntil(condition: () => boolean): Promise<void> {
    while (!condition()) await host.clock.advance(60_000)
  }

  it('sends OTLP at the interval, with the headers of the config', async () => {
    telemetry.counters({ kind: 'receiver', id: 'dcgm' }).add('gpucol_receiver_accepted_metric_points', 5)
    await host.clock.advance(59_999)
    assert.equal(received.length, 0)
    const { url, headers, body } = await nextPush(1)
    assert.equal(url, '/v1/metrics?token=hidden')
    assert.equal(headers['api-key'], 'k')
    assert.equal(headers['content-type'], 'application/json')

    const [{ resource, scopeMetrics }] = body.resourceMetrics
    const attributes = new Map(resource.attributes.map(one => [one.key, one.value.stringValue]))
    assert.equal(attributes.get('service.name'), 'gpucol')
    assert.equal(attributes.get('service.version'), '1.2.3')
    assert.ok(attributes.get('service.instance.id'))

    const accepted = scopeMetrics[0].metrics.find(metric => metric.name === 'gpucol_receiver_accepted_metric_points')
    assert.equal(accepted?.sum.isMonotonic, true)
    assert.equal(accepted?.sum.aggregationTemporality, 2)
    assert.equal(accepted?.sum.dataPoints[0]?.asDouble, 5)
    await nextPush(60_000)
  })

  it('says once that it fails and once that it works again, without what may be secret', async () => {
    const where = `pushing own metrics to ${endpoint.split('?')[0]}`
    status = 401
    await passTimeUntil(() => received.length === 3)
    status = 200
    await passTimeUntil(() => host.logged.length === 2)
    assert.deepEqual(host.logged, [`failing ${where}: Unauthorized (status 401)`, `ok ${where}`])
  })

  it('changes with a reload', async () => {
    await telemetry.apply(configWith('10s'))
    await nextPush(10_000)
    await telemetry.apply({ address: 'none' })
    await host.clock.advance(600_000)
    assert.equal(received.length, 1)
  })

  it('sends a last time at the end', async () => {
    telemetry.counters({ kind: 'receiver', id: 'dcgm' }).add('gpucol_receiver_accepted_metric_points', 5)
    await telemetry.stop(1000)
    assert.equal(received.length, 1)
    await host.clock.advance(600_000)
    assert.equal(received.length, 1)
  })
})
