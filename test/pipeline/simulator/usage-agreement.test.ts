/** CPU, memory and shares of GPUs are one state, too: in the kubelet, in the exporters of the node and in both versions of kube-state-metrics. */
import assert from 'node:assert/strict'
import { byName, samplesIn, type Sample } from './samples.ts'
import { startTestSimulation, type TestSimulation } from './test-simulation.ts'
import { gpuGroupsOf, isHolding, isReservation, look, type PodObject, type Views } from './views.ts'

const NODES = 4
/** A number of full ten seconds: then the kubelets have their next sample within a second. */
const STEP_MINUTES = 47
const MEBIBYTE = 1_048_576

type Families = Map<string, Sample[]>
type NodeViews = {
  readonly exporter: Families
  readonly runai: Families
  readonly resource: Families
  readonly cadvisor: Families
}

describe('what the simulated cluster uses', function () {
  this.timeout(60_000)
  let simulation: TestSimulation
  /** The same cluster with an older kube-state-metrics. */
  let older: TestSimulation
  before(async () => {
    const config = { nodes: NODES, seed: 5 }
    simulation = await startTestSimulation({ ...config, kube_state_metrics: { shards: 2 } })
    older = await startTestSimulation({ ...config, kube_state_metrics: { version: 1 } })
  })
  after(() => Promise.all([simulation.end(), older.end()]))

  async function families(path: string): Promise<Families> {
    return byName(samplesIn(await simulation.text(path)))
  }

  it('is the same wherever it is shown, for 24 hours', async () => {
    for (let minute = 0; minute <= 24 * 60; minute += STEP_MINUTES) {
      const views = await look(simulation, NODES)
      const olderState = byName(samplesIn(await older.text('/kube-state-metrics/metrics')))
      const exporters: Pick<NodeViews, 'exporter' | 'runai'>[] = []
      for (let node = 0; node < NODES; node++) {
        exporters.push({
          exporter: await families(`/nodes/node-${node}/node-exporter/metrics`),
          runai: await families(`/nodes/node-${node}/runai-node-exporter/metrics`),
        })
      }
      // Kubelets look at their nodes a part of a second later, before anything else happens, and tell it from then on.
      simulation.clock.step(1000)
      const nodes: NodeViews[] = []
      for (let node = 0; node < NODES; node++) {
        nodes.push({
          ...exporters[node]!,
          resource: await families(`/nodes/node-${node}/metrics/resource`),
          cadvisor: await families(`/nodes/node-${node}/metrics/cadvisor`),
        })
      }
      try {
        checkVersions(views, olderState)
        for (const [at, node] of nodes.entries()) {
          checkUsedPods(`node-${at}`, node, views)
          checkMemory(node)
          checkCpu(node)
          checkCapacity(`node-${at}`, node, views)
        }
        checkFractions(nodes, views)
      } catch (error) {
        throw new Error(`after ${minute} minutes: ${(error as Error).message}`, { cause: error })
      }
      simulation.clock.step(STEP_MINUTES * 60_000 - 1000)
      older.clock.step(STEP_MINUTES * 60_000)
    }
  })
})

function isRunning({ status }: PodObject): boolean {
  return status.containerStatuses?.[0]?.state.running !== undefined
}

function sum(samples: readonly Sample[]): number {
  return samples.reduce((total, { value }) => total + Number(value), 0)
}

function only(families: Families, name: string): number {
  const samples = families.get(name)!
  assert.equal(samples.length, 1, name)
  return Number(samples[0]!.value)
}

/** Both versions request the same for the same pods, which are in the same phases and have the same owners. */
function checkVersions({ kubeState }: Views, older: Families): void {
  const describe = (families: Families, name: string, labels: readonly string[]): string[] =>
    families
      .get(name)!
      .map(sample => `${labels.map(label => sample.labels[label]).join(' ')} ${sample.value}`.replaceAll('<none>', ''))
      .toSorted()
  const pod = ['namespace', 'pod']
  const same: [name: string, labels: string[]][] = [
    ['kube_pod_container_resource_requests', [...pod, 'container', 'node', 'resource', 'unit']],
    ['kube_pod_container_resource_limits', [...pod, 'container', 'node', 'resource', 'unit']],
    ['kube_pod_info', [...pod, 'uid', 'node', 'host_ip', 'pod_ip', 'created_by_kind', 'created_by_name']],
    ['kube_pod_status_phase', [...pod, 'phase']],
    ['kube_pod_owner', [...pod, 'owner_kind', 'owner_name', 'owner_is_controller']],
    ['kube_pod_container_status_restarts_total', [...pod, 'container']],
    ['kube_node_status_capacity', ['node', 'resource', 'unit']],
    ['kube_node_status_allocatable', ['node', 'resource', 'unit']],
    ['kube_resourcequota', ['namespace', 'resource', 'type']],
  ]
  for (const [name, labels] of same) assert.deepEqual(describe(older, name, labels), describe(kubeState, name, labels))
  const requests = kubeState.get('kube_pod_container_resource_requests')!
  for (const [family, resource] of [
    ['kube_pod_container_resource_requests_cpu_cores', 'cpu'],
    ['kube_pod_container_resource_requests_memory_bytes', 'memory'],
  ] as const) {
    const generic = requests.filter(({ labels }) => labels['resource'] === resource)
    const labels = [...pod, 'container', 'node']
    assert.deepEqual(describe(older, family, labels), describe(new Map([[family, generic]]), family, labels))
  }
}

