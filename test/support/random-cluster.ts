/** Clusters for property tests: GPUs that are whole, cut, time-sliced or shared by fractions, and all that goes wrong with rows and pods. */
import fc from 'fast-check'
import { metricSpelling } from '../../pipeline/cluster/look-up.ts'
import type { KubernetesMetadata, Pod, PodPhase } from '../../pipeline/cluster/objects.ts'
import { clusterTables } from '../../pipeline/cluster/tables.ts'
import type { Cluster } from '../../pipeline/component.ts'
import { containerWith, objectNamed, podNamed, putNode, putPod, referenceTo } from './cluster-objects.ts'
import { metricsOfNode, metricsOfPod } from './metrics-of.ts'
import { TEST_START_MS } from './test-host.ts'

/** Whom a row of the exporter names, and what the cluster knows of it. */
const HOLDERS = ['nobody', 'running', 'running', 'running', 'starting', 'finished', 'unknown', 'unbound'] as const
type Holder = { readonly is: (typeof HOLDERS)[number]; readonly workload: number }

const WORKLOADS = 4

type Reading = { readonly utilization: number | undefined; readonly memoryMib: number | undefined }

type Board = Reading & {
  readonly holder: Holder
  /** Another container of the same pod has a row of its own. */
  readonly isShownTwice: boolean
} & (
    | { readonly kind: 'whole' }
    | {
        readonly kind: 'mig'
        readonly instances: readonly (Reading & { profile: string; holder: Holder })[]
        /** Where the exporter also shows the board: what is used beside the instances. */
        readonly besideMib: number | undefined
      }
    | { readonly kind: 'sliced'; readonly others: readonly Holder[] }
    | {
        readonly kind: 'fractions'
        readonly members: readonly { tenths: number; holder: Holder; hasOwnReading: boolean }[]
      }
  )

export type ClusterShape = {
  readonly nodes: readonly { readonly boards: readonly Board[]; readonly isShownTwice: boolean }[]
  /** Pods that no exporter names: those without GPU, and those that wait. */
  readonly others: readonly { readonly is: 'cpu' | 'waiting'; readonly workload: number }[]
}

const holder: fc.Arbitrary<Holder> = fc.record({ is: fc.constantFrom(...HOLDERS), workload: fc.nat(WORKLOADS - 1) })
const sometimes = (arbitrary: fc.Arbitrary<number>): fc.Arbitrary<number | undefined> =>
  fc.option(arbitrary, { nil: undefined, freq: 8 })
const reading = { utilization: sometimes(fc.integer({ min: 0, max: 100 })), memoryMib: sometimes(fc.nat(80_000)) }
const common = { ...reading, holder, isShownTwice: fc.boolean() }

/** Mixed profiles of a board with seven slices; some boards are not cut up entirely. */
const CUTS = [
  ['3g.40gb', '3g.40gb'],
  ['4g.40gb', '2g.20gb', '1g.10gb'],
  ['1g.10gb', '1g.10gb', '1g.10gb', '1g.10gb', '1g.10gb', '1g.10gb', '1g.10gb'],
  ['7g.80gb'],
  ['2g.20gb'],
]

const migBoard = fc.constantFrom(...CUTS).chain(profiles =>
  fc.record({
    ...common,
    kind: fc.constant('mig' as const),
    besideMib: fc.option(fc.nat(500), { nil: undefined }),
    instances: fc.tuple(...profiles.map(profile => fc.record({ ...reading, holder, profile: fc.constant(profile) }))),
  }),
)
const board: fc.Arbitrary<Board> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ ...common, kind: fc.constant('whole' as const) }) },
  { weight: 2, arbitrary: migBoard },
  fc.record({ ...common, kind: fc.constant('sliced' as const), others: fc.array(holder, { maxLength: 3 }) }),
  fc.record({
    ...common,
    kind: fc.constant('fractions' as const),
    members: fc.array(
      fc.record({
        tenths: fc.integer({ min: 1, max: 6 }),
        holder,
        hasOwnReading: fc.boolean(),
      }),
      { maxLength: 4 },
    ),
  }),
)

export const clusterShape: fc.Arbitrary<ClusterShape> = fc.record({
  nodes: fc.array(fc.record({ boards: fc.array(board, { minLength: 1, maxLength: 4 }), isShownTwice: fc.boolean() }), {
    minLength: 1,
    maxLength: 3,
  }),
  others: fc.array(
    fc.record({ is: fc.constantFrom('cpu' as const, 'waiting' as const), workload: fc.nat(WORKLOADS - 1) }),
    {
      maxLength: 3,
    },
  ),
})

