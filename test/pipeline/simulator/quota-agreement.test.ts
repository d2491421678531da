/** Queues, projects, groups of pods and quotas say what the pods say, at every moment. */
import assert from 'node:assert/strict'
import { byName, samplesIn } from './samples.ts'
import { startTestSimulation, type TestSimulation } from './test-simulation.ts'
import { isHolding, isReservation, type NodeObject, type PodObject } from './views.ts'

const STEP_MINUTES = 53

type Amounts = Record<string, string>
type Usage = { allocated: Amounts; allocatedNonPreemptible: Amounts; requested: Amounts }
type Share = { deserved?: number; quota?: number; limit: number; overQuotaWeight: number }
type Named = { metadata: { name: string; namespace?: string; uid: string; labels?: Record<string, string> } }
type QueueObject = Named & { spec: { parentQueue?: string; resources: Record<string, Share> }; status: Usage }
type ProjectObject = Named & {
  spec: { department: string; queues: { name: string; nodepool: string; resources: Record<string, Share> }[] }
  status: {
    namespace: string
    quotaStatus: Usage
    nodePoolsQuotaStatuses: { nodePoolName: string; queueStatus: Usage }[]
  }
}
type DepartmentObject = Named & { spec: { deservedGpus: number; queues: { name: string; nodepool: string }[] } }
type PodGroupObject = Named & {
  spec: { queue: string; minMember: number }
  status: { running: number; pending: number; resourcesStatus: Usage }
}
type FlavorUsage = { name: string; resources: { name: string; total: string; borrowed?: string }[] }
type ClusterQueueObject = Named & {
  spec: { resourceGroups: { flavors: { name: string; resources: { name: string; nominalQuota: string }[] }[] }[] }
  status: { flavorsUsage: FlavorUsage[]; admittedWorkloads: number }
}
type LocalQueueObject = Named & {
  spec: { clusterQueue: string }
  status: { flavorUsage: FlavorUsage[]; admittedWorkloads: number }
}
type WorkloadObject = Named & {
  metadata: { ownerReferences: { uid: string }[] }
  spec: { queueName: string }
  status: {
    admission: { clusterQueue: string; podSetAssignments: { flavors: Amounts; resourceUsage: Amounts }[] }
    conditions: { type: string }[]
  }
}
type ResourceQuotaObject = Named & { status: { used: Amounts } }

type Objects = {
  readonly pods: readonly PodObject[]
  readonly nodes: readonly NodeObject[]
  readonly queues: readonly QueueObject[]
  readonly projects: readonly ProjectObject[]
  readonly departments: readonly DepartmentObject[]
  readonly podGroups: readonly PodGroupObject[]
  readonly clusterQueues: readonly ClusterQueueObject[]
  readonly localQueues: readonly LocalQueueObject[]
  readonly workloads: readonly WorkloadObject[]
  readonly quotas: readonly ResourceQuotaObject[]
  readonly kubeState: ReturnType<typeof byName>
}

async function lookAt(simulation: TestSimulation): Promise<Objects> {
  const list = async <T>(path: string): Promise<T[]> =>
    (JSON.parse(await simulation.text(path)) as { items: T[] }).items
  return {
    pods: await list('/api/v1/pods'),
    nodes: await list('/api/v1/nodes'),
    queues: await list('/apis/scheduling.run.ai/v2/queues'),
    projects: await list('/apis/run.ai/v2/projects'),
    departments: await list('/apis/scheduling.run.ai/v2alpha2/departments'),
    podGroups: await list('/apis/scheduling.run.ai/v2alpha2/podgroups'),
    clusterQueues: await list('/apis/kueue.x-k8s.io/v1beta1/clusterqueues'),
    localQueues: await list('/apis/kueue.x-k8s.io/v1beta1/localqueues'),
    workloads: await list('/apis/kueue.x-k8s.io/v1beta1/workloads'),
    quotas: await list('/api/v1/resourcequotas'),
    kubeState: byName(samplesIn(await simulation.text('/kube-state-metrics/metrics'))),
  }
}

