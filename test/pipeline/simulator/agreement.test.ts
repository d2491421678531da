/** What dcgm-exporter labels, what kube-state-metrics counts and what the API lists is one state, at every moment. */
import assert from 'node:assert/strict'
import { startTestSimulation, type TestSimulation } from './test-simulation.ts'
import { gpuGroupsOf, isHolding, isReservation, limitsOf, look, type PodObject, type Views } from './views.ts'

const NODES = 4
/** No round number: what happens at full hours is met at all distances. */
const STEP_MINUTES = 29

describe('the faces of the simulated cluster', function () {
  this.timeout(60_000)
  let simulation: TestSimulation
  before(async () => {
    simulation = await startTestSimulation({ nodes: NODES, seed: 5, kube_state_metrics: { shards: 2 } })
  })
  after(() => simulation.end())

  it('agree with each other for 24 hours', async () => {
    for (let minute = 0; minute <= 24 * 60; minute += STEP_MINUTES) {
      const views = await look(simulation, NODES)
      try {
        checkPods(views)
        checkRequests(views)
        checkDevices(views)
        checkFractions(views)
        checkNodes(views)
      } catch (error) {
        throw new Error(`after ${minute} minutes: ${(error as Error).message}`, { cause: error })
      }
      simulation.clock.step(STEP_MINUTES * 60_000)
    }
  })
})

/** kube-state-metrics knows the pods that the API lists, with their node, phase and owner. */
function checkPods({ kubeState, pods }: Views): void {
  const infos = new Map(kubeState.get('kube_pod_info')!.map(({ labels }) => [labels['uid'], labels]))
  const phases = new Map(
    kubeState
      .get('kube_pod_status_phase')!
      .filter(({ value }) => value === '1')
      .map(({ labels }) => [labels['uid'], labels['phase']]),
  )
  assert.deepEqual(new Set(infos.keys()), new Set(pods.map(({ metadata }) => metadata.uid)))
  for (const { metadata, spec, status } of pods) {
    const info = infos.get(metadata.uid)!
    assert.deepEqual(
      [info['namespace'], info['pod'], info['node'], phases.get(metadata.uid)],
      [metadata.namespace, metadata.name, spec.nodeName ?? '', status.phase],
    )
  }
}

/** What kube-state-metrics says that pods request is what their specs say. */
function checkRequests({ kubeState, pods }: Views): void {
  const requests = kubeState
    .get('kube_pod_container_resource_requests')!
    .filter(({ labels }) => labels['resource']!.startsWith('nvidia_com'))
    .map(
      ({ labels, value }) => `${labels['uid']} ${labels['container']} ${labels['node']} ${labels['resource']} ${value}`,
    )
  const expected = pods.flatMap(pod =>
    limitsOf(pod).map(
      ([resource, count]) =>
        `${pod.metadata.uid} ${pod.spec.containers[0]!.name} ${pod.spec.nodeName ?? ''} ${resource.replace(/[./-]/g, '_')} ${count}`,
    ),
  )
  assert.deepEqual(requests.toSorted(), expected.toSorted())
}

/**
 * Every device that dcgm-exporter labels with a pod is one that a pod on that node asked for, and the other way round. Older
 * kubelets also tell of pods that are over.
 */
function checkDevices({ dcgm, pods, nodes }: Views): void {
  const labelled = new Map<string, number>()
  for (const { name, labels } of dcgm) {
    if (name !== 'DCGM_FI_DEV_SM_CLOCK' || labels['pod'] === undefined) continue
    const kind = labels['GPU_I_PROFILE'] === undefined ? 'nvidia.com/gpu' : `nvidia.com/mig-${labels['GPU_I_PROFILE']}`
    const key = `${labels['Hostname']} ${labels['namespace']}/${labels['pod']}/${labels['container']} ${kind}`
    labelled.set(key, (labelled.get(key) ?? 0) + 1)
  }
  const rowsOf = (pod: PodObject): [key: string, count: number][] =>
    limitsOf(pod).map(([resource, count]) => [
      `${pod.spec.nodeName} ${pod.metadata.namespace}/${pod.metadata.name}/${pod.spec.containers[0]!.name} ${resource}`,
      count,
    ])
  const older = new Set(
    nodes.filter(node => node.status.nodeInfo.kubeletVersion < 'v1.34').map(node => node.metadata.name),
  )
  for (const pod of pods) {
    if (pod.spec.nodeName === undefined || isHolding(pod) || !older.has(pod.spec.nodeName)) continue
    for (const [key, count] of rowsOf(pod)) {
      assert.ok((labelled.get(key) ?? 0) <= count)
      labelled.delete(key)
    }
  }
  const expected = new Map(pods.filter(isHolding).flatMap(rowsOf))
  assert.ok(expected.size > 10)
  assert.deepEqual(labelled, expected)
}