export type Target = { readonly name: string; readonly node: string; readonly rows: readonly string[] }

export type BuiltCluster = {
  readonly nodes: readonly string[]
  readonly pods: readonly Pod[]
  readonly targets: readonly Target[]
}

const MODEL = 'NVIDIA A100-SXM4-80GB'
const PHASES: Readonly<Record<string, PodPhase>> = { running: 'Running', starting: 'Pending', finished: 'Succeeded' }

function jobOf(workload: number): KubernetesMetadata {
  return objectNamed(`Job.batch/job-${workload}`, { namespace: `team-${workload % 2}` })
}

/** Pods of another generation have the same names, and are others. */
export function buildCluster({ nodes, others }: ClusterShape, generation = 0): BuiltCluster {
  const pods: Pod[] = []

  function addPod(
    { is, workload }: { readonly is: string; readonly workload: number },
    node: string,
    parts: Parameters<typeof podNamed>[1] = {},
  ): string {
    const name = `pod-${pods.length}`
    const job = jobOf(workload)
    const isBound = is !== 'unbound' && is !== 'waiting'
    const pod = podNamed(name, {
      uid: `uid-${name}-${generation}`,
      namespace: job.namespace,
      owners: [referenceTo(job)],
      node: isBound ? node : '',
      phase: PHASES[is] ?? (is === 'cpu' ? 'Running' : 'Pending'),
      containers: is === 'cpu' ? [containerWith({ cpu: 2 })] : [containerWith({ 'nvidia.com/gpu': 1, cpu: 1 })],
      ...parts,
    })
    if (is !== 'unknown') pods.push({ ...pod, createdMs: TEST_START_MS - 3_600_000 + pods.length })
    else pods.push({ ...pod, uid: '' })
    return `namespace="${pod.namespace}",pod="${name}"`
  }

  function rowsOf(one: Board, index: number, node: string): string[] {
    const uuid = `GPU-${node}-${index}`
    const id = `gpu="${index}",UUID="${uuid}",modelName="${MODEL}",Hostname="${node}"`
    const named = ({ is, workload }: Holder, parts = {}): string =>
      is === 'nobody' ? '' : `,container="main",${addPod({ is, workload }, node, parts)}`
    if (one.kind === 'mig') {
      const { besideMib = 0, instances } = one
      const usedMib = instances.reduce((sum, { memoryMib = 0 }) => sum + memoryMib, besideMib)
      const ofBoard = one.besideMib === undefined ? [] : memoryRows(id, usedMib)
      const ofInstances = instances.flatMap(({ profile, holder: its, utilization, memoryMib }, i) => {
        const limits = { [`nvidia.com/mig-${profile}`]: 1 }
        const labels = `${id},GPU_I_PROFILE="${profile}",GPU_I_ID="${i + 1}"${named(its, { containers: [containerWith(limits)] })}`
        return [
          ...(utilization === undefined ? [] : [`DCGM_FI_PROF_GR_ENGINE_ACTIVE{${labels}} ${utilization / 100}`]),
          ...memoryRows(labels, memoryMib),
        ]
      })
      return [...ofBoard, ...ofInstances]
    }
    if (one.kind === 'fractions') {
      const group = `group-${uuid}`
      const reservation = addPod({ is: 'running', workload: 0 }, node, {
        namespace: 'runai-reservation',
        labels: { 'runai-gpu-group': group },
        owners: [],
      })
      const own = one.members.flatMap(({ tenths, holder: its, hasOwnReading }) => {
        if (its.is === 'nobody' || its.is === 'unknown') return []
        addPod(its, node, {
          labels: { 'runai-gpu-group': group },
          annotations: { 'gpu-fraction': `${tenths / 10}` },
          containers: [containerWith({ cpu: 1 })],
        })
        const { uid, namespace, name } = pods.at(-1)!
        const ids = `pod_uuid="${uid}",pod_namespace="${namespace}",pod_name="${name}",gpu="${uuid}"`
        // Pods of a GPU do not use more of it than it says is used.
        const usedMib = Math.floor(((one.memoryMib ?? 0) * (tenths + 4)) / 40)
        const isShown = hasOwnReading && one.memoryMib !== undefined
        return isShown ? [`runai_pod_gpu_memory_used_bytes{${ids}} ${usedMib * 1_048_576}`] : []
      })
      const labels = `${id},container="main",${reservation.replace(/namespace="[^"]*"/, 'namespace="runai-reservation"')}`
      return [...wholeRows(labels, one), ...own]
    }
    const labels = `${id}${named(one.holder)}`
    const rows = wholeRows(labels, one)
    if (one.isShownTwice && one.holder.is !== 'nobody') {
      rows.push(...wholeRows(labels.replace('"main"', '"second"'), one))
    }
    if (one.kind === 'sliced') {
      // Beside a row that names nobody, those that name a pod are readings of the pod.
      const its = one.holder.is === 'nobody' ? { ...one, memoryMib: quarter(one.memoryMib) } : one
      for (const other of one.others) if (other.is !== 'nobody') rows.push(...wholeRows(`${id}${named(other)}`, its))
    }
    return rows
  }

  const targets = nodes.flatMap(({ boards, isShownTwice }, n): Target[] => {
    const node = `node-${n}`
    const rows = boards.flatMap((one, index) => rowsOf(one, index, node))
    const dcgm = rows.filter(row => row.startsWith('DCGM'))
    const own = rows.filter(row => !row.startsWith('DCGM'))
    return [
      { name: `http://${node}:9400/metrics`, node, rows: dcgm },
      ...(isShownTwice ? [{ name: `http://${node}:9401/metrics`, node, rows: dcgm }] : []),
      ...(own.length > 0 ? [{ name: `http://${node}:9500/metrics`, node, rows: own }] : []),
    ]
  })
  for (const { is, workload } of others) addPod({ is, workload }, 'node-0')
  return { nodes: nodes.map((_, n) => `node-${n}`), pods: pods.filter(({ uid }) => uid !== ''), targets }
}

