import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'
import { rbac } from '../../../pipeline/commands/rbac.ts'
import type { PolicyRule } from '../../../pipeline/simulator/kubernetes-api/access.ts'
import { owned, testReceiver } from '../../receivers/kubernetes-api/test-receiver.ts'
import { resultOf, type CommandResult } from '../../support/run-command.ts'
import { loadComponents } from '../../support/all-components.ts'

type Document = {
  kind: string
  metadata: { name: string; namespace?: string }
  rules?: PolicyRule[]
  roleRef?: unknown
  subjects?: unknown
}

describe('gpucol rbac', () => {
  let folder: string
  let path: string

  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'gpucol-'))
    path = join(folder, 'config.yaml')
  })
  after(() => rmSync(folder, { recursive: true }))

  /** `defined` is YAML for `receivers`; those in `used` are in the pipeline. */
  function run(defined: string, used: string, ...args: string[]): Promise<CommandResult> {
    writeFileSync(
      path,
      `receivers: ${defined}
exporters: { debug: }
service: { pipelines: { metrics: { receivers: [${used}], exporters: [debug] } } }
`,
    )
    return resultOf(rbac, ['--config', path, ...args], {
      registries: loadComponents,
    })
  }

  async function documentsFor(defined: string, used: string, ...args: string[]): Promise<Document[]> {
    const { code, out, err } = await run(defined, used, ...args)
    assert.deepEqual([code, err], [0, ''])
    return parseAllDocuments(out).map(document => document.toJS() as Document)
  }

  /** `get nodes/metrics`, with the namespace where there is one. */
  function allowed(documents: readonly Document[]): string[] {
    return documents.flatMap(({ rules = [], metadata: { namespace } }) =>
      rules.flatMap(({ verbs, apiGroups, resources }) =>
        resources.map(resource => {
          const name = [resource, ...apiGroups].filter(text => text !== '').join('.')
          return `${namespace === undefined ? '' : `${namespace}: `}${verbs.join(' ')} ${name}`
        }),
      ),
    )
  }

  const KUBELET = '{ static_targets: ["https://a:10250"] }'
  for (const [title, defined, used, expected] of [
    ['the pages of kubelets', `{ kubelet: ${KUBELET} }`, 'kubelet', ['get nodes/metrics']],
    [
      'other pages of kubelets',
      '{ kubelet: { static_targets: ["https://a:10250"], metrics_paths: [/metrics, /stats/summary, /pods] } }',
      'kubelet',
      ['get nodes/metrics', 'get nodes/stats', 'get nodes/proxy'],
    ],
    ['the same once', `{ kubelet: ${KUBELET}, kubelet/2: ${KUBELET} }`, 'kubelet, kubelet/2', ['get nodes/metrics']],
  ] as const) {
    it(`allows ${title}`, async () => {
      assert.deepEqual(allowed(await documentsFor(defined, used)), expected)
    })
  }

  it('says which receivers need a rule, and why', async () => {
    const { out } = await run(`{ kubelet: ${KUBELET}, kubelet/2: ${KUBELET} }`, 'kubelet, kubelet/2')
    assert.match(out, /^ {2}# kubelet, kubelet\/2: pages of the kubelets$/m)
    assert.doesNotMatch(out, /Owners of pods/)
  })

  it('binds the role to the service account', async () => {
    const documents = await documentsFor(`{ kubelet: ${KUBELET} }`, 'kubelet')
    assert.deepEqual(
      documents.map(({ kind }) => kind),
      ['ServiceAccount', 'ClusterRole', 'ClusterRoleBinding'],
    )
    assert.deepEqual(documents[0]!.metadata, { name: 'gpucol', namespace: 'gpucol' })
    assert.deepEqual(documents[2]!.roleRef, {
      apiGroup: 'rbac.authorization.k8s.io',
      kind: 'ClusterRole',
      name: 'gpucol',
    })
    assert.deepEqual(documents[2]!.subjects, [{ kind: 'ServiceAccount', name: 'gpucol', namespace: 'gpucol' }])
  })

  it('takes other names', async () => {
    const args = ['--name', 'gpus', '--namespace', 'monitoring', '--service-account', 'reader']
    const [account, role, binding] = await documentsFor(`{ kubelet: ${KUBELET} }`, 'kubelet', ...args)
    assert.deepEqual(account!.metadata, { name: 'reader', namespace: 'monitoring' })
    assert.equal(role!.metadata.name, 'gpus')
    assert.deepEqual(binding!.subjects, [{ kind: 'ServiceAccount', name: 'reader', namespace: 'monitoring' }])
  })

  it('refuses what is no name', async () => {
    for (const name of ['A', 'a: b', '12', '-a', '']) {
      const { code, err } = await run(`{ kubelet: ${KUBELET} }`, 'kubelet', `--namespace=${name}`)
      assert.equal(code, 2, name)
      assert.match(err, /--namespace: ".*" is no name/)
    }
  })

  it('allows reading pods, nodes, namespaces and well-known owners everywhere, and says how to add others', async () => {
    const { out } = await run('{ kubernetes_api: }', 'kubernetes_api')
    const rules = allowed(parseAllDocuments(out).map(document => document.toJS() as Document))
    for (const resource of ['pods', 'nodes', 'namespaces', 'replicasets.apps', 'jobs.batch', 'jobs.batch.volcano.sh']) {
      assert.ok(rules.includes(`get list watch ${resource}`), resource)
    }
    assert.equal(new Set(rules).size, rules.length, 'each once')
    assert.ok(!rules.some(rule => rule.includes('nodes/')), 'no kubelet is scraped')
    assert.equal(out.match(/^# .* add its group and the plural of its kind/gm)?.length, 1)
  })

  it('allows pods and owners only in the namespaces that are read', async () => {
    const documents = await documentsFor('{ kubernetes_api: { namespaces: [a, b] } }', 'kubernetes_api')
    assert.deepEqual(
      documents.map(({ kind, metadata: { namespace } }) => [kind, namespace]),
      [
        ['ServiceAccount', 'gpucol'],
        ['ClusterRole', undefined],
        ['ClusterRoleBinding', undefined],
        ['Role', 'a'],
        ['RoleBinding', 'a'],
        ['Role', 'b'],
        ['RoleBinding', 'b'],
      ],
    )
    const rules = allowed(documents)
    assert.deepEqual(
      rules.filter(rule => /(pods|nodes|namespaces|deployments\.apps|(local|cluster)queues\..*)$/.test(rule)),
      [
        'get list watch nodes',
        'get list watch namespaces',
        'get list watch clusterqueues.kueue.x-k8s.io',
        'a: get list watch pods',
        'a: get list watch localqueues.kueue.x-k8s.io',
        'a: get list watch deployments.apps',
        'b: get list watch pods',
        'b: get list watch localqueues.kueue.x-k8s.io',
        'b: get list watch deployments.apps',
      ],
    )
  })

  it('allows nothing in a namespace that is allowed everywhere', async () => {
    const defined = '{ kubernetes_api: , kubernetes_api/a: { namespaces: [a] } }'
    const documents = await documentsFor(defined, 'kubernetes_api, kubernetes_api/a')
    assert.deepEqual(
      documents.map(({ kind }) => kind),
      ['ServiceAccount', 'ClusterRole', 'ClusterRoleBinding'],
    )
  })

  it('is enough for the receiver', async () => {
    const [, role] = await documentsFor('{ kubernetes_api: }', 'kubernetes_api')
    const replicaSet = ['apps/v1', 'ReplicaSet', 'web-1', 'rs'] as const
    const deployment = ['apps/v1', 'Deployment', 'web', 'dep'] as const
    const objects = [
      owned('v1', 'Pod', 'web-1-x', 'p', replicaSet),
      owned(...replicaSet, deployment),
      owned(...deployment),
    ]
    const kinds = [
      { apiVersion: 'run.ai/v2', kind: 'Project' },
      ...['Department', 'Queue', 'PodGroup'].map(kind => ({ apiVersion: 'scheduling.run.ai/v2', kind })),
      ...['ClusterQueue', 'LocalQueue', 'Workload'].map(kind => ({ apiVersion: 'kueue.x-k8s.io/v1beta2', kind })),
    ]
    const { start, stop, feed, chain, host, tables } = testReceiver(objects, {}, { allow: role!.rules!, kinds })
    await start()
    assert.equal(feed(), 'complete')
    assert.equal(chain('team', 'web-1-x'), 'ReplicaSet/web-1 Deployment/web')
    // Those, and three that every server has.
    assert.equal(tables.readKinds.size, kinds.length + 3)
    assert.deepEqual(host.logged, [])
    stop()
  })

  it('says in one line that a config needs none', async () => {
    for (const [defined, used] of [
      ['{ dcgm: { static_targets: ["http://a:9400"] } }', 'dcgm'],
      ['{ dcgm: { static_targets: ["http://a:9400"] }, kubernetes_api: }', 'dcgm'],
    ] as const) {
      assert.deepEqual(await run(defined, used), {
        code: 0,
        out: '',
        err: `${path}: no receiver needs to read anything of Kubernetes\n`,
      })
    }
  })

  it('says what is wrong with a config', async () => {
    const { code, out, err } = await run('{ kubelet: { nothing: 1 } }', 'kubelet')
    assert.deepEqual([code, out], [2, ''])
    assert.match(err, /config\.yaml:1:\d+: unknown key `nothing`/)
  })
})