/** Fractions find their GPUs through the reservation pods of their groups, and no GPU is handed out more than once. */
function checkFractions({ dcgm, pods, nodes }: Views): void {
  const reservations = new Map(
    pods.filter(isReservation).map(pod => [pod.metadata.labels['runai-gpu-group']!, pod] as const),
  )
  const uuidsOfPod = new Map(dcgm.map(({ labels }) => [labels['pod'], labels['UUID']]))
  for (const { metadata } of reservations.values()) {
    assert.equal(uuidsOfPod.get(metadata.name), metadata.annotations['run.ai/reserve_for_gpu_index'])
  }
  const memories = new Map(
    nodes.map(({ metadata }) => [metadata.name, Number(metadata.labels['nvidia.com/gpu.memory'])]),
  )
  const shares = new Map<string, number>()
  for (const pod of pods) {
    const { annotations } = pod.metadata
    const memory = annotations['gpu-memory']
    if ((annotations['gpu-fraction'] === undefined && memory === undefined) || !isHolding(pod)) continue
    const share =
      memory === undefined ? Number(annotations['gpu-fraction']) : Number(memory) / memories.get(pod.spec.nodeName!)!
    const groups = gpuGroupsOf(pod)
    const devices = Number(annotations['gpu-fraction-num-devices'] ?? '1')
    assert.equal(groups.length, devices)
    const allocated = annotations['runai-allocated-gpus']
    if (allocated !== undefined) assert.equal(Number(allocated), share * devices)
    for (const group of groups) {
      const { metadata, spec } = reservations.get(group)!
      assert.equal(spec.nodeName, pod.spec.nodeName)
      const isRunai = pod.metadata.namespace.startsWith('runai-')
      assert.equal(metadata.namespace, isRunai ? 'runai-reservation' : 'kai-resource-reservation')
      shares.set(group, (shares.get(group) ?? 0) + share)
    }
  }
  assert.deepEqual(new Set(shares.keys()), new Set(reservations.keys()))
  for (const share of shares.values()) assert.ok(share <= 1 + 1e-9)
}

/** A node has the GPUs that its exporter shows, times the replicas of time-slicing; capacities are the same everywhere. */
function checkNodes({ dcgm, kubeState, nodes }: Views): void {
  const capacities = kubeState.get('kube_node_status_capacity')!
  const rows = dcgm.filter(({ name }) => name === 'DCGM_FI_DEV_POWER_USAGE')
  assert.equal(nodes.length, NODES)
  for (const { metadata, status } of nodes) {
    const own = rows.filter(({ labels }) => labels['Hostname'] === metadata.name)
    assert.equal(new Set(own.map(({ labels }) => labels['UUID'])).size, Number(metadata.labels['nvidia.com/gpu.count']))
    const whole = new Set(
      own.filter(({ labels }) => labels['GPU_I_ID'] === undefined).map(({ labels }) => labels['UUID']),
    )
    const replicas = Number(metadata.labels['nvidia.com/gpu.replicas'])
    assert.equal(Number(status.capacity['nvidia.com/gpu']), whole.size * replicas)
    const shown = capacities.filter(({ labels }) => labels['node'] === metadata.name && labels['unit'] === 'integer')
    assert.deepEqual(
      Object.fromEntries(shown.map(({ labels, value }) => [labels['resource'], value])),
      Object.fromEntries(
        Object.entries(status.capacity)
          .filter(([resource]) => resource === 'pods' || resource.startsWith('nvidia.com/'))
          .map(([resource, count]) => [resource.replace(/[./-]/g, '_'), count]),
      ),
    )
  }
}
