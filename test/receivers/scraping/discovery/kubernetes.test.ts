import assert from 'node:assert/strict'
import type { RbacRule } from '../../../../pipeline/component.ts'
import { dcgm } from '../../../../receivers/dcgm.ts'
import { kubeStateMetrics } from '../../../../receivers/kube-state-metrics.ts'
import { kubelet } from '../../../../receivers/kubelet.ts'
import { configOf } from '../../../support/config-of.ts'
import { testHost } from '../../../support/test-host.ts'

const { catalogs } = testHost()

function textOf({ group, resources, verbs, namespaces = [] }: RbacRule): string {
  return [...namespaces.map(name => `${name}:`), ...verbs, ...resources, group].join(' ').trim()
}

describe('what finds targets in Kubernetes', () => {
  const PODS = { label_selector: 'a=b' }
  const cases: [Record<string, unknown>, string[]][] = [
    [{}, []],
    [{ kubernetes_pods: PODS }, ['list watch pods']],
    [{ kubernetes_pods: { ...PODS, namespaces: ['x', 'y'] } }, ['x: y: list watch pods']],
    [{ kubernetes_nodes: {} }, ['list watch nodes']],
    [{ kubernetes_nodes: { through_api_server: true, port: 9400 } }, ['list watch nodes', 'get nodes/proxy']],
    [{ kubernetes_endpointslices: PODS }, ['list watch endpointslices discovery.k8s.io']],
    [{ kubernetes_endpointslices: { ...PODS, namespaces: ['x'] } }, ['x: list watch endpointslices discovery.k8s.io']],
  ]
  for (const [config, expected] of cases) {
    it(`needs to ${expected.join(', ') || 'read nothing'} for ${JSON.stringify(config)}`, () => {
      for (const rules of [
        dcgm.rbac!(configOf(dcgm, config), catalogs),
        kubeStateMetrics.rbac!(configOf(kubeStateMetrics, config), catalogs),
      ]) {
        assert.deepEqual(rules.map(textOf), expected)
      }
    })
  }

  const THROUGH = { through_api_server: true }
  const kubeletCases: [Record<string, unknown>, string[]][] = [
    [{ kubernetes_nodes: {} }, ['get nodes/metrics', 'list watch nodes']],
    [{ kubernetes_nodes: THROUGH }, ['list watch nodes', 'get nodes/proxy']],
    [
      { kubernetes_nodes: THROUGH, static_targets: ['https://10.0.0.1:10250'] },
      ['get nodes/metrics', 'list watch nodes', 'get nodes/proxy'],
    ],
    [
      { kubernetes_nodes: THROUGH, kubernetes_pods: PODS },
      ['get nodes/metrics', 'list watch pods', 'list watch nodes', 'get nodes/proxy'],
    ],
  ]
  for (const [config, expected] of kubeletCases) {
    it(`needs to ${expected.join(', ')} for kubelets with ${JSON.stringify(config)}`, () => {
      assert.deepEqual(kubelet.rbac!(configOf(kubelet, config), catalogs).map(textOf), expected)
    })
  }

  it('refuses namespaces that are named twice', () => {
    const twice = { label_selector: 'a=b', namespaces: ['x', 'x'] }
    for (const key of ['kubernetes_pods', 'kubernetes_endpointslices']) {
      assert.deepEqual(dcgm.check?.(configOf(dcgm, { [key]: twice })), [
        { path: [key, 'namespaces', 1], message: 'namespace "x" is here twice' },
      ])
    }
  })
})
