import assert from 'node:assert/strict'
import { clusterTables } from '../../../pipeline/cluster/tables.ts'
import { keepProject } from '../../../pipeline/cluster/keep-quota.ts'
import { quotaKey } from '../../../pipeline/cluster/quotas.ts'
import { seenOf, type SeenDevice } from '../../../pipeline/cluster/seen.ts'
import { objectKey } from '../../../pipeline/cluster/seen-object.ts'
import { seenTables } from '../../../pipeline/cluster/find-pod.ts'
import { nameKey } from '../../../pipeline/cluster/seen-names.ts'
import type { ComponentStatus, Extension, Processor } from '../../../pipeline/component.ts'
import { EMPTY_LABELS } from '../../../pipeline/model/labels.ts'
import { web } from '../../../pipeline/server/web.ts'
import { joinWorkload } from '../../../processors/join-workload.ts'
import { ask } from '../../support/ask.ts'
import {
  objectNamed,
  podNamed,
  putChain,
  putNamespace,
  putNode,
  putPod,
  referenceTo,
  removePod,
} from '../../support/cluster-objects.ts'
import { configOf } from '../../support/config-of.ts'
import { serviceHost } from './service-host.ts'

const SOURCE = { component: 'dcgm', name: 'http://n1:9400/metrics', labels: EMPTY_LABELS }
const HEAD = 'pod.annotation.user, owner.annotation.user, pod.label.user, owner.label.user'

