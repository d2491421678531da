import assert from 'node:assert/strict'
import { seenTables } from '../../../pipeline/cluster/find-pod.ts'
import { quotaKey, type Quota } from '../../../pipeline/cluster/quotas.ts'
import { clusterTables } from '../../../pipeline/cluster/tables.ts'
import { QuotaRecords, type QuotaRecord, type Unlimited } from '../../../processors/roll-up/quota-records.ts'
import { modelRules } from '../../support/roll-up-cycle.ts'
import { testHost } from '../../support/test-host.ts'

function row(project: string, amounts: Partial<Quota>): Quota {
  return {
    origin: 'project.run.ai',
    name: project,
    namespace: '',
    project,
    department: 'lab',
    nodepool: undefined,
    parent: undefined,
    gpus: undefined,
    cpuCores: undefined,
    memoryBytes: undefined,
    ...amounts,
  }
}

function recordsOf(
  rows: readonly Quota[],
  unlimited: Unlimited = 'inf',
): Readonly<Record<'projects' | 'queues', readonly QuotaRecord[]>> {
  const host = testHost()
  const tables = clusterTables(host.cluster)
  for (const [i, one] of rows.entries()) {
    const { origin, namespace } = one
    const name = `${one.name}-${i}`
    tables.quotas.set(quotaKey(origin, namespace, name), {
      kind: 'Quota',
      origin,
      namespace,
      name,
      uid: name,
      rows: [one],
    })
  }
  const { identity } = modelRules(host).workload
  const records = new QuotaRecords()
  records.refresh(tables, seenTables(host.cluster), { identity, clusterId: 'c', unlimited })
  return { projects: [...records.projects.values()], queues: [...records.queues.values()] }
}

describe('records of quotas', () => {
  it('are one for a project, over all node pools', () => {
    const { projects, queues } = recordsOf([
      row('team', { name: 'team-a', nodepool: 'a', gpus: 2, cpuCores: 1.5 }),
      row('team', { name: 'team-b', nodepool: 'b', gpus: 4 }),
    ])
    assert.equal(projects.length, 1)
    assert.deepEqual(projects[0]!.quantities, { gpus: 6, cpu_cores: 1.5, memory_bytes: NaN })
    assert.deepEqual(
      queues.map(({ get }) => [get('queue'), get('nodepool')]),
      [
        ['team-a', 'a'],
        ['team-b', 'b'],
      ],
    )
  })

  it('are unlimited where one pool is', () => {
    const { projects } = recordsOf([row('team', { name: 'a', gpus: 2 }), row('team', { name: 'b', gpus: Infinity })])
    assert.equal(projects[0]!.quantities.gpus, Infinity)
  })

  for (const [unlimited, value, text] of [
    ['inf', Infinity, '+Inf'],
    ['-1', -1, '-1'],
    ['omit', NaN, undefined],
  ] as const) {
    it(`show no limit as ${text ?? 'nothing'} with ${unlimited}`, () => {
      const [record] = recordsOf([row('team', { gpus: Infinity, cpuCores: 2 })], unlimited).projects
      assert.equal(record!.quantities.gpus, value)
      assert.equal(record!.get('gpu_quota'), text)
      assert.equal(record!.get('cpu_quota'), '2000')
    })
  }

  it('are written in labels as objects of Run:ai have them', () => {
    const [record] = recordsOf([row('team', { gpus: 0.5, cpuCores: 0.1, memoryBytes: 8e9 })]).projects
    const texts = ['gpu_quota', 'cpu_quota', 'memory_quota', 'project', 'department'].map(name => record!.get(name))
    assert.deepEqual(texts, ['0.5', '100', '8000', 'team', 'lab'])
  })
})
