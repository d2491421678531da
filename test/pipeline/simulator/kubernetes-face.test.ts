import assert from 'node:assert/strict'
import { createSimulatedCluster } from '../../../pipeline/simulator/cluster.ts'
import { CUSTOM_KINDS, QUOTA_KINDS } from '../../../pipeline/simulator/workload-kinds/custom-kinds.ts'
import { startTestSimulation, type TestSimulation } from './test-simulation.ts'

type Resources = { resources: { name: string; kind: string; namespaced: boolean }[] }

describe('the Kubernetes API of the simulated cluster', () => {
  it('has the kinds of every server and of its operators before there are objects of them', async () => {
    // So small that most operators have nothing to do.
    const simulation = await startTestSimulation({ nodes: 1, gpus_per_node: 1 })
    try {
      const kinds = async (apiVersion: string): Promise<Resources['resources']> => {
        const path = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`
        return (JSON.parse(await simulation.text(path)) as Resources).resources
      }
      let withoutObjects = 0
      for (const { apiVersion, kind } of CUSTOM_KINDS) {
        const resource = (await kinds(apiVersion)).find(resource => resource.kind === kind)
        assert.ok(resource?.namespaced, kind)
        const list = JSON.parse(await simulation.text(`/apis/${apiVersion}/${resource.name}`)) as { items: unknown[] }
        if (list.items.length === 0) withoutObjects++
      }
      assert.ok(withoutObjects > 0)
      const namespaced = ['LocalQueue', 'PodGroup', 'Workload']
      for (const { apiVersion, kind } of QUOTA_KINDS) {
        const resource = (await kinds(apiVersion)).find(resource => resource.kind === kind)
        assert.equal(resource?.namespaced, namespaced.includes(kind), kind)
      }
      const core = (await kinds('v1')).map(({ kind }) => kind)
      for (const kind of ['Pod', 'Node', 'Namespace', 'Service', 'PersistentVolumeClaim'])
        assert.ok(core.includes(kind))
      for (const path of ['/api/v1/services', '/apis/apps/v1/statefulsets', '/apis/batch/v1/cronjobs'])
        assert.match(await simulation.text(path), /List"/)
    } finally {
      await simulation.end()
    }
  })

  it('knows every kind that a workload is made of', () => {
    const startMs = Date.parse('2026-03-02T09:00:00Z')
    const simulated = createSimulatedCluster({ seed: 1, nodes: 8, gpusPerNode: 8, startMs })
    const seen = new Set<string>()
    for (let hour = 0; hour < 48; hour++) {
      simulated.advance(startMs + hour * 3_600_000)
      for (const { apiVersion, kind } of simulated.state.owners) seen.add(`${apiVersion} ${kind}`)
    }
    const custom = [...seen].filter(kind => !/^(?:apps|batch)\/v1 /.test(kind)).toSorted()
    assert.deepEqual(custom, CUSTOM_KINDS.map(({ apiVersion, kind }) => `${apiVersion} ${kind}`).toSorted())
  })

  describe('with tokens', () => {
    const tokens = [
      { token: 'secret', rules: [{ apiGroups: [''], resources: ['nodes', 'pods'], verbs: ['list', 'watch'] }] },
    ]
    const faults = [
      {
        kind: 'deny',
        face: 'kubernetes_api',
        resources: ['pods'],
        verbs: ['list'],
        from: '1m',
        for: '1m',
        every: '5m',
      },
    ]
    let simulation: TestSimulation
    before(async () => {
      simulation = await startTestSimulation({ nodes: 1, kubernetes_api: { tokens }, faults })
    })
    after(() => simulation.end())

    async function ask(path: string, token = 'secret'): Promise<{ status: number; message: string | undefined }> {
      const headers = token === '' ? undefined : { authorization: `Bearer ${token}` }
      const response = await fetch(`http://${simulation.address}${path}`, { ...(headers && { headers }) })
      const { message } = (await response.json()) as { message?: string }
      return { status: response.status, message }
    }

    it('knows who asks, and answers what the rules of the token cover', async () => {
      assert.equal((await ask('/api/v1/nodes')).status, 200)
      assert.deepEqual(await ask('/api/v1/nodes', ''), { status: 401, message: 'Unauthorized' })
      assert.deepEqual(await ask('/api/v1/nodes', 'wrong'), { status: 401, message: 'Unauthorized' })
      assert.deepEqual(await ask('/apis/apps/v1/replicasets'), {
        status: 403,
        message:
          'replicasets.apps is forbidden: User "system:serviceaccount:gpucol:gpucol" cannot list resource "replicasets" in API group "apps" at the cluster scope',
      })
    })

    it('takes a right away for as long as a fault says', async () => {
      const statuses: number[] = []
      for (let minute = 0; minute < 8; minute++) {
        statuses.push((await ask('/api/v1/pods')).status)
        assert.equal((await ask('/api/v1/nodes')).status, 200)
        simulation.clock.step(60_000)
      }
      assert.deepEqual(statuses, [200, 403, 200, 200, 200, 200, 403, 200])
    })
  })

  for (const streaming of [true, false]) {
    it(`${streaming ? 'streams' : 'refuses to stream'} the present state to a watch, as told`, async () => {
      const simulation = await startTestSimulation({ kubernetes_api: { streaming_lists: streaming } })
      const query = 'watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=1'
      try {
        const response = await fetch(`http://${simulation.address}/api/v1/nodes?${query}`)
        if (!streaming) {
          assert.ok(response.status >= 400)
          await response.text()
          return
        }
        const reader = response.body!.getReader()
        let text = ''
        while (!text.includes('k8s.io/initial-events-end')) text += Buffer.from((await reader.read()).value!).toString()
        assert.equal(text.match(/"type":"ADDED"/g)!.length, 4)
        await reader.cancel()
      } finally {
        await simulation.end()
      }
    })
  }
})
