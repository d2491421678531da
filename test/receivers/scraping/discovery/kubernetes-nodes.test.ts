import assert from 'node:assert/strict'
import type { GivenObject } from '../../../../pipeline/simulator/kubernetes-api/object-identity.ts'
import { dcgm } from '../../../../receivers/dcgm.ts'
import { kubelet } from '../../../../receivers/kubelet.ts'
import {
  createNodeDiscovery,
  kubernetesNodes,
  type KubernetesNodesConfig,
} from '../../../../receivers/scraping/discovery/kubernetes-nodes.ts'
import { configOf } from '../../../support/config-of.ts'
import { discovering, kubernetesWorld, SERVER, type Discovering } from './kubernetes-world.ts'

function node(name: string, addresses: Record<string, string>, labels: Record<string, string> = {}): GivenObject {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, uid: `uid-${name}`, labels },
    spec: { providerID: `cloud://${name}` },
    status: { addresses: Object.entries(addresses).map(([type, address]) => ({ type, address })) },
  }
}

function discover(objects: readonly GivenObject[], config: Partial<KubernetesNodesConfig> = {}): Discovering {
  const whole = configOf({ config: kubernetesNodes }, config)
  return discovering(objects, host => createNodeDiscovery(whole, host))
}

describe('targets from nodes', () => {
  it('have labels that say all about the node, named as in Prometheus', async () => {
    const addresses = { Hostname: 'a.example', InternalIP: '10.0.0.1' }
    const { start, updates, discovery } = discover([node('a', addresses, { 'nvidia.com/gpu.product': 'A100' })])
    await start()
    discovery.stop()
    assert.deepEqual(
      updates.map(([target]) => Object.fromEntries(target!.labels)),
      [
        {
          __address__: '10.0.0.1',
          __meta_kubernetes_node_name: 'a',
          __meta_kubernetes_node_provider_id: 'cloud://a',
          __meta_kubernetes_node_address_Hostname: 'a.example',
          __meta_kubernetes_node_address_InternalIP: '10.0.0.1',
          __meta_kubernetes_node_label_nvidia_com_gpu_product: 'A100',
          __meta_kubernetes_node_labelpresent_nvidia_com_gpu_product: 'true',
        },
      ],
    )
  })

  const addresses: [Record<string, string>, string][] = [
    [{ ExternalIP: '1.2.3.4', InternalIP: '10.0.0.1' }, '10.0.0.1:9100'],
    [{ ExternalIP: '1.2.3.4', InternalDNS: 'a.internal' }, 'a.internal:9100'],
    [{ Hostname: 'a.example', ExternalIP: '1.2.3.4' }, '1.2.3.4:9100'],
    [{ Hostname: 'a.example' }, 'a.example:9100'],
    [{ InternalIP: 'fd00::1' }, '[fd00::1]:9100'],
    [{}, 'a:9100'],
  ]
  for (const [given, address] of addresses) {
    it(`of ${JSON.stringify(given)} have the address ${address}`, async () => {
      const { start, found, discovery } = discover([node('a', given)], { port: 9100 })
      await start()
      discovery.stop()
      assert.deepEqual(found('__address__'), [[address]])
    })
  }

  it('come and go with the nodes that are selected', async () => {
    const objects = [node('a', {}, { gpu: 'yes' }), node('b', {})]
    const { start, found, host, store, discovery } = discover(objects, { label_selector: 'gpu=yes' })
    await start()
    store.apply([{ type: 'ADDED', object: node('c', {}, { gpu: 'yes' }) }])
    await host.clock.advance(1000)
    store.apply([{ type: 'MODIFIED', object: node('a', {}) }])
    await host.clock.advance(1000)
    discovery.stop()
    assert.deepEqual(found('__meta_kubernetes_node_name'), [['a'], ['a', 'c'], ['c']])
  })
})