describe('/explain', () => {
  let statuses: ComponentStatus[]
  let host: ReturnType<typeof serviceHost>
  let extension: Extension
  let processors: Processor[]

  beforeEach(async () => {
    statuses = []
    processors = []
    host = serviceHost({ components: () => statuses })
    extension = web.create({ endpoint: '127.0.0.1:0' }, host)
    await extension.start!()
  })
  afterEach(async () => {
    for (const processor of processors) await processor.stop!(0)
    await extension.stop!(0)
  })

  async function join(id: string, config: unknown, ...pipelines: string[]): Promise<void> {
    for (const pipeline of pipelines) {
      const processor = joinWorkload.create(configOf(joinWorkload, config), { ...host, id }, () => {})
      await processor.start!()
      processors.push(processor)
      statuses.push({ kind: 'processor', id, pipeline, state: 'ok' })
    }
  }

  /** Without the labels that nothing is known of, and with single spaces. */
  async function explained(query: string): Promise<string[]> {
    const { body, headers } = await ask(host.addresses[0]!, `GET /explain?${query}`, { accept: 'text/plain' })
    assert.equal(headers['content-type'], 'text/plain; charset=utf-8')
    return body
      .trimEnd()
      .split('\n')
      .map(line => line.replaceAll(/(?<=\S) +/g, ' '))
      .filter(line => !/^ +\w+ - nothing is at/.test(line))
  }

  async function statusOf(query: string): Promise<number> {
    return (await ask(host.addresses[0]!, `GET /explain?${query}`)).status
  }

  function device(parts: Partial<SeenDevice>): SeenDevice {
    const none = { part: undefined, profile: undefined, index: undefined, model: undefined }
    return { id: 'GPU-1', ...none, host: 'n1', source: SOURCE, holders: [], ...parts }
  }

  function holder(pod: string, namespace: string | undefined) {
    return { pod, namespace, container: 'main', podUid: undefined, job: undefined, replicas: undefined }
  }

  function showDevices(...devices: SeenDevice[]): void {
    seenOf(host.cluster).devices(SOURCE, devices)
  }

  it('says step by step how a pod came to its labels, and which devices it has', async () => {
    await join('join_workload', { add: { team: 'namespace.label.team', tier: ['pod.label.tier'] } }, 'metrics')
    putChain(host.cluster, ['Pod/web-x', 'ReplicaSet.apps/web', 'Deployment.apps/web'], {
      labels: { user: 'ann' },
      node: 'n1',
    })
    putNamespace(host.cluster, 'ns', { project: 'vision', team: 'a' })
    showDevices(
      device({ model: 'H100', holders: [holder('web-x', 'ns')] }),
      device({ id: 'GPU-2', part: '3', profile: '1g.5gb', holders: [holder('other', 'ns'), holder('web-x', 'ns')] }),
      device({ id: 'GPU-3', holders: [holder('web-x', 'elsewhere')] }),
    )
    assert.deepEqual(await explained('pod=web-x&namespace=ns'), [
      'Pod ns/web-x',
      '  known from the Kubernetes API: uid uid-Pod/web-x, on node n1, Running',
      '',
      'Devices that it has:',
      '  GPU-1: H100, on n1, container main, shown by http://n1:9400/metrics',
      '    all of it: the exporter names it',
      '  GPU-2: instance 3, 1g.5gb, on n1, container main, shown by http://n1:9400/metrics',
      '    all of it, which is shared: the exporter names it',
      '',
      'join_workload in the pipeline metrics:',
      '  1. ReplicaSet.apps web, its controller',
      '  2. Deployment.apps web, its controller: the workload',
      '  Nothing owns that.',
      '  pod_uuid uid-Pod/web-x the pod itself',
      '  node n1 the pod itself',
      '  workload_id uid-Deployment.apps/web the owner chain, which ends at: top',
      '  workload_name web the owner chain, which ends at: top',
      '  workload_kind Deployment the owner chain, which ends at: top',
      '  workload_type - the catalog has no type for the kind Deployment.apps',
      '  project vision namespace.label.project',
      '  user ann pod.label.user',
      '  team a namespace.label.team',
    ])
  })

  it('says that the quota of its project decided the department', async () => {
    await join('join_workload', {}, 'metrics')
    putPod(host.cluster, podNamed('alone', { labels: { project: 'vision' } }))
    const tables = clusterTables(host.cluster)
    const quota = keepProject({ metadata: { name: 'vision' }, spec: { department: 'research' } })
    tables.readKinds.set('Project.run.ai', 1)
    tables.quotas.set(quotaKey('project.run.ai', '', 'vision'), quota)
    const lines = await explained('pod=alone')
    assert.ok(lines.includes('  department research the quota vision (project.run.ai)'), lines.join('\n'))
  })

  it('says where a label was looked for in vain', async () => {
    await join('join_workload', {}, 'metrics')
    putPod(host.cluster, podNamed('alone'))
    const { body } = await ask(host.addresses[0]!, 'GET /explain?pod=alone', { accept: 'text/plain' })
    assert.match(body, new RegExp(`^ {2}user +- +nothing is at ${HEAD}$`, 'm'))
    assert.match(body, /^ {2}department +- +nothing is at .*, the quota of its project or queue$/m)
    assert.match(body, /^ {2}queue +- +nothing is at .*, its PodGroup or Workload$/m)
    assert.match(body, /^ {2}Nothing owns it: it is its own workload\.$/m)
    assert.match(body, /^No devices are known: /m)
  })

  it('explains by the rules of every processor, with the names that labels go out by', async () => {
    await join('join_workload', {}, 'metrics', 'other')
    await join(
      'join_workload/teams',
      { labels: { project: 'team' }, look_up: { project: ['pod.label.team'] } },
      'third',
    )
    putPod(host.cluster, podNamed('alone', { labels: { team: 'a' } }))
    const lines = await explained('pod=alone')
    assert.deepEqual(
      lines.filter(line => /^(join| +(project|team) )/.test(line)),
      [
        'join_workload in the pipelines metrics, other:',
        '  project ns namespace.name',
        'join_workload/teams in the pipeline third:',
        '  team a pod.label.team',
      ],
    )
  })

  it('forgets a processor that has stopped', async () => {
    await join('join_workload', {}, 'metrics')
    putPod(host.cluster, podNamed('alone'))
    await processors[0]!.stop!(0)
    assert.equal(
      (await explained('pod=alone')).at(-1),
      'No pipeline has the processor join_workload, so nothing is added to its series.',
    )
  })

  it('says that it waits for an owner, and what for', async () => {
    await join('join_workload', {}, 'metrics')
    const job = objectNamed('Job.batch/train')
    putPod(host.cluster, podNamed('train-0', { owners: [referenceTo(job)], annotations: { user: 'ann' } }))
    const lines = await explained('pod=train-0')
    const waits = '- it waits for an owner that has not been read yet'
    assert.deepEqual(lines.slice(lines.indexOf('join_workload in the pipeline metrics:') + 1), [
      '  1. Job.batch train, its controller: the workload',
      '  That has not been read yet: what depends on it is not added until it is.',
      '  pod_uuid uid-Pod/train-0 the pod itself',
      '  node - it is bound to none',
      ...['workload_id', 'workload_name', 'workload_kind', 'workload_type', 'project', 'department'].map(
        label => `  ${label} ${waits}`,
      ),
      '  user ann pod.annotation.user',
      `  queue ${waits}`,
    ])
  })

  const longChain = Array.from({ length: 20 }, (_, i) => `Kind.example.com/${i}`)
  for (const [title, config, put, expected] of [
    [
      'the way ends at a kind',
      { stop_at: ['ReplicaSet.apps'] },
      () => putChain(host.cluster, ['Pod/p', 'ReplicaSet.apps/web', 'Deployment.apps/web']),
      ['  1. ReplicaSet.apps web, its controller: the workload', '  The way ends at that kind, whatever owns it.'],
    ],
    [
      'a node owns the pod',
      {},
      () => putPod(host.cluster, podNamed('p', { owners: [referenceTo(objectNamed('Node/n1'))] })),
      ['  A node owns it: it is its own workload.'],
    ],
    [
      'a node owns an owner',
      {},
      () => putChain(host.cluster, ['Pod/p', 'Mirror.example.com/m', 'Node/n1']),
      ['  1. Mirror.example.com m, its controller: the workload', '  A node owns that, which is no workload.'],
    ],
    [
      'owners go round in a circle',
      {},
      () => {
        const a = objectNamed('A.example.com/a')
        putPod(host.cluster, podNamed('p', { owners: [referenceTo(a)] }))
        clusterTables(host.cluster).owners.set(a.uid, { ...a, owners: [referenceTo(a)] })
      },
      [
        '  1. A.example.com a, its controller: the workload',
        '  What owns that is on the way already, so the way ends there.',
      ],
    ],
    [
      'the way is too long',
      {},
      () => putChain(host.cluster, ['Pod/p', ...longChain]),
      [
        '  16. Kind.example.com 15, its controller: the workload',
        '  The way is as long as it may be, so it ends there.',
      ],
    ],
    [
      'none of several owners is the controller',
      {},
      () => {
        const [a, b] = [objectNamed('A.example.com/a'), objectNamed('B.example.com/b')]
        putPod(host.cluster, podNamed('p', { owners: [referenceTo(a, false), referenceTo(b, false)] }))
        clusterTables(host.cluster).owners.set(a.uid, a)
      },
      [
        '  1. A.example.com a, the first of several owners, none of which is its controller: the workload',
        '  Nothing owns that.',
      ],
    ],
    [
      'an owner is guessed',
      { missing_owner: 'names' },
      () => {
        const replicaSet = objectNamed('ReplicaSet.apps/web-5d4')
        putPod(host.cluster, podNamed('p', { owners: [referenceTo(replicaSet)] }))
        clusterTables(host.cluster).owners.set(replicaSet.uid, 'unreadable')
      },
      [
        '  1. ReplicaSet.apps web-5d4, its controller',
        '  2. Deployment.apps web, guessed from the name: the workload',
        '  What is below that cannot be read.',
        '  workload_name web a guess from the name of an owner that cannot be read',
      ],
    ],
  ] as const) {
    it(`says that ${title}`, async () => {
      await join('join_workload', config, 'metrics')
      put()
      const lines = await explained('pod=p')
      for (const line of expected) assert.ok(lines.includes(line), `${line}\nis not in\n${lines.join('\n')}`)
    })
  }

  it('explains a pod that only kube-state-metrics tells of', async () => {
    await join('join_workload', {}, 'metrics')
    const { objects, names } = seenTables(host.cluster)
    const key = objectKey('Pod', 'ns', 'alone', undefined)
    objects.set(key, { kind: 'Pod', namespace: 'ns', name: 'alone', uid: undefined, facts: [], source: SOURCE })
    names.set(nameKey('Pod', 'ns', 'alone'), [key])
    const lines = await explained('pod=alone')
    assert.equal(lines[1], '  known from kube-state-metrics: bound to no node')
    assert.ok(lines.includes('  pod_uuid - nobody told its uid'))
  })

  it('says that an owner cannot be read', async () => {
    await join('join_workload', {}, 'metrics')
    const job = objectNamed('Job.batch/train')
    putPod(host.cluster, podNamed('train-0', { owners: [referenceTo(job, false)] }))
    clusterTables(host.cluster).owners.set(job.uid, 'unreadable')
    const lines = await explained('pod=train-0')
    assert.ok(lines.includes('  1. Job.batch train, its only owner: the workload'))
    assert.ok(lines.includes('  That cannot be read (gone, forbidden, or no such kind), so the way ends there.'))
  })

  it('says that the pod is gone', async () => {
    const pod = podNamed('alone')
    putPod(host.cluster, pod)
    removePod(host.cluster, pod)
    const lines = await explained('pod=alone')
    assert.equal(lines[2], '  It is gone: it labels samples that come late, and counts nowhere.')
    assert.equal(await statusOf('pod=alone'), 200)
  })

  it('says that series are held back while the cluster is being read', async () => {
    clusterTables(host.cluster).feeds.set('kubernetes_api', 'reading')
    await join('join_workload', {}, 'metrics')
    putPod(host.cluster, podNamed('alone'))
    processors[0]!.flush!()
    const lines = await explained('pod=alone')
    assert.ok(lines.includes('  The cluster is still being read.'))
    assert.ok(lines.includes('  Series of pods are held back until the cluster has been read.'))
  })

  it('asks which namespace is meant where several have such a pod', async () => {
    for (const namespace of ['b', 'a']) putPod(host.cluster, podNamed('alone', { namespace, uid: namespace }))
    assert.deepEqual((await explained('pod=alone')).slice(0, 2), [
      'There are pods alone in the namespaces a, b.',
      'Say which is meant: --namespace NAMESPACE, or namespace=NAMESPACE in the address.',
    ])
    assert.equal(await statusOf('pod=alone'), 409)
    assert.equal((await explained('pod=alone&namespace=b'))[0], 'Pod b/alone')
  })

  it('says that of several pods of one name nobody knows the last', async () => {
    const { objects, names } = seenTables(host.cluster)
    const keys = ['1', '2'].map(uid => objectKey('Pod', 'ns', 'alone', uid))
    const pod = { kind: 'Pod', namespace: 'ns', name: 'alone', facts: [], source: SOURCE }
    keys.forEach((key, i) => objects.set(key, { ...pod, uid: `${i}` }))
    names.set(nameKey('Pod', 'ns', 'alone'), keys)
    assert.match((await explained('pod=alone'))[0]!, /^There are several pods ns\/alone, /)
    assert.equal(await statusOf('pod=alone'), 409)
  })

  describe('of a pod that is not known', () => {
    it('says so, and that nobody tells of pods', async () => {
      assert.deepEqual((await explained('pod=alone')).slice(0, 2), [
        'Pod alone is not known in any namespace.',
        'Nobody tells of pods: that takes the receiver kubernetes_api, or kube_state_metrics with normalize.',
      ])
      assert.equal(await statusOf('pod=alone'), 404)
    })

    it('says that the cluster is still being read', async () => {
      clusterTables(host.cluster).feeds.set('kubernetes_api', 'reading')
      assert.equal((await explained('pod=alone'))[1], 'The cluster is still being read.')
    })

    it('says where else there is one, and which devices name it', async () => {
      clusterTables(host.cluster).feeds.set('kubernetes_api', 'complete')
      putPod(host.cluster, podNamed('alone'))
      showDevices(device({ holders: [holder('alone', 'nowhere')] }))
      assert.deepEqual(await explained('pod=alone&namespace=nowhere'), [
        'Pod nowhere/alone is not known.',
        'There are pods alone in: ns.',
        '',
        'It has no device.',
        'Devices that name it and that it does not have:',
        '  GPU-1: on n1, container main, shown by http://n1:9400/metrics',
        '    nobody knows the pod',
      ])
    })
  })

  describe('of GPUs', () => {
    const group = { 'runai-gpu-group': 'g' }

    async function deviceLines(query: string): Promise<string[]> {
      return (await explained(query)).filter(line => /^(Devices|It has| +GPU-| {4})/.test(line))
    }

    it('says how much a pod has of one that it shares, and whose group that is', async () => {
      putPod(host.cluster, podNamed('reserve', { namespace: 'runai-reservation', node: 'n1', labels: group }))
      putPod(host.cluster, podNamed('frac', { node: 'n1', labels: group, annotations: { 'gpu-fraction': '0.5' } }))
      putPod(host.cluster, podNamed('more', { node: 'n1', labels: group, annotations: { 'gpu-fraction': '0.75' } }))
      putPod(host.cluster, podNamed('vague', { node: 'n1', labels: { 'runai-gpu-group': 'h' } }))
      showDevices(device({ holders: [holder('reserve', 'runai-reservation')] }), device({ id: 'GPU-2' }))
      assert.deepEqual(await deviceLines('pod=frac'), [
        'Devices that it has:',
        '  GPU-1: on n1, shown by http://n1:9400/metrics',
        '    0.4 of it, which is shared: its gpu group, of reservation pod reserve; more is asked for than there is',
      ])
      assert.deepEqual(await deviceLines('pod=reserve'), [
        'It has no device.',
        'Devices that name it and that it does not have:',
        '  GPU-1: on n1, container main, shown by http://n1:9400/metrics',
        '    it only reserves the GPU for others',
      ])
      assert.deepEqual(await deviceLines('pod=vague'), ['It has no device.'])
    })

    it('says that a pod which only reserves one gets no workload', async () => {
      await join('join_workload', { add: { rack: 'node.label.rack', team: 'namespace.label.team' } }, 'metrics')
      putNode(host.cluster, 'n1', { rack: 'r7', 'runai/node-pool': 'p1' })
      putPod(host.cluster, podNamed('reserve', { namespace: 'runai-reservation', node: 'n1', labels: group }))
      const lines = (await explained('pod=reserve')).filter(line => /^ {2}\w+ \S+ /.test(line))
      const none = '- it only reserves a GPU for others'
      assert.deepEqual(lines.slice(2), [
        '  pod_uuid uid-Pod/reserve the pod itself',
        '  node n1 the pod itself',
        ...['workload_id', 'workload_name', 'workload_kind', 'workload_type'].map(name => `  ${name} ${none}`),
        ...['project', 'department', 'user', 'queue'].map(name => `  ${name} ${none}`),
        '  nodepool p1 node.label.runai/node-pool',
        '  rack r7 node.label.rack',
        `  team ${none}`,
      ])
    })

    it('says which instance a pod has, how many replicas and which jobs', async () => {
      const annotations = { 'runai-mig-device': '{"gpuindex":0,"gpuinstanceid":9}' }
      putPod(host.cluster, podNamed('p', { node: 'n1', annotations }))
      showDevices(
        device({ index: '0', part: '9' }),
        device({ id: 'GPU-2', holders: [{ ...holder('p', 'ns'), replicas: 2 }] }),
        device({ id: 'GPU-3', holders: [{ ...holder('p', 'ns'), job: '17' }] }),
      )
      assert.deepEqual(await deviceLines('pod=p'), [
        'Devices that it has:',
        '  GPU-1: instance 9, on n1, shown by http://n1:9400/metrics',
        '    all of it: its annotation runai-mig-device names the instance',
        '  GPU-2: on n1, container main, shown by http://n1:9400/metrics',
        '    all of it, which is shared: the exporter names it, with 2 of its replicas',
        '  GPU-3: on n1, container main, shown by http://n1:9400/metrics',
        '    all of it: the exporter names the job 17',
      ])
    })

    it('says why a pod has not what names it', async () => {
      putNode(host.cluster, 'n1', {})
      putPod(host.cluster, podNamed('done', { node: 'n1', phase: 'Succeeded' }))
      putPod(host.cluster, podNamed('moved', { node: 'n2' }))
      putPod(host.cluster, podNamed('free'))
      const gone = podNamed('gone', { node: 'n1' })
      putPod(host.cluster, gone)
      removePod(host.cluster, gone)
      showDevices(device({ holders: ['done', 'moved', 'free', 'gone'].map(pod => holder(pod, 'ns')) }))
      const because = async (pod: string) => (await deviceLines(`pod=${pod}`)).at(-1)
      assert.equal(await because('done'), '    the pod has succeeded')
      assert.equal(await because('moved'), '    the pod is on n2, so the name is that of an earlier one')
      assert.equal(await because('free'), '    the pod is bound to no node')
      assert.equal(await because('gone'), '    the pod is gone')
    })
  })

  it('is JSON for programs', async () => {
    await join('join_workload', { labels: { pod_uuid: '', node: '' } }, 'metrics')
    putChain(host.cluster, ['Pod/train-0', 'Job.batch/train'], { node: 'n1' })
    showDevices(device({ holders: [holder('train-0', 'ns')] }))
    const { body, headers } = await ask(host.addresses[0]!, 'GET /explain?pod=train-0')
    assert.equal(headers['content-type'], 'application/json')
    const answer = JSON.parse(body) as { joined: { labels: { name: string }[] }[] }
    answer.joined[0]!.labels = answer.joined[0]!.labels.filter(({ name }) => /_type|project|user/.test(name))
    assert.deepEqual(answer, {
      pod: 'train-0',
      namespace: 'ns',
      outcome: 'found',
      namespaces: ['ns'],
      cluster: 'nobody reads it',
      devices: [
        {
          id: 'GPU-1',
          node: 'n1',
          containers: ['main'],
          target: 'http://n1:9400/metrics',
          share: 1,
          is_shared: false,
          because: 'the exporter names it',
        },
      ],
      from: 'the Kubernetes API',
      uid: 'uid-Pod/train-0',
      node: 'n1',
      phase: 'Running',
      joined: [
        {
          processor: 'join_workload',
          pipelines: ['metrics'],
          is_holding: false,
          owners: [
            {
              kind: 'Job.batch',
              name: 'train',
              uid: 'uid-Job.batch/train',
              how: 'controller',
              is_read: true,
              is_workload: true,
            },
          ],
          end: 'top',
          labels: [
            { name: 'workload_type', value: 'training', because: 'the kind Job' },
            { name: 'project', value: 'ns', because: 'namespace.name' },
            { name: 'user', value: null, because: `nothing is at ${HEAD}` },
          ],
        },
      ],
    })
    const unknown = JSON.parse((await ask(host.addresses[0]!, 'GET /explain?pod=x')).body) as Record<string, unknown>
    assert.equal(unknown['outcome'], 'unknown_pod')
    assert.match(String(unknown['message']), /^Pod x is not known in any namespace\./)
  })

  it('needs a pod', async () => {
    assert.equal(await statusOf(''), 400)
    assert.equal(await statusOf('pod='), 400)
  })
})