function wholeRows(labels: string, { utilization, memoryMib }: Reading): string[] {
  return [
    ...(utilization === undefined ? [] : [`DCGM_FI_DEV_GPU_UTIL{${labels}} ${utilization}`]),
    ...memoryRows(labels, memoryMib),
  ]
}

function quarter(mebibytes: number | undefined): number | undefined {
  return mebibytes === undefined ? undefined : Math.floor(mebibytes / 4)
}

function memoryRows(labels: string, usedMib: number | undefined): string[] {
  const free = `DCGM_FI_DEV_FB_FREE{${labels}} 81920`
  return usedMib === undefined ? [free] : [`DCGM_FI_DEV_FB_USED{${labels}} ${usedMib}`, free]
}

/** As the Kubernetes API would tell of it. */
export function putCluster(cluster: Cluster, { nodes, pods }: BuiltCluster): void {
  for (const node of nodes) putNode(cluster, node, {})
  for (let workload = 0; workload < WORKLOADS; workload++) {
    clusterTables(cluster).owners.set(jobOf(workload).uid, jobOf(workload))
  }
  for (const pod of pods) putPod(cluster, pod)
}

/** As kube-state-metrics would. */
export function metricsOfCluster({ nodes, pods }: BuiltCluster): string {
  const bare = objectNamed('Node/node', { namespace: '' })
  const empty = { addresses: [], capacity: new Map(), allocatable: new Map(), conditions: new Map(), schedulable: true }
  return [
    ...nodes.map(name => metricsOfNode({ ...bare, ...empty, name })),
    ...pods.flatMap(pod => [metricsOfPod(pod), ...restOfPod(pod)]),
    '',
  ].join('\n')
}

function restOfPod({ namespace, name, uid, owners, containers, createdMs }: Pod): string[] {
  const id = `namespace="${namespace}",pod="${name}",uid="${uid}"`
  return [
    `kube_pod_created{${id}} ${createdMs! / 1000}`,
    ...owners.map(
      ({ kind, name: owner }) =>
        `kube_pod_owner{${id},owner_kind="${kind}",owner_name="${owner}",owner_is_controller="true"} 1`,
    ),
    ...containers.flatMap(container =>
      Array.from(container.limits, ([resource, amount]) => {
        const unit = resource === 'cpu' ? 'core' : 'integer'
        const labels = `${id},container="main",resource="${metricSpelling(resource)}",unit="${unit}"`
        return `kube_pod_container_resource_limits{${labels}} ${amount}`
      }),
    ),
  ]
}