describe('the quotas of the simulated cluster', function () {
  this.timeout(60_000)
  let simulation: TestSimulation
  const moments: Objects[] = []
  before(async () => {
    simulation = await startTestSimulation({ nodes: 8, seed: 3 })
    for (let minute = 0; minute <= 24 * 60; minute += STEP_MINUTES) {
      moments.push(await lookAt(simulation))
      simulation.clock.step(STEP_MINUTES * 60_000)
    }
  })
  after(() => simulation.end())

  it('have a group, with a queue that is there, for every pod of Run:ai and KAI', () => {
    for (const { pods, podGroups, queues } of moments) {
      const groups = new Map(podGroups.map(group => [`${group.metadata.namespace}/${group.metadata.name}`, group]))
      const names = new Set(queues.map(({ metadata }) => metadata.name))
      const wanted = new Set<string>()
      for (const pod of pods) {
        const name = pod.metadata.annotations['pod-group-name']
        if (name === undefined || isReservation(pod)) continue
        const group = groups.get(`${pod.metadata.namespace}/${name}`)
        assert.ok(group !== undefined, name)
        assert.ok(names.has(group.spec.queue), group.spec.queue)
        wanted.add(group.metadata.uid)
      }
      assert.ok(wanted.size > 5)
    }
  })

  it('count in groups, queues and projects what pods have and want', () => {
    for (const objects of moments) {
      const { pods, podGroups, queues, projects } = objects
      const own = (matches: (pod: PodObject) => boolean): PodObject[] =>
        pods.filter(pod => !isReservation(pod) && !isOver(pod) && matches(pod))
      for (const { metadata, status } of podGroups) {
        const members = own(pod => pod.metadata.annotations['pod-group-name'] === metadata.name)
        checkUsage(status.resourcesStatus, members, objects)
      }
      for (const { metadata, spec, status } of queues) {
        if (spec.parentQueue !== undefined)
          checkUsage(
            status,
            own(pod => queueOf(pod) === metadata.name),
            objects,
          )
      }
      for (const { status } of projects) {
        checkUsage(
          status.quotaStatus,
          own(pod => pod.metadata.namespace === status.namespace),
          objects,
        )
      }
    }
  })

  it('add up from queues of projects to those of departments, quotas and use', () => {
    const [{ queues }] = moments as [Objects]
    assert.ok(queues.some(({ spec }) => spec.resources['gpu']!.quota === -1))
    for (const moment of moments) {
      for (const parent of moment.queues.filter(({ spec }) => spec.parentQueue === undefined)) {
        const children = moment.queues.filter(({ spec }) => spec.parentQueue === parent.metadata.name)
        assert.ok(children.length > 0)
        const gpus = children.map(({ spec }) => spec.resources['gpu']!.quota!)
        const sum = gpus.includes(-1) ? -1 : total(gpus)
        assert.ok(Math.abs(parent.spec.resources['gpu']!.quota! - sum) < 1e-9)
        for (const resource of ['nvidia.com/gpu', 'cpu', 'memory']) {
          const used = total(children.map(({ status }) => number(status.allocated[resource])))
          assert.ok(Math.abs(number(parent.status.allocated[resource]) - used) < 1e-6)
        }
      }
    }
  })

  it('are the same in projects, departments and their queues', () => {
    for (const { projects, departments, queues } of moments) {
      const byQueue = new Map(queues.map(queue => [queue.metadata.name, queue]))
      const departmentNames = new Set(departments.map(({ metadata }) => metadata.name))
      assert.ok(projects.length > 2)
      for (const { spec, status } of projects) {
        assert.ok(departmentNames.has(spec.department))
        for (const [at, { name, nodepool, resources }] of spec.queues.entries()) {
          const queue = byQueue.get(name)!
          assert.equal(queue.spec.parentQueue, `${spec.department}-${nodepool}`)
          assert.equal(queue.metadata.labels!['runai/node-pool'], nodepool)
          for (const [resource, { deserved, limit }] of Object.entries(resources)) {
            const share = queue.spec.resources[resource]!
            assert.deepEqual([share.quota, share.limit], [deserved, limit])
          }
          assert.deepEqual(status.nodePoolsQuotaStatuses[at], { nodePoolName: nodepool, queueStatus: queue.status })
        }
      }
      for (const { spec } of departments) for (const { name } of spec.queues) assert.ok(byQueue.has(name))
    }
  })

  it('have a Workload of Kueue for every job that stands in one of its queues, and count it until it is over', () => {
    for (const { pods, workloads, localQueues, clusterQueues } of moments) {
      const jobs = new Set(workloads.map(({ metadata }) => metadata.labels!['kueue.x-k8s.io/job-uid']))
      for (const { metadata } of workloads) assert.ok(jobs.has(metadata.ownerReferences[0]!.uid))
      const admitted = workloads.filter(({ status }) => !status.conditions.some(({ type }) => type === 'Finished'))
      const running = pods.filter(({ metadata }) => metadata.labels['kueue.x-k8s.io/local-queue-name'] !== undefined)
      assert.ok(running.length > 0 && admitted.length > 0)
      for (const { metadata, status } of localQueues) {
        const mine = admitted.filter(workload => workload.metadata.namespace === metadata.namespace)
        assert.equal(status.admittedWorkloads, mine.length)
        checkFlavors(status.flavorUsage, mine)
      }
      for (const { metadata, spec, status } of clusterQueues) {
        const mine = admitted.filter(workload => workload.status.admission.clusterQueue === metadata.name)
        checkFlavors(status.flavorsUsage, mine)
        const quotas = spec.resourceGroups.flatMap(({ flavors }) => flavors)
        for (const { name, resources } of status.flavorsUsage) {
          const quota = quotas.find(flavor => flavor.name === name)!
          for (const { name: resource, total: used, borrowed } of resources) {
            const { nominalQuota } = quota.resources.find(one => one.name === resource)!
            assert.equal(number(borrowed), Math.max(0, number(used) - number(nominalQuota)))
          }
        }
      }
    }
  })

  it('are in ResourceQuotas, and in kube-state-metrics, what the pods of the namespace request', () => {
    for (const { pods, quotas, kubeState } of moments) {
      assert.ok(quotas.length > 0)
      for (const { metadata, status } of quotas) {
        const own = pods.filter(pod => pod.metadata.namespace === metadata.namespace && !isOver(pod))
        const gpus = total(own.map(pod => number(pod.spec.containers[0]!.resources.limits?.['nvidia.com/gpu'])))
        assert.deepEqual(status.used, { pods: String(own.length), 'requests.nvidia.com/gpu': String(gpus) })
        const shown = kubeState
          .get('kube_resourcequota')!
          .filter(({ labels }) => labels['namespace'] === metadata.namespace && labels['type'] === 'used')
        assert.deepEqual(Object.fromEntries(shown.map(({ labels, value }) => [labels['resource'], value])), status.used)
      }
    }
  })
})

