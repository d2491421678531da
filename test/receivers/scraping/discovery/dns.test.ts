import assert from 'node:assert/strict'
import type { DiscoveredTarget } from '../../../../receivers/scraping/discovery/discovery.ts'
import { checkDns, createDnsDiscovery, type DnsConfig } from '../../../../receivers/scraping/discovery/dns.ts'
import { testHost } from '../../../support/test-host.ts'

describe('targets from the DNS', () => {
  function discover(config: Partial<DnsConfig> = {}) {
    const host = testHost()
    const updates: (readonly DiscoveredTarget[])[] = []
    const discovery = createDnsDiscovery(
      { names: ['gpu'], type: 'A', port: 9400, refresh_interval: '30s', ...config },
      host,
    )
    const start = (): void => discovery.start(targets => updates.push(targets))
    const found = (): Record<string, string>[][] =>
      updates.splice(0).map(targets => targets.map(({ labels }) => Object.fromEntries(labels)))
    return { host, discovery, start, found, updates }
  }

  it('are the addresses of a name', async () => {
    const { host, start, found } = discover()
    host.network.name('gpu', 'A', [{ host: '10.0.0.1' }, { host: '10.0.0.2' }])
    start()
    await host.clock.advance(0)
    assert.deepEqual(found(), [
      [
        { __address__: '10.0.0.1:9400', __meta_dns_name: 'gpu' },
        { __address__: '10.0.0.2:9400', __meta_dns_name: 'gpu' },
      ],
    ])
  })

  it('have brackets around addresses of version 6, and no port where none is known', async () => {
    const { host, start, found } = discover({ type: 'AAAA', names: ['a', 'b'] })
    host.network.name('a', 'AAAA', [{ host: '::1' }])
    host.network.name('b', 'AAAA', [{ host: '::2' }])
    start()
    await host.clock.advance(0)
    assert.deepEqual(
      found()[0]!.map(({ __address__ }) => __address__),
      ['[::1]:9400', '[::2]:9400'],
    )
    const bare = testHost()
    bare.network.name('a', 'A', [{ host: '10.0.0.1' }])
    createDnsDiscovery({ names: ['a'], type: 'A', refresh_interval: '30s' }, bare).start(targets =>
      assert.equal(targets[0]!.labels.get('__address__'), '10.0.0.1'),
    )
    await bare.clock.advance(0)
  })

  it('are the servers of a service, with their own ports', async () => {
    const { host, start, found } = discover({ type: 'SRV' })
    host.network.name('gpu', 'SRV', [{ host: 'node-a.example', port: 9500 }])
    start()
    await host.clock.advance(0)
    assert.deepEqual(found(), [
      [
        {
          __address__: 'node-a.example:9500',
          __meta_dns_name: 'gpu',
          __meta_dns_srv_record_target: 'node-a.example.',
          __meta_dns_srv_record_port: '9500',
        },
      ],
    ])
  })

  it('change with the DNS, at every interval', async () => {
    const { host, start, updates } = discover()
    host.network.name('gpu', 'A', [{ host: '10.0.0.1' }])
    start()
    await host.clock.advance(60_000)
    assert.equal(updates.length, 1)
    host.network.name('gpu', 'A', [{ host: '10.0.0.2' }, { host: '10.0.0.1' }])
    await host.clock.advance(29_999)
    assert.equal(updates.length, 1)
    await host.clock.advance(1)
    assert.equal(updates.length, 2)
    assert.equal(updates[1]![1], updates[0]![0])
  })

  it('stay as they were while nobody answers, and are gone with the name', async () => {
    const { host, start, updates } = discover({ names: ['gpu', 'other'] })
    host.network.name('gpu', 'A', [{ host: '10.0.0.1' }])
    host.network.name('other', 'A', [{ host: '10.0.0.9' }])
    start()
    await host.clock.advance(0)
    host.network.name('gpu', 'A', new Error('no answer from DNS for A gpu: ESERVFAIL'))
    await host.clock.advance(60_000)
    assert.equal(updates.length, 1)
    assert.deepEqual(host.logged, [
      'failing gpu: the targets stay as they were: no answer from DNS for A gpu: ESERVFAIL',
    ])
    host.network.name('gpu', 'A', [])
    await host.clock.advance(30_000)
    assert.deepEqual(
      updates[1]!.map(({ labels }) => labels.get('__address__')),
      ['10.0.0.9:9400'],
    )
  })

  it('are not looked up after the end, not even if an answer is on its way', async () => {
    const { host, discovery, start, updates } = discover()
    host.network.name('gpu', 'A', [{ host: '10.0.0.1' }])
    start()
    discovery.stop()
    discovery.stop()
    await host.clock.advance(120_000)
    assert.deepEqual(updates, [])
  })

  it('need a port from somewhere', () => {
    const config = { names: ['a'], type: 'A', refresh_interval: '30s' } as const
    assert.deepEqual(checkDns({ ...config, names: ['a'] }), [
      { path: ['type'], message: 'records of type A have no port: `port` is needed beside it' },
    ])
    assert.deepEqual(checkDns({ ...config, names: ['a'] }, 9400), [])
    assert.deepEqual(checkDns({ ...config, names: ['a'], port: 1 }), [])
    assert.deepEqual(checkDns({ ...config, names: ['a'], type: 'SRV' }), [])
  })
})