/** The kubelet knows the pods that are bound to its node and not over, and their containers while they run. */
function checkUsedPods(name: string, { resource, cadvisor }: NodeViews, { pods }: Views): void {
  const here = pods.filter(pod => isHolding(pod) && pod.spec.nodeName === name)
  const nameOf = ({ metadata }: PodObject): string => `${metadata.namespace}/${metadata.name}`
  const rows = (family: string): string[] =>
    resource
      .get(family)!
      .map(({ labels }) => `${labels['namespace']}/${labels['pod']}`)
      .toSorted()
  assert.ok(here.length > 0)
  assert.deepEqual(rows('pod_memory_working_set_bytes'), here.map(nameOf).toSorted())
  assert.deepEqual(rows('container_memory_working_set_bytes'), here.filter(isRunning).map(nameOf).toSorted())
  const ids = cadvisor.get('container_cpu_usage_seconds_total')!.map(({ labels }) => labels['id']!)
  const uids = ids.flatMap(id => /\/pod([^/]+)$/.exec(id)?.[1] ?? [])
  assert.deepEqual(uids.toSorted(), here.map(({ metadata }) => metadata.uid).toSorted())
}

/** The memory of the pods and of the services of the node is the node's, which is what node-exporter does not have available. */
function checkMemory({ exporter, resource, cadvisor }: NodeViews): void {
  const pods = sum(resource.get('pod_memory_working_set_bytes')!)
  const services = sum(
    cadvisor
      .get('container_memory_working_set_bytes')!
      .filter(({ labels }) => labels['id']!.startsWith('/system.slice/')),
  )
  const node = only(resource, 'node_memory_working_set_bytes')
  assert.equal(pods + services, node)
  const used = only(exporter, 'node_memory_MemTotal_bytes') - only(exporter, 'node_memory_MemAvailable_bytes')
  // Between the two looks some programs go on filling their memory.
  assert.ok(node >= used && node < used * 1.02, `${used}, then ${node}`)
}

/** What the kubelet counts for the node is what node-exporter has in modes that are not idle. */
function checkCpu({ exporter, resource, cadvisor }: NodeViews): void {
  const rows = exporter.get('node_cpu_seconds_total')!
  const busy = sum(rows.filter(({ labels }) => !['idle', 'iowait'].includes(labels['mode']!)))
  const counted = only(resource, 'node_cpu_usage_seconds_total')
  const cpus = only(cadvisor, 'machine_cpu_cores')
  assert.equal(rows.length, 8 * cpus)
  assert.ok(counted >= busy && counted < busy + cpus + 0.01 * rows.length, `${busy}, then ${counted}`)
}

/** Machines are as large as the API says, and nobody gave away more of them than there is. */
function checkCapacity(name: string, { exporter, cadvisor }: NodeViews, { kubeState }: Views): void {
  const amount = (family: string, resource: string): number =>
    Number(
      kubeState.get(family)!.find(({ labels }) => labels['node'] === name && labels['resource'] === resource)!.value,
    )
  assert.equal(only(exporter, 'node_memory_MemTotal_bytes'), amount('kube_node_status_capacity', 'memory'))
  assert.equal(only(cadvisor, 'machine_memory_bytes'), amount('kube_node_status_capacity', 'memory'))
  assert.equal(only(cadvisor, 'machine_cpu_cores'), amount('kube_node_status_capacity', 'cpu'))
  for (const resource of ['cpu', 'memory']) {
    const requested = sum(
      kubeState
        .get('kube_pod_container_resource_requests')!
        .filter(({ labels }) => labels['node'] === name && labels['resource'] === resource),
    )
    assert.ok(requested <= amount('kube_node_status_allocatable', resource), `${requested} of ${resource}`)
  }
}

/** Run:ai's exporter shows pods with a part of a GPU on the GPU that is reserved for them, and all of what that GPU does. */
function checkFractions(nodes: readonly NodeViews[], { dcgm, pods }: Views): void {
  const uuidsOfGroup = new Map(
    pods
      .filter(({ metadata }) => metadata.namespace === 'runai-reservation')
      .map(({ metadata: { labels, annotations } }) => [
        labels['runai-gpu-group'],
        annotations['run.ai/reserve_for_gpu_index'],
      ]),
  )
  const expected = pods
    .filter(pod => pod.metadata.namespace.startsWith('runai-') && !isReservation(pod) && isRunning(pod))
    .flatMap(pod => gpuGroupsOf(pod).map(group => `${pod.metadata.uid} ${uuidsOfGroup.get(group)}`))
  const rows = (name: string): Sample[] => nodes.flatMap(({ runai }) => runai.get(name) ?? [])
  const shown = rows('runai_pod_gpu_utilization').map(({ labels }) => `${labels['pod_uuid']} ${labels['gpu']}`)
  assert.deepEqual(shown.toSorted(), expected.toSorted())

  const byGpu = Map.groupBy(rows('runai_pod_gpu_memory_used_bytes'), ({ labels }) => labels['gpu'])
  for (const [uuid, samples] of byGpu) {
    const read = (name: string): number =>
      Number(dcgm.find(sample => sample.name === name && sample.labels['UUID'] === uuid)!.value)
    assert.equal(sum(samples) / MEBIBYTE + 4, read('DCGM_FI_DEV_FB_USED'))
    const percent = sum(rows('runai_pod_gpu_utilization').filter(({ labels }) => labels['gpu'] === uuid))
    assert.ok(Math.abs(percent - read('DCGM_FI_DEV_GPU_UTIL')) <= (samples.length + 1) / 2)
  }
}
