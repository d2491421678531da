/** The whole way with real servers: what happens in a cluster, and the labels that samples of GPUs have then. */
import assert from 'node:assert/strict'
import { parseAllDocuments } from 'yaml'
import { samplesIn } from '../../pipeline/simulator/samples.ts'
import { factSamples } from '../../receivers/kubernetes-api/fact-samples.ts'
import { eventually, get, startGpucol } from '../../support/gpucol-process.ts'
import { scraped, startCollector, type Collector, type Joined } from './collector.ts'
import { startGpuExporter, type GpuExporter } from './gpu-exporter.ts'
import { ADMIN, kubeServersOrSkip, VIEWER, type KubeServers } from './kube-servers.ts'
import { createObjects, type Objects, type Texts } from './objects.ts'
import { openTcpGate, type TcpGate } from './tcp-gate.ts'

const NAMESPACE = 'vision'
const NODE = 'gpu-1'
/** Found at owners. */
const OF_OWNERS = ['tier', 'contact', 'user']
const RBAC = '/apis/rbac.authorization.k8s.io/v1'

type Rule = { readonly apiGroups: string[]; readonly resources: string[]; readonly verbs: string[] }

describe('labels that are joined in a real cluster', function () {
  this.timeout(120_000)
  let servers: KubeServers
  let objects: Objects
  let gate: TcpGate
  let gpus: GpuExporter
  let byApi: Collector
  let byMetrics: Collector
  let metricsUrl: string
  const collectors: Collector[] = []
  /** What the Kubernetes API lets know of pods, after each step. */
  const known: Record<string, Texts> = {}
  /** Their direct owners. */
  const owners: Record<string, string> = {}

  before(async function () {
    servers = await kubeServersOrSkip(this)
    gate = await openTcpGate(servers.port)
    gpus = await startGpuExporter(NODE, NAMESPACE)
    objects = createObjects(servers, NAMESPACE)
    await makeCluster()
  })
  after(async () => {
    for (const one of collectors) await one.stop()
    await gpus?.stop()
    await gate?.stop()
    await servers?.stop()
  })

  async function collector(receivers: Readonly<Record<string, object>>): Promise<Collector> {
    const started = await startCollector(receivers, gpus)
    collectors.push(started)
    return started
  }

  async function makeCluster(): Promise<void> {
    const { write } = servers
    const resources = { cpu: '64', memory: '1Ti', pods: '110', 'nvidia.com/gpu': '8' }
    const hard = { 'requests.nvidia.com/gpu': '64', 'requests.memory': '1Ti' }
    const status = {
      capacity: resources,
      allocatable: resources,
      addresses: [{ type: 'InternalIP', address: '10.0.0.1' }],
      conditions: [{ type: 'Ready', status: 'True' }],
    }
    await write('POST', '/api/v1/namespaces', {
      metadata: { name: NAMESPACE, labels: { team: 'blue', department: 'research' } },
    })
    await write('POST', '/api/v1/nodes', { metadata: { name: NODE, labels: { 'runai/node-pool': 'h100' } } })
    await write('PATCH', `/api/v1/nodes/${NODE}/status`, { status })
    await write('POST', `/api/v1/namespaces/${NAMESPACE}/resourcequotas`, {
      metadata: { name: 'gpus' },
      spec: { hard },
    })
    await write('PATCH', `/api/v1/namespaces/${NAMESPACE}/resourcequotas/gpus/status`, {
      status: { hard, used: { 'requests.nvidia.com/gpu': '0', 'requests.memory': '0' } },
    })
    for (const kind of ['PyTorchJob', 'JobSet', 'Wombat', 'Zoo']) await objects.define(kind)
    await objects.make('Deployment/web', { labels: { tier: 'gold' }, annotations: { contact: 'ann' } })
    await objects.make('ReplicaSet/web-7c9f', { owner: 'Deployment/web' })
    await objects.make('CronJob/nightly')
    await objects.make('Job/nightly-29120880', { owner: 'CronJob/nightly' })
    await objects.make('PyTorchJob/bert', { labels: { project: 'language' }, annotations: { user: 'bob' } })
    await objects.make('JobSet/sweep')
    await objects.make('Job/sweep-0', { owner: 'JobSet/sweep' })
    await objects.make('Zoo/berlin')
    await objects.make('Wombat/w', { owner: 'Zoo/berlin' })
    await addPod('web-1', 'ReplicaSet/web-7c9f', 'Deployment/web', { tier: 'gold', contact: 'ann' })
    await addPod('nightly-1', 'Job/nightly-29120880', 'CronJob/nightly', { workload_type: 'training' })
    await addPod('bert-1', 'PyTorchJob/bert', 'PyTorchJob/bert', {
      workload_type: 'distributed',
      project: 'language',
      user: 'bob',
    })
    await addPod('sweep-1', 'Job/sweep-0', 'JobSet/sweep', { workload_type: 'distributed' })
    await addPod('wombat-1', 'Wombat/w', 'Zoo/berlin')
    await addPod('lonely', undefined, 'Pod/lonely')
  }

  /** With a GPU. A pod of that name is replaced. Its direct owner, and the workload with what else is known by it. */
  async function addPod(name: string, owner: string | undefined, workload: string, more: Texts = {}): Promise<void> {
    if (name in known) await objects.remove(`Pod/${name}`)
    await objects.make(`Pod/${name}`, owner === undefined ? {} : { owner })
    owners[name] = owner ?? `Pod/${name}`
    known[name] = labelsOf(name, workload, more)
    gpus.show(Object.keys(known))
  }

  function labelsOf(pod: string, workload: string, more: Texts): Texts {
    const [kind, name] = workload.split('/') as [string, string]
    return {
      pod_uuid: objects.uid(`Pod/${pod}`),
      node: NODE,
      nodepool: 'h100',
      department: 'research',
      project: NAMESPACE,
      team: 'blue',
      workload_id: objects.uid(workload),
      workload_kind: kind,
      workload_name: name,
      ...more,
    }
  }

  /** Kube-state-metrics knows no uids of owners, neither their labels, and nothing of custom resources but who refers to them. */
  function knownByMetrics(): Joined {
    return Object.fromEntries(
      Object.entries(known).map(([pod, labels]) => {
        const [kind, name] = owners[pod]!.split('/') as [string, string]
        const isFollowed = kind === 'ReplicaSet' || kind === 'Job'
        const workload_kind = isFollowed ? labels['workload_kind']! : kind
        const workload_name = isFollowed ? labels['workload_name']! : name
        const workload_id = kind === 'Pod' ? labels['pod_uuid']! : `${NAMESPACE}/${workload_kind}/${workload_name}`
        const told = Object.entries(labels).filter(([label]) => !OF_OWNERS.includes(label))
        return [pod, { ...Object.fromEntries(told), project: NAMESPACE, workload_id, workload_kind, workload_name }]
      }),
    )
  }

  async function restartApiServer(): Promise<void> {
    await servers.killApiServer()
    await servers.startApiServer()
  }

  it('are those of the workload at the top of the owners, of whatever kind', async () => {
    byApi = await collector({ kubernetes_api: { kubeconfig: servers.kubeconfig(ADMIN, gate.port) } })
    await byApi.becomes(known)
  })

  it('are with kube-state-metrics those that it can tell', async () => {
    const kinds = ['pods', 'nodes', 'namespaces', 'deployments', 'replicasets', 'jobs', 'resourcequotas']
    metricsUrl = await servers.startKubeStateMetrics([
      `--resources=${kinds.join(',')}`,
      `--metric-labels-allowlist=${kinds.map(kind => `${kind}=[*]`).join(',')}`,
    ])
    byMetrics = await collector({ kube_state_metrics: scraped(metricsUrl) })
    await byMetrics.becomes(knownByMetrics())
  })

  it('are those of the API where both are read', async () => {
    const kubeconfig = servers.kubeconfig(ADMIN)
    const byBoth = await collector({ kubernetes_api: { kubeconfig }, kube_state_metrics: scraped(metricsUrl) })
    await byBoth.becomes(known)
    await byBoth.stop()
  })

  it('stand beside the same facts, whoever told them', async () => {
    const theirs = factSamples(samplesIn(await get(metricsUrl)))
    const ours = factSamples(await byApi.facts())
    assert.ok(ours.length > 60, `${ours.length} facts`)
    assert.deepEqual(ours, theirs)
  })

  it('are those of another pod, when one is made again under its name', async () => {
    await objects.make('StatefulSet/db')
    await addPod('web-1', 'StatefulSet/db', 'StatefulSet/db')
    await byApi.becomes(known)
    await byMetrics.becomes(knownByMetrics())
  })

  it('follow the labels and annotations of owners and namespaces', async () => {
    await objects.change('CronJob/nightly', { labels: { tier: 'silver' } })
    await objects.change('PyTorchJob/bert', { labels: { project: null }, annotations: { user: 'eve' } })
    await servers.write('PATCH', `/api/v1/namespaces/${NAMESPACE}`, { metadata: { labels: { team: 'green' } } })
    for (const [pod, labels] of Object.entries(known)) known[pod] = { ...labels, team: 'green' }
    known['nightly-1'] = { ...known['nightly-1'], tier: 'silver' }
    known['bert-1'] = { ...known['bert-1'], project: NAMESPACE, user: 'eve' }
    await byApi.becomes(known)
    await byMetrics.becomes(knownByMetrics())
  })

  it('stay while the API server is away, and are right again when it is back', async () => {
    await servers.killApiServer()
    await byApi.until(/the Kubernetes API is failing/)
    await byApi.becomes(known)
    await servers.startApiServer()
    await addPod('web-2', 'ReplicaSet/web-7c9f', 'Deployment/web', { tier: 'gold', contact: 'ann', team: 'green' })
    await byApi.becomes(known)
    await byApi.until(/the Kubernetes API is well again/)
  })

  it('are right when etcd has forgotten what happened since they were', async () => {
    const expired = (): Promise<number> =>
      byApi.own('gpucol_receiver_kubernetes_watch_restarts_total', { resource: 'pods', reason: 'expired' })
    const before = await expired()
    gate.close('break')
    await addPod('web-2', 'StatefulSet/db', 'StatefulSet/db', { team: 'green' })
    await addPod('lonely', 'Job/sweep-0', 'JobSet/sweep', { workload_type: 'distributed', team: 'green' })
    await addPod('late', undefined, 'Pod/late', { team: 'green' })
    await servers.compact()
    // Only a server that was not there does not remember.
    await restartApiServer()
    gate.open()
    await byApi.becomes(known)
    assert.ok((await expired()) > before)
  })

  describe('with the rules that gpucol rbac prints', () => {
    let rules: Rule[]
    let byViewer: Collector

    before(async () => {
      await addPod('web-3', 'ReplicaSet/web-7c9f', 'Deployment/web', { tier: 'gold', contact: 'ann', team: 'green' })
      rules = await printedRules(byApi.config)
      await servers.write('POST', `${RBAC}/clusterroles`, { metadata: { name: 'viewer' }, rules })
      await servers.write('POST', `${RBAC}/clusterrolebindings`, {
        metadata: { name: 'viewer' },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'viewer' },
        subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'viewer' }],
      })
      // The server takes a moment to learn of a role.
      await eventually(
        () => servers.ask('/api/v1/pods', { token: VIEWER }),
        ({ status }) => status === 200,
      )
      byViewer = await collector({ kubernetes_api: { kubeconfig: servers.kubeconfig(VIEWER) } })
    })

    /** An owner that may not be read is the workload. */
    function knownByViewer(unreadable: Readonly<Record<string, string>> = {}): Joined {
      const own = Object.entries({ 'wombat-1': 'Wombat/w', ...unreadable }).map(([pod, owner]) => {
        return [pod, labelsOf(pod, owner, { team: 'green' })] as const
      })
      return { ...known, ...Object.fromEntries(own) }
    }

    it('are the same, except for owners of kinds that it could not know of', async () => {
      await byViewer.becomes(knownByViewer())
      const complaints = byViewer.output().match(/needs the rule .*$/gm)
      assert.deepEqual(complaints, [
        'needs the rule { apiGroups: ["example.com"], resources: ["wombats"], verbs: ["list", "watch"] }',
      ])
    })

    it('are still right when one kind may not be read any more, which the log says', async () => {
      const fewer = rules.map(rule => ({ ...rule, resources: rule.resources.filter(one => one !== 'replicasets') }))
      await servers.write('PATCH', `${RBAC}/clusterroles/viewer`, { rules: fewer })
      // Who watches already may go on until the server ends it.
      await restartApiServer()
      await byViewer.until(
        /may not watch replicasets\.apps: its ClusterRole needs the rule \{ apiGroups: \["apps"\], resources: \["replicasets"\], verbs: \["list", "watch"\] \}/,
      )
      await objects.make('ReplicaSet/web-8d', { owner: 'Deployment/web' })
      await addPod('web-4', 'ReplicaSet/web-8d', 'Deployment/web', { tier: 'gold', contact: 'ann', team: 'green' })
      await addPod('bert-2', 'PyTorchJob/bert', 'PyTorchJob/bert', {
        workload_type: 'distributed',
        user: 'eve',
        team: 'green',
      })
      await byViewer.becomes(knownByViewer({ 'web-4': 'ReplicaSet/web-8d' }))
      await byApi.becomes(known)
    })

    it('are those of the workload again when the rule is there again', async () => {
      await servers.write('PATCH', `${RBAC}/clusterroles/viewer`, { rules })
      await byViewer.becomes(knownByViewer())
      await byViewer.until(/replicasets\.apps is well again/)
    })
  })
})

async function printedRules(config: string): Promise<Rule[]> {
  const printed = startGpucol(['rbac', '--config', config])
  assert.equal(await printed.ended, 0, printed.output())
  const documents = parseAllDocuments(printed.output()).map(
    document => document.toJS() as { kind: string; rules: Rule[] },
  )
  return documents.find(({ kind }) => kind === 'ClusterRole')!.rules
}
