/** How Run:ai and KAI keep account: by groups of pods, of queues and projects above them. */
import type { ClusterState } from '../cluster-state.ts'
import type { KubernetesObject } from '../kubernetes-object.ts'
import { podGroupObject } from '../objects/pod-group.ts'
import { queueObject } from '../objects/queue.ts'
import { runaiProjectObject } from '../objects/runai-project.ts'
import { isFinished, type Owner, type Pod, type PodPhase } from '../pod.ts'
import type { Project } from '../tenants.ts'
import type { Workload } from '../workload.ts'
import { addTo, amountsOf, isSame, NOTHING, type Amounts } from './amounts.ts'
import type { Ledger } from './ledger.ts'
import { newUsage, type Queue, type Usage } from './queue.ts'

/** Pods that are scheduled together. */
export type PodGroup = {
  readonly name: string
  readonly uid: string
  readonly project: Project
  readonly owner: Owner
  readonly minMember: number
  /** Whether others may take its GPUs away. */
  readonly isPreemptible: boolean
  readonly createdMs: number
  readonly usage: Usage
  /** By pod, what it counts for, and its phase at that time. */
  readonly charges: Map<Pod, Charge>
  queue: Queue
  version: number
}

type Charge = {
  readonly queue: Queue
  readonly phase: PodPhase
  readonly allocated: Amounts
  readonly requested: Amounts
}

export function createPodGroupLedger(state: ClusterState): Ledger {
  const { changes } = state
  const groups = new Map<Workload, PodGroup>()
  const queues = new Map(state.queues.map(queue => [queue.name, queue]))
  const nodes = new Map(state.nodes.map(node => [node.name, node]))
  const buildProject = (project: Project): KubernetesObject => runaiProjectObject(project, state.queues)

  function queueFor({ tenancy, name }: Project, pod: Pod): Queue {
    return queues.get(tenancy === 'kai' ? name : `${name}-${pod.labels['runai/node-pool']}`)!
  }

  function chargeFor({ project }: PodGroup, pod: Pod): Charge {
    const queue = queueFor(project, pod)
    const { phase, nodeName } = pod
    if (isFinished(pod)) return { queue, phase, allocated: NOTHING, requested: NOTHING }
    if (nodeName === undefined) return { queue, phase, allocated: NOTHING, requested: amountsOf(pod) }
    const amounts = amountsOf(pod, nodes.get(nodeName)!.pool.model.memoryMiB)
    return { queue, phase, allocated: amounts, requested: amounts }
  }

  function book(group: PodGroup, { queue, allocated, requested }: Charge, sign: 1 | -1): void {
    for (const usage of [group.usage, queue.usage, queue.parent!.usage]) {
      addTo(usage.allocated, allocated, sign)
      addTo(usage.requested, requested, sign)
      if (!group.isPreemptible) addTo(usage.nonPreemptible, allocated, sign)
    }
  }

  function change(group: PodGroup, pod: Pod, after: Charge | undefined): void {
    const before = group.charges.get(pod)
    if (before !== undefined) book(group, before, -1)
    if (after === undefined) group.charges.delete(pod)
    else {
      group.charges.set(pod, after)
      group.queue = after.queue
      book(group, after, 1)
    }
    changes.record('MODIFIED', group, podGroupObject)
    if (before !== undefined && after !== undefined && isSameCharge(before, after)) return
    const touched = new Set([before, after].flatMap(charge => (charge === undefined ? [] : [charge.queue])))
    for (const queue of touched) {
      changes.record('MODIFIED', queue, queueObject)
      changes.record('MODIFIED', queue.parent!, queueObject)
    }
    if (group.project.tenancy === 'runai') changes.record('MODIFIED', group.project, buildProject)
  }

  return {
    open(workload) {
      const { project, kind, random, owners } = workload
      const [pod] = workload.pods
      const first = pod!
      const name = first.annotations['pod-group-name']!
      const group: PodGroup = {
        name,
        uid: random.uuid(),
        project,
        owner: owners.find(({ uid }) => name.endsWith(uid))!,
        minMember: workload.pods.size,
        isPreemptible: kind.lasting === 'task',
        createdMs: first.createdMs,
        usage: newUsage(),
        charges: new Map(),
        queue: queueFor(project, first),
        version: 0,
      }
      groups.set(workload, group)
      state.podGroups.add(group)
      changes.record('ADDED', group, podGroupObject)
    },
    update(workload, pod) {
      const group = groups.get(workload)!
      const before = group.charges.get(pod)
      const after = chargeFor(group, pod)
      if (before === undefined || before.phase !== after.phase || !isSameCharge(before, after))
        change(group, pod, after)
    },
    remove(workload, pod) {
      const group = groups.get(workload)!
      if (group.charges.has(pod)) change(group, pod, undefined)
    },
    close(workload) {
      const group = groups.get(workload)!
      groups.delete(workload)
      state.podGroups.delete(group)
      changes.record('DELETED', group, podGroupObject)
    },
  }
}

function isSameCharge(one: Charge, other: Charge): boolean {
  return one.queue === other.queue && isSame(one.allocated, other.allocated) && isSame(one.requested, other.requested)
}
