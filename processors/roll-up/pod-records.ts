/** Every pod that there is, with what roll-ups need of it: worked out once, and again when something that it hangs on has changed. */
import type { Condition } from '../../pipeline/catalog/output-schema.ts'
import type { AssignmentRules } from '../../pipeline/cluster/assignment-rules.ts'
import { isReservation } from '../../pipeline/cluster/assignment-rules.ts'
import { claimedDevices } from '../../pipeline/cluster/claims.ts'
import { nodeOf } from '../../pipeline/cluster/find-node.ts'
import type { FoundPod, PodReader, SeenTables } from '../../pipeline/cluster/find-pod.ts'
import type { Identity } from '../../pipeline/cluster/identity.ts'
import { livePods } from '../../pipeline/cluster/live-pods.ts'
import { inAnySpelling, lookUpOrNothing } from '../../pipeline/cluster/look-up.ts'
import type { Container, Pod } from '../../pipeline/cluster/objects.ts'
import { askedGpus } from '../../pipeline/cluster/pod-gpus.ts'
import { identifyPod, type WorkloadRules } from '../../pipeline/cluster/pod-identity.ts'
import { isFinished } from '../../pipeline/cluster/pod-state.ts'
import type { ClusterTables } from '../../pipeline/cluster/tables.ts'
import { haveChanged, recordLooks, type Dependencies } from '../../pipeline/model/dependencies.ts'
import type { Entity } from './entity.ts'

export type PodQuantity =
  | 'gpus'
  | 'gpu_memory'
  | 'cpu_requests'
  | 'memory_requests'
  | 'cpu_limits'
  | 'memory_limits'
  | 'millicpus'

export type PodRecord = Entity & {
  readonly key: string
  readonly pod: Pod
  readonly conditions: ReadonlySet<Condition>
  /** NaN where it has none. */
  readonly quantities: Readonly<Record<PodQuantity, number>>
  readonly dependencies: Dependencies | undefined
}

export type PodRules = {
  readonly workload: WorkloadRules
  readonly assignment: AssignmentRules
  readonly clusterId: string
  /** What a number is that pods request GPU memory by, in MB. */
  readonly megabytesPerRequested: number
}

export function podKey({ uid, namespace, name }: Pod): string {
  return uid === '' ? `${namespace}/${name}` : uid
}

export class PodRecords {
  #records = new Map<string, PodRecord>()

  get all(): ReadonlyMap<string, PodRecord> {
    return this.#records
  }

  /** Whether any has come, gone or changed. */
  refresh(tables: ClusterTables, seen: SeenTables, rules: PodRules): boolean {
    const next = new Map<string, PodRecord>()
    let isChanged = false
    for (const found of livePods(tables, seen)) {
      const key = podKey(found.pod)
      const known = this.#records.get(key)
      const isSame =
        known !== undefined &&
        known.pod === found.pod &&
        (known.dependencies === undefined || !haveChanged(known.dependencies))
      next.set(key, isSame ? known : recordOf(key, found, tables, seen, rules))
      isChanged ||= !isSame
    }
    isChanged ||= next.size !== this.#records.size
    this.#records = next
    return isChanged
  }

  /** When the rules are others. */
  forget(): void {
    this.#records = new Map()
  }
}

function recordOf(key: string, found: FoundPod, tables: ClusterTables, seen: SeenTables, rules: PodRules): PodRecord {
  const { pod } = found
  const { result, dependencies } = recordLooks(look => {
    const reader: PodReader = { look, tables, seen }
    const { identity, around } = identifyPod(reader, found, rules.workload)
    const asked = askedGpus(pod, nodeOf(reader, pod.node), rules.assignment)
    const claimed = asked === undefined ? gpusClaimed(reader, pod) : 0
    return { identity, around, asked, claimed }
  })
  const { identity, around, asked, claimed } = result
  const isReserving = isReservation(pod, rules.assignment)
  const hasGpus = !isReserving && (asked !== undefined || claimed > 0)
  const attributes = attributesOf(pod, isReserving ? {} : identity, rules.clusterId)
  return {
    key,
    pod,
    get: attribute => attributes.get(attribute) ?? lookUpOrNothing(attribute)?.find(around),
    groups: [],
    conditions: conditionsOf(pod, hasGpus),
    quantities: {
      gpus: hasGpus ? (asked === undefined ? claimed : (asked.gpus ?? NaN)) : NaN,
      gpu_memory: hasGpus ? (asked?.memoryMib ?? 0) * rules.megabytesPerRequested : NaN,
      cpu_requests: sumOf(pod.containers, 'requests', 'cpu'),
      memory_requests: sumOf(pod.containers, 'requests', 'memory'),
      cpu_limits: sumOf(pod.containers, 'limits', 'cpu'),
      memory_limits: sumOf(pod.containers, 'limits', 'memory'),
      // Quantities are written in thousandths, so a rounded number is the one that was meant.
      millicpus: Math.round(sumOf(pod.containers, 'requests', 'cpu') * 1e6) / 1e3,
    },
    dependencies,
  }
}

const GPU_DRIVER = /(^|\.)gpu\./

/** By dynamic resource allocation, which no container asks for by name. */
function gpusClaimed(reader: PodReader, pod: Pod): number {
  if (pod.claims === undefined) return 0
  return claimedDevices(reader, pod).filter(({ driver }) => GPU_DRIVER.test(driver)).length
}

function conditionsOf(pod: Pod, hasGpus: boolean): ReadonlySet<Condition> {
  const conditions = new Set<Condition>()
  if (pod.node !== '') conditions.add('bound')
  if (!isFinished(pod)) conditions.add('unfinished').add('active')
  if (pod.phase === 'Pending') conditions.add('pending')
  if (pod.phase === 'Running') conditions.add('running')
  if (hasGpus) conditions.add('gpu')
  return conditions
}

/** NaN if no container says anything. */
function sumOf(containers: readonly Container[], what: 'requests' | 'limits', resource: string): number {
  let sum = NaN
  for (const container of containers) {
    const amount = container[what].get(resource)
    if (amount !== undefined) sum = (Number.isNaN(sum) ? 0 : sum) + amount
  }
  return sum
}

const jobId = inAnySpelling('runai-job-id')
const release = inAnySpelling('release')

function attributesOf(pod: Pod, identity: Identity, clusterId: string): Map<string, string> {
  const attributes = new Map([
    ['cluster', clusterId],
    ['pod', pod.name],
    ['namespace', pod.namespace],
    ['pod_uid', pod.uid],
    ['node', pod.node],
  ])
  for (const [label, decided] of Object.entries(identity)) attributes.set(label, decided.value)
  const id = attributes.get('workload_id')
  if (id === undefined) return attributes
  const controller = pod.owners.find(owner => owner.controller && owner.uid !== '')
  const marked = jobId(pod.annotations)
  attributes.set('job_id', marked ?? controller?.uid ?? id)
  const owner = marked === undefined ? controller?.name : undefined
  attributes.set('job_name', release(pod.labels) ?? owner ?? attributes.get('workload_name') ?? '')
  attributes.set('job_type', attributes.get('workload_type') ?? '')
  return attributes
}
