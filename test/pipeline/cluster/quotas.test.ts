import assert from 'node:assert/strict'
import {
  keepClusterQueue,
  keepDepartment,
  keepLocalQueue,
  keepProject,
  keepQueue,
  keepResourceQuota,
  quotaFromSeen,
} from '../../../pipeline/cluster/keep-quota.ts'
import { effectiveQuotas, type Quota, type QuotaObject } from '../../../pipeline/cluster/quotas.ts'
import { labelsFrom } from '../../../pipeline/model/labels.ts'
import { createSource } from '../../support/batch-from-text.ts'

type Spec = Record<string, unknown>

const object = (name: string, spec: Spec, metadata: Spec = {}, status: Spec = {}): Parameters<typeof keepQueue>[0] => ({
  metadata: { name, uid: `uid-${name}`, ...metadata },
  spec,
  status,
})
const queueResources = (field: string, gpu?: unknown, cpu?: unknown, memory?: unknown): Spec => ({
  gpu: gpu === undefined ? undefined : { [field]: gpu },
  cpu: cpu === undefined ? undefined : { [field]: cpu },
  memory: memory === undefined ? undefined : { [field]: memory },
})
const project = (name: string, department: string, queues: readonly Spec[]): QuotaObject =>
  keepProject(object(name, { department, queues }))
const poolOf = (name: string, nodepool: string, gpu?: number): Spec => ({
  name,
  nodepool,
  resources: queueResources('deserved', gpu, 16_000, 64_000),
})
const queue = (name: string, parentQueue: string | undefined, gpu?: number, metadata: Spec = {}): QuotaObject =>
  keepQueue(object(name, { parentQueue, resources: queueResources('quota', gpu) }, metadata))
const resourceQuota = (namespace: string, name: string, hard: Spec, spec: Spec = {}): QuotaObject =>
  keepResourceQuota(object(name, { hard, ...spec }, { namespace }))
const localQueue = (namespace: string, clusterQueue: string): QuotaObject =>
  keepLocalQueue(object('local', { clusterQueue }, { namespace }))
const clusterQueue = (name: string, gpus: string, cohort?: string): QuotaObject =>
  keepClusterQueue(
    object(name, {
      cohort,
      resourceGroups: [{ flavors: [{ resources: [{ name: 'nvidia.com/gpu', nominalQuota: gpus }] }] }],
    }),
  )

/** `name project/department@pool gpus cpu memory`, `-` for what is not told. */
function text({ name, project, department, nodepool, gpus, cpuCores, memoryBytes }: Quota): string {
  const amounts = [gpus, cpuCores, memoryBytes].map(amount => amount ?? '-').join(' ')
  return `${name} ${project ?? '-'}/${department ?? '-'}@${nodepool ?? '-'} ${amounts}`
}

const cases: readonly (readonly [about: string, object: QuotaObject, rows: readonly string[]])[] = [
  [
    'a project of Run:ai has a row for each node pool',
    project('vision', 'research', [poolOf('vision-a100', 'a100', 8), poolOf('vision-h100', 'h100', 0.5)]),
    ['vision-a100 vision/research@a100 8 16 64000000000', 'vision-h100 vision/research@h100 0.5 16 64000000000'],
  ],
  ['a project without queues has one number', keepProject(object('old', { deservedGpus: 3 })), ['old old/-@- 3 - -']],
  ['a project may tell nothing', keepProject(object('new', {})), ['new new/-@- - - -']],
  [
    'less than nothing is no limit',
    keepProject(object('free', { queues: [{ name: 'free', resources: queueResources('deserved', -1, -1, -1) }] })),
    ['free free/-@- Infinity Infinity Infinity'],
  ],
  [
    'nothing is nothing',
    keepProject(object('none', { queues: [{ name: 'none', resources: queueResources('deserved', 0, 0, 0) }] })),
    ['none none/-@- 0 0 0'],
  ],
  [
    'a department has no project',
    keepDepartment(object('research', { deservedGpus: 20 })),
    ['research -/research@- 20 - -'],
  ],
  [
    'a queue with a parent is a project of a department',
    queue('vision', 'research', 4),
    ['vision vision/research@- 4 - -'],
  ],
  [
    'a queue without a parent is a department',
    queue('research', undefined, -1),
    ['research -/research@- Infinity - -'],
  ],
  [
    'a queue of a node pool is of the project before the pool',
    queue('vision-a100', 'research', 4, { labels: { 'runai/node-pool': 'a100' } }),
    ['vision-a100 vision/research@a100 4 - -'],
  ],
  [
    'a queue that a project owns is of that project',
    queue('q-1', 'research', 4, { ownerReferences: [{ kind: 'Project', name: 'vision' }] }),
    ['q-1 vision/research@- 4 - -'],
  ],
  [
    'a ClusterQueue has the sum over flavors and GPUs of all makers',
    keepClusterQueue(
      object('cq', {
        cohortName: 'all',
        resourceGroups: [
          {
            flavors: [
              {
                resources: [
                  { name: 'nvidia.com/gpu', nominalQuota: '8' },
                  { name: 'cpu', nominalQuota: '500m' },
                ],
              },
              { resources: [{ name: 'nvidia.com/gpu', nominalQuota: 4 }] },
            ],
          },
          {
            flavors: [
              {
                resources: [
                  { name: 'amd.com/gpu', nominalQuota: 2 },
                  { name: 'memory', nominalQuota: '1Gi' },
                  { name: 'nvidia.com/mig-1g.5gb', nominalQuota: 7 },
                ],
              },
            ],
          },
        ],
      }),
    ),
    ['cq -/all@- 14 0.5 1073741824'],
  ],
  ['a ClusterQueue may have no groups', keepClusterQueue(object('cq', {})), ['cq -/-@- - - -']],
  ['a LocalQueue has no amounts', localQueue('team', 'cq'), ['local -/-@- - - -']],
  [
    'a ResourceQuota limits requests',
    resourceQuota('team', 'q', { 'requests.nvidia.com/gpu': '4', 'requests.cpu': '1500m', memory: '2Gi', pods: '10' }),
    ['q -/-@- 4 1.5 2147483648'],
  ],
  [
    'a ResourceQuota may only limit limits',
    resourceQuota('team', 'q', { 'limits.nvidia.com/gpu': '4', 'limits.cpu': 2 }),
    ['q -/-@- 4 2 -'],
  ],
  [
    'a ResourceQuota of some pods is none of the namespace',
    resourceQuota('team', 'q', { cpu: 1 }, { scopes: ['BestEffort'] }),
    [],
  ],
  [
    'what is of another form is not told',
    keepQueue(object('odd', { parentQueue: 7, resources: { gpu: 'x', cpu: { quota: [] } } })),
    ['odd -/odd@- - - -'],
  ],
]

