/** What there is to see in a cluster of four nodes: all that a roll-up must get right, most of it at any moment. */
import assert from 'node:assert/strict'
import { startTestSimulation } from './test-simulation.ts'
import { gpuGroupsOf, isHolding, isReservation, limitsOf, look, type PodObject, type Views } from './views.ts'

const NODES = 4
const STEP_MINUTES = 7
const STEPS = (24 * 60) / STEP_MINUTES

function somePod(matches: (pod: PodObject) => boolean) {
  return ({ pods }: Views): boolean => pods.some(matches)
}

function fractionsPerGpu({ pods }: Views): number[] {
  const groups = pods.filter(pod => isHolding(pod) && !isReservation(pod)).flatMap(gpuGroupsOf)
  return [...Map.groupBy(groups, group => group).values()].map(members => members.length)
}

function asksFor(prefix: string) {
  return (pod: PodObject): boolean => isHolding(pod) && limitsOf(pod).some(([resource]) => resource.startsWith(prefix))
}

function hasAnnotation(pod: PodObject, name: string): boolean {
  return isHolding(pod) && pod.metadata.annotations[name] !== undefined
}

function migProfiles({ pods }: Views): Set<string> {
  return new Set(
    pods
      .filter(isHolding)
      .flatMap(pod => limitsOf(pod).map(([resource]) => resource))
      .filter(name => name.includes('mig-')),
  )
}

/** What is seen, and in which share of all moments at least. */
const SIGHTS: readonly [what: string, share: number, isSeen: (views: Views) => boolean][] = [
  ['pods with whole GPUs', 1, somePod(asksFor('nvidia.com/gpu'))],
  ['pods on MIG instances', 0.9, somePod(asksFor('nvidia.com/mig-'))],
  ['instances of several profiles', 0.3, views => migProfiles(views).size > 1],
  [
    'a time-sliced GPU with several pods, one row each',
    0.8,
    ({ dcgm }) => dcgm.some(({ name, labels }) => name === 'DCGM_FI_DEV_SM_CLOCK' && labels['vgpu'] === '1'),
  ],
  ['reservations of Run:ai', 0.9, somePod(pod => pod.metadata.namespace === 'runai-reservation')],
  ['reservations of KAI', 0.5, somePod(pod => pod.metadata.namespace === 'kai-resource-reservation')],
  ['several fractions on one GPU', 0.6, views => fractionsPerGpu(views).some(count => count > 1)],
  ['fractions of two GPUs', 0.2, somePod(pod => hasAnnotation(pod, 'gpu-fraction-num-devices'))],
  ['requests for memory of a GPU', 0.4, somePod(pod => hasAnnotation(pod, 'gpu-memory'))],
  ['pods without a node', 0.2, somePod(({ spec }) => spec.nodeName === undefined)],
  ['pods with a node that do not run yet', 0.08, somePod(pod => pod.status.phase === 'Pending' && isHolding(pod))],
  ['finished pods', 0.8, somePod(({ status }) => status.phase === 'Succeeded' || status.phase === 'Failed')],
  ['a finished pod that the exporter still names', 0.1, namesFinishedPods],
  ['a node that is cordoned', 0.05, ({ nodes }) => nodes.some(({ spec }) => spec.unschedulable === true)],
  ['a node that is not heard of', 0.005, ({ nodes }) => nodes.some(node => readyOf(node) === 'Unknown')],
  [
    'workloads without a GPU',
    0.15,
    somePod(pod => isHolding(pod) && pod.metadata.labels['workloadKind'] !== undefined && usesNoGpu(pod)),
  ],
]

function readyOf({ status }: Views['nodes'][number]): string | undefined {
  return status.conditions.find(({ type }) => type === 'Ready')?.status
}

function usesNoGpu(pod: PodObject): boolean {
  const { annotations } = pod.metadata
  return (
    limitsOf(pod).length === 0 && annotations['gpu-fraction'] === undefined && annotations['gpu-memory'] === undefined
  )
}

function namesFinishedPods({ dcgm, pods }: Views): boolean {
  const named = new Set(dcgm.map(({ labels }) => `${labels['namespace']}/${labels['pod']}`))
  return pods.some(
    pod => /^(Succeeded|Failed)$/.test(pod.status.phase) && named.has(`${pod.metadata.namespace}/${pod.metadata.name}`),
  )
}

describe('a simulated cluster of four nodes', function () {
  this.timeout(60_000)
  const counts = new Map<string, number>()
  before(async () => {
    const simulation = await startTestSimulation({ nodes: NODES, kube_state_metrics: { shards: 2 } })
    for (let step = 0; step < STEPS; step++) {
      const views = await look(simulation, NODES)
      for (const [what, , isSeen] of SIGHTS) counts.set(what, (counts.get(what) ?? 0) + Number(isSeen(views)))
      simulation.clock.step(STEP_MINUTES * 60_000)
    }
    await simulation.end()
  })

  for (const [what, share] of SIGHTS) {
    it(`shows ${what}`, () => {
      const count = counts.get(what) ?? 0
      assert.ok(count >= share * STEPS, `in ${count} of ${Math.floor(STEPS)} moments`)
    })
  }
})
