import assert from 'node:assert/strict'
import type { Batch } from '../../../../pipeline/model/batch.ts'
import { getLabel } from '../../../../pipeline/model/labels.ts'
import type { GivenObject } from '../../../../pipeline/simulator/kubernetes-api/object-identity.ts'
import { dcgm } from '../../../../receivers/dcgm.ts'
import {
  createPodDiscovery,
  kubernetesPods,
  type KubernetesPodsConfig,
} from '../../../../receivers/scraping/discovery/kubernetes-pods.ts'
import { configOf } from '../../../support/config-of.ts'
import { discovering, kubernetesWorld, SERVER, type Discovering } from './kubernetes-world.ts'

type PodParts = {
  readonly uid?: string
  readonly namespace?: string
  readonly labels?: Record<string, string>
  readonly node?: string
  readonly phase?: string
  readonly ports?: readonly object[]
  readonly metadata?: object
  readonly status?: object
}

function pod(name: string, podIP: string, parts: PodParts = {}): GivenObject {
  const { uid = `uid-${name}`, namespace = 'gpu', labels = { app: 'dcgm' }, node = 'n1', phase = 'Running' } = parts
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace, uid, labels, ...parts.metadata },
    spec: { nodeName: node, containers: [{ name: 'exporter', image: 'dcgm:4', ports: parts.ports ?? [] }] },
    status: { phase, ...(podIP !== '' && { podIP }), ...parts.status },
  }
}

function discover(objects: readonly GivenObject[], config: Partial<KubernetesPodsConfig> = {}): Discovering {
  const whole = configOf({ config: kubernetesPods }, { label_selector: 'app=dcgm', port: 9400, ...config })
  return discovering(objects, host => createPodDiscovery(whole, host))
}

const ADDRESS = '__address__'