describe('what is kept of quotas', () => {
  for (const [about, { rows }, expected] of cases) {
    it(`says that ${about}`, () => assert.deepEqual(rows.map(text), expected))
  }

  it('is the same from kube-state-metrics', () => {
    const fact = (resource: string, type: string, value: number) => ({
      name: 'kube_resourcequota',
      labels: labelsFrom([
        ['resource', resource],
        ['type', type],
      ]),
      value,
    })
    const facts = [
      fact('requests.nvidia.com/gpu', 'hard', 4),
      fact('requests.nvidia.com/gpu', 'used', 1),
      fact('requests.cpu', 'hard', 1.5),
    ]
    const seen = { kind: 'ResourceQuota', namespace: 'team', name: 'q', uid: undefined, facts, source: createSource() }
    const [row] = resourceQuota('team', 'q', { 'requests.nvidia.com/gpu': '4', 'requests.cpu': '1500m' }).rows
    assert.deepEqual(quotaFromSeen(seen), row)
  })
})

const projectsByNamespace: Record<string, string> = { 'runai-vision': 'vision' }

function effective(...objects: readonly QuotaObject[]): Record<string, string[]> {
  const quotas = effectiveQuotas(
    objects.flatMap(({ rows }) => rows),
    namespace => projectsByNamespace[namespace] ?? namespace,
  )
  return Object.fromEntries(
    Object.entries(quotas)
      .map(([level, rows]) => [level, rows.map(text)] as const)
      .filter(([, rows]) => rows.length > 0),
  )
}

describe('the quotas that count', () => {
  it('are those of a project of Run:ai, not of the queues made of it', () => {
    assert.deepEqual(
      effective(
        queue('vision-a100', 'research', 8),
        queue('vision-h100', 'research', 2, { labels: { 'runai/node-pool': 'h100' } }),
        queue('research', undefined, 10),
        project('vision', 'research', [poolOf('vision-a100', 'a100', 8), poolOf('vision-h100', 'h100', 2)]),
        keepDepartment(object('research', { deservedGpus: 10 })),
        resourceQuota('runai-vision', 'q', { 'requests.nvidia.com/gpu': 1 }),
      ),
      {
        projects: [
          'vision-a100 vision/research@a100 8 16 64000000000',
          'vision-h100 vision/research@h100 2 16 64000000000',
        ],
        departments: ['research -/research@- 10 - -'],
      },
    )
  })

  it('are those of leaf queues where there are no projects', () => {
    assert.deepEqual(
      effective(
        queue('top', undefined, 10),
        queue('middle', 'top', 6),
        queue('leaf', 'middle', 4),
        queue('other', 'top', 2),
      ),
      {
        projects: ['leaf leaf/middle@- 4 - -', 'other other/top@- 2 - -'],
        departments: ['top -/top@- 10 - -', 'middle -/middle@- 6 - -'],
      },
    )
  })

  it('are those of the ClusterQueue that one project uses; one that several use is none of them', () => {
    assert.deepEqual(
      effective(
        clusterQueue('own', '8', 'all'),
        clusterQueue('common', '16'),
        clusterQueue('unused', '1'),
        localQueue('a', 'own'),
        localQueue('b', 'common'),
        localQueue('c', 'common'),
        resourceQuota('a', 'q', { 'requests.nvidia.com/gpu': 1 }),
        resourceQuota('b', 'q', { 'requests.nvidia.com/gpu': 2 }),
      ),
      {
        projects: ['own a/all@- 8 - -', 'q b/-@- 2 - -'],
        shared: ['common -/-@- 16 - -', 'unused -/-@- 1 - -'],
      },
    )
  })

  it('are the tightest of a namespace, and those of several namespaces of a project together', () => {
    assert.deepEqual(
      effective(
        resourceQuota('vision', 'a', { 'requests.nvidia.com/gpu': 4, cpu: 8 }),
        resourceQuota('vision', 'b', { 'requests.nvidia.com/gpu': 2, memory: 1 }),
        resourceQuota('runai-vision', 'c', { 'requests.nvidia.com/gpu': 1 }),
      ),
      { projects: ['a vision/-@- 2 8 1', 'c vision/-@- 1 - -'] },
    )
  })

  it('of one object are not those of another that has its name in another namespace', () => {
    assert.deepEqual(effective(resourceQuota('a', 'q', { cpu: 1 }), resourceQuota('b', 'q', { cpu: 2 })), {
      projects: ['q a/-@- - 1 -', 'q b/-@- - 2 -'],
    })
  })
})