describe('a receiver with kubernetes_nodes', () => {
  const PAGE = { contentType: 'text/plain', body: 'machine_cpu_cores 4\n' }

  function receive(config: Record<string, unknown>) {
    const world = kubernetesWorld([node('a', { InternalIP: '10.0.0.1' })])
    const whole = configOf(kubelet, { scrape_interval: '10s', ...config })
    const receiver = kubelet.create(whole, world.host, () => {})
    const active = (): string[] => receiver.targets!().active.map(({ url, node, state }) => `${url} ${node} ${state}`)
    return { ...world, receiver, active }
  }

  it('scrapes the pages of every kubelet at its usual port', async () => {
    const { host, network, receiver, active } = receive({ kubernetes_nodes: {} })
    network.answer('https://10.0.0.1:10250/metrics/resource', PAGE)
    network.answer('https://10.0.0.1:10250/metrics/cadvisor', PAGE)
    await receiver.start?.()
    await host.clock.advance(10_000)
    assert.deepEqual(active(), [
      'https://10.0.0.1:10250/metrics/resource a up',
      'https://10.0.0.1:10250/metrics/cadvisor a up',
    ])
    await receiver.stop?.(0)
  })

  it('goes through the API server if told so, and shows it no credentials that are meant for kubelets', async () => {
    const { host, network, receiver, active } = receive({
      kubernetes_nodes: { through_api_server: true },
      authorization: { credentials: 'for kubelets' },
      params: { a: ['b'] },
      headers: { 'X-Own': 'c' },
    })
    const page = `${SERVER}/api/v1/nodes/a/proxy/metrics`
    network.answer(`${page}/resource?a=b`, PAGE)
    network.answer(`${page}/cadvisor?a=b`, PAGE)
    await receiver.start?.()
    await host.clock.advance(10_000)
    assert.deepEqual(active(), [
      'https://10.0.0.1:10250/metrics/resource?a=b a up',
      'https://10.0.0.1:10250/metrics/cadvisor?a=b a up',
    ])
    const asked = network.requests.filter(({ url }) => url.startsWith(page))
    assert.ok(asked.length >= 2)
    for (const { headers } of asked)
      assert.deepEqual([headers?.['authorization'], headers?.['x-own']], [undefined, 'c'])
    assert.ok(network.requests.every(({ url }) => url.startsWith(SERVER)))
    await receiver.stop?.(0)
  })

  it('says which right is missing when the API server lets nobody through', async () => {
    const { host, network, receiver } = receive({ kubernetes_nodes: { through_api_server: true } })
    for (const page of ['resource', 'cadvisor']) {
      network.answer(`${SERVER}/api/v1/nodes/a/proxy/metrics/${page}`, { status: 403, body: 'no' })
    }
    await receiver.start?.()
    await host.clock.advance(10_000)
    const [target] = receiver.targets!().active
    assert.match(target!.lastScrape!.error!, /needs the rule .*resources: \["nodes\/proxy"\], verbs: \["get"\]/)
    await receiver.stop?.(0)
  })

  it('needs a port for what is no kubelet', () => {
    const check = (port?: number) =>
      dcgm.check?.(configOf(dcgm, { kubernetes_nodes: { through_api_server: true, ...(port && { port }) } }))
    assert.deepEqual(
      check()!.map(({ path }) => path),
      [['kubernetes_nodes', 'through_api_server']],
    )
    assert.deepEqual(check(9400), [])
  })

  const ways: [Partial<KubernetesNodesConfig>, string][] = [
    [{}, '/api/v1/nodes/a/proxy'],
    [{ scheme: 'https' }, '/api/v1/nodes/a/proxy'],
    [{ port: 9400 }, '/api/v1/nodes/a:9400/proxy'],
    [{ port: 9400, scheme: 'https' }, '/api/v1/nodes/https:a:9400/proxy'],
  ]
  for (const [config, path] of ways) {
    it(`with ${JSON.stringify(config)} goes through ${path}`, async () => {
      const { start, updates, discovery } = discover([node('a', {})], { through_api_server: true, ...config })
      await start()
      discovery.stop()
      assert.equal(updates[0]![0]!.through?.name, path)
    })
  }
})