describe('targets from pods', () => {
  it('have labels that say all about the pod, named as in Prometheus', async () => {
    const { start, updates, discovery } = discover(
      [
        pod('a', '10.0.0.1', {
          labels: { app: 'dcgm', 'app.kubernetes.io/part-of': 'gpu-operator' },
          ports: [{ name: 'metrics', containerPort: 9400, protocol: 'TCP' }],
          metadata: {
            annotations: { 'example.com/team': 'x', 'kubectl.kubernetes.io/last-applied-configuration': '{}' },
            ownerReferences: [
              { apiVersion: 'v1', kind: 'Other', name: 'o', uid: 'o' },
              { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'dcgm', uid: 'd', controller: true },
            ],
          },
          status: { hostIP: '192.168.0.1', conditions: [{ type: 'Ready', status: 'True' }] },
        }),
      ],
      { scheme: 'https', path: '/gpu' },
    )
    await start()
    discovery.stop()
    assert.deepEqual(
      updates.map(([target]) => Object.fromEntries(target!.labels)),
      [
        {
          __address__: '10.0.0.1:9400',
          __scheme__: 'https',
          __metrics_path__: '/gpu',
          __meta_kubernetes_namespace: 'gpu',
          __meta_kubernetes_pod_name: 'a',
          __meta_kubernetes_pod_ip: '10.0.0.1',
          __meta_kubernetes_pod_host_ip: '192.168.0.1',
          __meta_kubernetes_pod_node_name: 'n1',
          __meta_kubernetes_pod_phase: 'Running',
          __meta_kubernetes_pod_ready: 'true',
          __meta_kubernetes_pod_uid: 'uid-a',
          __meta_kubernetes_pod_controller_kind: 'DaemonSet',
          __meta_kubernetes_pod_controller_name: 'dcgm',
          __meta_kubernetes_pod_label_app: 'dcgm',
          __meta_kubernetes_pod_labelpresent_app: 'true',
          __meta_kubernetes_pod_label_app_kubernetes_io_part_of: 'gpu-operator',
          __meta_kubernetes_pod_labelpresent_app_kubernetes_io_part_of: 'true',
          __meta_kubernetes_pod_annotation_example_com_team: 'x',
          __meta_kubernetes_pod_annotationpresent_example_com_team: 'true',
          __meta_kubernetes_pod_container_name: 'exporter',
          __meta_kubernetes_pod_container_image: 'dcgm:4',
          __meta_kubernetes_pod_container_port_name: 'metrics',
          __meta_kubernetes_pod_container_port_number: '9400',
          __meta_kubernetes_pod_container_port_protocol: 'TCP',
        },
      ],
    )
  })

  it('are those that are selected, have an address and are not finished', async () => {
    const { start, found, discovery } = discover([
      pod('a', '10.0.0.1'),
      pod('b', '10.0.0.2', { labels: { app: 'web' } }),
      pod('c', ''),
      pod('d', '10.0.0.4', { phase: 'Succeeded' }),
      pod('e', '10.0.0.5', { phase: 'Failed' }),
      pod('f', '10.0.0.6', { phase: 'Pending' }),
      pod('g', 'fd00::7'),
    ])
    await start()
    discovery.stop()
    assert.deepEqual(found(ADDRESS), [['10.0.0.1:9400', '10.0.0.6:9400', '[fd00::7]:9400']])
  })

  const named = {
    ports: [
      { name: 'web', containerPort: 80 },
      { name: 'metrics', containerPort: 9500 },
    ],
  }
  const ports: [port: number | string | undefined, address: string | undefined][] = [
    [9400, '10.0.0.1:9400'],
    ['9400', '10.0.0.1:9400'],
    ['metrics', '10.0.0.1:9500'],
    ['other', undefined],
    [undefined, '10.0.0.1'],
  ]
  for (const [port, address] of ports) {
    it(`with port ${JSON.stringify(port) ?? 'left open'} have the address ${address ?? 'of none'}`, async () => {
      const objects = [pod('a', '10.0.0.1', named)]
      const { port: _, ...config } = configOf({ config: kubernetesPods }, { label_selector: 'app=dcgm' })
      const { start, found, discovery } = discovering(objects, host =>
        createPodDiscovery({ ...config, ...(port !== undefined && { port }) }, host),
      )
      await start()
      discovery.stop()
      assert.deepEqual(found(ADDRESS), [[address]])
    })
  }

  it('can be chosen by fields and by namespaces', async () => {
    const objects = [
      pod('a', '10.0.0.1', { namespace: 'x' }),
      pod('b', '10.0.0.2', { namespace: 'x', node: 'n2' }),
      pod('c', '10.0.0.3', { namespace: 'y' }),
      pod('d', '10.0.0.4', { namespace: 'z' }),
    ]
    const { start, found, discovery } = discover(objects, {
      namespaces: ['x', 'y'],
      field_selector: 'spec.nodeName=n1',
    })
    await start()
    discovery.stop()
    assert.deepEqual(found(ADDRESS), [['10.0.0.1:9400', '10.0.0.3:9400']])
  })

  it('come, change and go with the pods, and who stays is the same object', async () => {
    const { start, updates, host, store, discovery } = discover([pod('a', '10.0.0.1'), pod('b', '10.0.0.2')])
    await start()
    store.apply([{ type: 'MODIFIED', object: pod('b', '10.0.0.9') }])
    await host.clock.advance(1000)
    store.apply([{ type: 'DELETED', object: pod('b', '10.0.0.9') }])
    await host.clock.advance(1000)
    store.apply([{ type: 'MODIFIED', object: pod('a', '10.0.0.1', { phase: 'Succeeded' }) }])
    await host.clock.advance(1000)
    discovery.stop()
    const addresses = updates.map(targets => targets.map(({ labels }) => labels.get(ADDRESS)))
    assert.deepEqual(addresses, [
      ['10.0.0.1:9400', '10.0.0.2:9400'],
      ['10.0.0.1:9400', '10.0.0.9:9400'],
      ['10.0.0.1:9400'],
      [],
    ])
    assert.equal(updates[1]![0], updates[0]![0])
  })

  it('are not told again when something changes that they do not show', async () => {
    const { start, updates, host, store, discovery } = discover([pod('a', '10.0.0.1')])
    await start()
    store.apply([{ type: 'MODIFIED', object: pod('a', '10.0.0.1', { status: { startTime: '2026-01-01T00:00:00Z' } }) }])
    await host.clock.advance(5000)
    discovery.stop()
    assert.equal(updates.length, 1)
  })

  it('that change many at a time are told at most once a second', async () => {
    const { start, updates, host, store, discovery } = discover([pod('a', '10.0.0.1')])
    await start()
    for (let i = 0; i < 30; i++) {
      store.apply([{ type: 'MODIFIED', object: pod('a', `10.0.1.${i}`) }])
      await host.clock.advance(100)
    }
    await host.clock.advance(1000)
    discovery.stop()
    assert.ok(updates.length <= 5, `${updates.length} updates`)
    assert.equal(updates.at(-1)![0]!.labels.get(ADDRESS), '10.0.1.29:9400')
  })

  it('are not announced before those of all namespaces are known, and not after the end', async () => {
    const objects = [pod('a', '10.0.0.1', { namespace: 'x' }), pod('b', '10.0.0.2', { namespace: 'y' })]
    const { start, updates, network, host, discovery, store } = discover(objects, { namespaces: ['x', 'y'] })
    network.serve(`${SERVER}/api/v1/namespaces/y/pods`, () => {})
    await start()
    await host.clock.advance(10_000)
    assert.deepEqual(updates, [])
    discovery.stop()
    discovery.stop()
    store.apply([{ type: 'DELETED', object: pod('a', '10.0.0.1', { namespace: 'x' }) }])
    await host.clock.advance(120_000)
    assert.deepEqual(updates, [])
  })

  it('stay as they were while the API is away', async () => {
    const { start, updates, network, host, api, discovery } = discover([pod('a', '10.0.0.1')])
    await start()
    network.serve(`${SERVER}/`, (_, response) => response.fail(new Error('connection refused')))
    api.close()
    await host.clock.advance(300_000)
    discovery.stop()
    assert.equal(updates.length, 1)
    assert.ok(
      host.logged.some(line => line.startsWith('failing the Kubernetes API')),
      host.logged.join('\n'),
    )
  })

  it('may be ended before they are looked for', () => {
    const { discovery } = discover([])
    discovery.stop()
  })
})