function isOver({ status }: PodObject): boolean {
  return status.phase === 'Succeeded' || status.phase === 'Failed'
}

/** The queue that a pod stands in, by its labels alone. */
function queueOf({ metadata: { labels } }: PodObject): string | undefined {
  if (labels['runai/queue'] !== undefined) return `${labels['runai/queue']}-${labels['runai/node-pool']}`
  return labels['kai.scheduler/queue']
}

function checkUsage(usage: Usage, pods: readonly PodObject[], { nodes }: Objects): void {
  const bound = pods.filter(isHolding)
  for (const [amounts, counted] of [
    [usage.allocated, bound],
    [usage.requested, pods],
  ] as const) {
    const expected = total(counted.map(pod => gpusOf(pod, nodes)))
    assert.ok(Math.abs(number(amounts['nvidia.com/gpu']) - expected) < 0.001 * counted.length + 1e-9)
    const cpus = total(counted.map(pod => number(requestsOf(pod)['cpu'])))
    assert.ok(Math.abs(number(amounts['cpu']) - cpus) < 1e-6)
    assert.equal(number(amounts['memory']), total(counted.map(pod => number(requestsOf(pod)['memory']))))
  }
}

function requestsOf({ spec }: PodObject): Amounts {
  return (spec.containers[0]!.resources as { requests?: Amounts }).requests ?? {}
}

function gpusOf(pod: PodObject, nodes: readonly NodeObject[]): number {
  const { annotations } = pod.metadata
  const devices = number(annotations['gpu-fraction-num-devices'] ?? '1')
  if (annotations['gpu-fraction'] !== undefined) return number(annotations['gpu-fraction']) * devices
  if (annotations['gpu-memory'] === undefined) return number(requestsOf(pod)['nvidia.com/gpu'])
  const node = nodes.find(({ metadata }) => metadata.name === pod.spec.nodeName)
  if (node === undefined) return 0
  return (number(annotations['gpu-memory']) / number(node.metadata.labels['nvidia.com/gpu.memory'])) * devices
}

function checkFlavors(usage: readonly FlavorUsage[], workloads: readonly WorkloadObject[]): void {
  for (const { name: flavor, resources } of usage) {
    for (const { name, total: used } of resources) {
      const assignments = workloads.flatMap(({ status }) => status.admission.podSetAssignments)
      const mine = assignments.filter(({ flavors }) => flavors[name] === flavor)
      assert.equal(number(used), total(mine.map(({ resourceUsage }) => number(resourceUsage[name]))))
    }
  }
}

function total(numbers: readonly number[]): number {
  return numbers.reduce((a, b) => a + b, 0)
}

const UNITS: Readonly<Record<string, number>> = { m: 0.001, Mi: 1_048_576, '': 1 }

/** Of a quantity; nothing counts for nothing. */
function number(quantity = '0'): number {
  const [, digits, unit] = /^([-\d.]+)(m|Mi|)$/.exec(quantity)!
  return Number(digits) * UNITS[unit!]!
}
