import assert from 'node:assert/strict'
import type { GivenObject } from '../../../../pipeline/simulator/kubernetes-api/object-identity.ts'
import { dcgm } from '../../../../receivers/dcgm.ts'
import { kubeStateMetrics } from '../../../../receivers/kube-state-metrics.ts'
import {
  createEndpointsliceDiscovery,
  kubernetesEndpointslices,
  type KubernetesEndpointslicesConfig,
} from '../../../../receivers/scraping/discovery/kubernetes-endpointslices.ts'
import { configOf } from '../../../support/config-of.ts'
import { discovering, kubernetesWorld, type Discovering } from './kubernetes-world.ts'

const SELECTOR = 'kubernetes.io/service-name=ksm'
const HTTP = { name: 'http', port: 8080, protocol: 'TCP', appProtocol: 'http' }

function slice(
  name: string,
  addresses: readonly string[],
  { service = 'ksm', namespace = 'monitoring', ports = [HTTP] as readonly object[], endpoint = {} } = {},
): GivenObject {
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name, namespace, uid: `uid-${name}`, labels: { 'kubernetes.io/service-name': service } },
    addressType: 'IPv4',
    endpoints: addresses.map((address, i) => ({
      addresses: [address, '10.9.9.9'],
      nodeName: `n${i + 1}`,
      ...endpoint,
    })),
    ports,
  }
}

function discover(objects: readonly GivenObject[], config: Partial<KubernetesEndpointslicesConfig> = {}): Discovering {
  const whole = configOf({ config: kubernetesEndpointslices }, { label_selector: SELECTOR, ...config })
  return discovering(objects, host => createEndpointsliceDiscovery(whole, host))
}

describe('targets from endpoint slices', () => {
  it('have labels that say all about the endpoint, named as in Prometheus', async () => {
    const endpoint = {
      conditions: { ready: true, serving: true, terminating: false },
      hostname: 'ksm-0',
      zone: 'west',
      targetRef: { kind: 'Pod', name: 'ksm-0' },
    }
    const { start, updates, discovery } = discover([slice('ksm-x', ['10.0.0.1'], { endpoint })])
    await start()
    discovery.stop()
    assert.deepEqual(
      updates.map(([target]) => Object.fromEntries(target!.labels)),
      [
        {
          __address__: '10.0.0.1:8080',
          __meta_kubernetes_namespace: 'monitoring',
          __meta_kubernetes_service_name: 'ksm',
          __meta_kubernetes_endpointslice_name: 'ksm-x',
          __meta_kubernetes_endpointslice_label_kubernetes_io_service_name: 'ksm',
          __meta_kubernetes_endpointslice_labelpresent_kubernetes_io_service_name: 'true',
          __meta_kubernetes_endpointslice_address_type: 'IPv4',
          __meta_kubernetes_endpointslice_port: '8080',
          __meta_kubernetes_endpointslice_port_name: 'http',
          __meta_kubernetes_endpointslice_port_protocol: 'TCP',
          __meta_kubernetes_endpointslice_port_app_protocol: 'http',
          __meta_kubernetes_endpointslice_endpoint_conditions_ready: 'true',
          __meta_kubernetes_endpointslice_endpoint_conditions_serving: 'true',
          __meta_kubernetes_endpointslice_endpoint_conditions_terminating: 'false',
          __meta_kubernetes_endpointslice_endpoint_hostname: 'ksm-0',
          __meta_kubernetes_endpointslice_endpoint_node_name: 'n1',
          __meta_kubernetes_endpointslice_endpoint_zone: 'west',
          __meta_kubernetes_endpointslice_address_target_kind: 'Pod',
          __meta_kubernetes_endpointslice_address_target_name: 'ksm-0',
        },
      ],
    )
  })

  const two = [HTTP, { name: 'own', port: 8081, protocol: 'TCP' }]
  const ports: [given: readonly object[], port: number | string | undefined, address: string | undefined][] = [
    [[HTTP], undefined, '10.0.0.1:8080'],
    [two, undefined, '10.0.0.1'],
    [two, 'own', '10.0.0.1:8081'],
    [two, 8081, '10.0.0.1:8081'],
    [two, 9999, '10.0.0.1:9999'],
    [two, 'other', undefined],
    [[], undefined, '10.0.0.1'],
  ]
  for (const [given, port, address] of ports) {
    it(`with ${given.length} ports and port ${port ?? 'left open'} have the address ${address ?? 'of none'}`, async () => {
      const objects = [slice('a', ['10.0.0.1'], { ports: given })]
      const { start, found, discovery } = discover(objects, port === undefined ? {} : { port })
      await start()
      discovery.stop()
      assert.deepEqual(found('__address__'), [[address]])
    })
  }

  it('come and go with the endpoints of slices that are selected', async () => {
    const objects = [slice('a', ['10.0.0.1', '10.0.0.2']), slice('b', ['10.0.0.3'], { service: 'other' })]
    const { start, found, host, store, discovery } = discover(objects)
    await start()
    store.apply([{ type: 'MODIFIED', object: slice('a', ['10.0.0.1']) }])
    await host.clock.advance(1000)
    store.apply([{ type: 'MODIFIED', object: slice('a', []) }])
    await host.clock.advance(1000)
    discovery.stop()
    assert.deepEqual(found('__address__'), [['10.0.0.1:8080', '10.0.0.2:8080'], ['10.0.0.1:8080'], []])
  })
})

describe('a receiver with kubernetes_endpointslices', () => {
  const BODY = { contentType: 'text/plain', body: 'kube_pod_info{pod="a"} 1\n' }

  for (const [definition, node] of [
    [dcgm, 'n1'],
    [kubeStateMetrics, undefined],
  ] as const) {
    it(`scrapes each endpoint once, however many slices have it, and ${definition.type} is of node ${node ?? 'none'}`, async () => {
      const { host, network } = kubernetesWorld([slice('a', ['10.0.0.1']), slice('b', ['10.0.0.1'])])
      network.answer('http://10.0.0.1:8080/metrics', BODY)
      const kubernetes_endpointslices = { label_selector: SELECTOR }
      const config = { scrape_interval: '10s', kubernetes_endpointslices }
      const receiver =
        definition.type === 'dcgm'
          ? dcgm.create(configOf(dcgm, config), host, () => {})
          : kubeStateMetrics.create(configOf(kubeStateMetrics, config), host, () => {})
      await receiver.start?.()
      await host.clock.advance(10_000)
      assert.deepEqual(
        receiver.targets!().active.map(target => [target.url, target.node, target.state]),
        [['http://10.0.0.1:8080/metrics', node, 'up']],
      )
      await receiver.stop?.(0)
    })
  }
})