describe('a receiver with kubernetes_pods', () => {
  function receive(objects: readonly GivenObject[]) {
    const world = kubernetesWorld(objects)
    const batches: Batch[] = []
    const config = configOf(dcgm, {
      scrape_interval: '10s',
      kubernetes_pods: { label_selector: 'app=dcgm', port: 9400 },
    })
    const receiver = dcgm.create(config, world.host, batch => batches.push(batch))
    for (const ip of ['10.0.0.1', '10.0.0.2', '10.0.0.9']) {
      world.network.answer(`http://${ip}:9400/metrics`, { contentType: 'text/plain', body: 'gpu 1\n' })
    }
    return { ...world, receiver, batches }
  }

  it('scrapes each pod for its node, and ends the target of a pod that goes or changes its address', async () => {
    const { host, store, receiver, batches } = receive([pod('a', '10.0.0.1'), pod('b', '10.0.0.2', { node: 'n2' })])
    await receiver.start?.()
    await host.clock.advance(10_000)
    const active = (): string[] => receiver.targets!().active.map(({ url, node, state }) => `${url} ${node} ${state}`)
    assert.deepEqual(active(), ['http://10.0.0.1:9400/metrics n1 up', 'http://10.0.0.2:9400/metrics n2 up'])
    const first = batches.find(({ source }) => source.name.includes('10.0.0.1'))!.source
    assert.deepEqual(
      [first.node, getLabel(first.labels, 'job'), getLabel(first.labels, 'instance'), first.labels.names.length],
      ['n1', 'dcgm', '10.0.0.1:9400', 2],
    )
    batches.length = 0
    store.apply([{ type: 'MODIFIED', object: pod('b', '10.0.0.9', { node: 'n2' }) }])
    await host.clock.advance(11_000)
    const ended = batches.filter(({ outcome }) => outcome === 'removed').map(({ source }) => source.name)
    assert.deepEqual([...new Set(ended)], ['http://10.0.0.2:9400/metrics'])
    assert.deepEqual(active(), ['http://10.0.0.1:9400/metrics n1 up', 'http://10.0.0.9:9400/metrics n2 up'])
    assert.ok(
      batches.some(({ source, outcome }) => source === first && outcome === 'ok'),
      'the other goes on',
    )
    await receiver.stop?.(0)
  })

  it('says what is missing when pods may not be read', async () => {
    const { host, network, receiver } = receive([])
    network.serve(`${SERVER}/api/v1/pods`, (_, response) => {
      response.head(403, { 'content-type': 'application/json' })
      response.chunk(
        JSON.stringify({ kind: 'Status', code: 403, reason: 'Forbidden', message: 'User "x" cannot list' }),
      )
      response.end()
    })
    await receiver.start?.()
    await host.clock.advance(10_000)
    await receiver.stop?.(0)
    assert.ok(host.logged.some(line => line.includes('resources: ["pods"], verbs: ["list", "watch"]')))
  })
})
