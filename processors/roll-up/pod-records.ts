/** Every pod that there is, with what roll-ups need of it: worked out once, and again when something that it hangs on has changed. */
import type { Condition } from '../../pipeline/catalog/output-schema.ts'
import type { AssignmentRules } from '../../pipeline/cluster/assignment-rules.ts'
import { isReservation } from '../../pipeline/cluster/assignment-rules.ts'
import { claimedDevices } from '../../pipeline/cluster/claims.ts'
import { nodeOf } from '../../pipeline/cluster/find-node.ts'
import type { FoundPod, PodReader, SeenTables } from '../../pipeline/cluster/find-pod.ts'
import { isGpuResource, migProfile } from '../../pipeline/cluster/gpu-resources.ts'
import type { Identity } from '../../pipeline/cluster/identity.ts'
import { jobOfPod } from '../../pipeline/cluster/job-of-pod.ts'
import { livePods } from '../../pipeline/cluster/live-pods.ts'
import { lookUpOrNothing, type Around } from '../../pipeline/cluster/look-up.ts'
import type { Container, Pod } from '../../pipeline/cluster/objects.ts'
import { askedGpus, type AskedGpus } from '../../pipeline/cluster/pod-gpus.ts'
import { identifyPod, type WorkloadRules } from '../../pipeline/cluster/pod-identity.ts'
import { isFinished } from '../../pipeline/cluster/pod-state.ts'
import type { ClusterTables } from '../../pipeline/cluster/tables.ts'
import { haveChanged, recordLooks, type Dependencies } from '../../pipeline/model/dependencies.ts'
import { sharedByText, sharedWithLast } from '../../pipeline/model/shared.ts'
import { NO_GROUPS, type Entity } from './entity.ts'
import { Attendance, Roster } from './roster.ts'

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

/** kube-state-metrics before 2.1 tells no uid: a pod that others know by its uid is there by its name. */
export function recordOfPod(records: Roster<PodRecord>, pod: Pod): PodRecord | undefined {
  return records.get(podKey(pod)) ?? records.get(podKey({ ...pod, uid: '' }))
}

/** A pod that came, went, or is another one than before. */
export type PodChange = { readonly before: PodRecord | undefined; readonly now: PodRecord | undefined }

export class PodRecords {
  readonly all = new Roster<PodRecord>(({ key }) => key)
  readonly #attendance = new Attendance()
  #isOutdated = false

  /** What has changed. */
  refresh(tables: ClusterTables, seen: SeenTables, rules: PodRules): readonly PodChange[] {
    const changes: PodChange[] = []
    this.#attendance.begin()
    for (const found of livePods(tables, seen)) {
      const key = podKey(found.pod)
      let place = this.all.placeOf(key)
      const known = place < 0 ? undefined : this.all.list[place]
      if (known === undefined || this.#isOutdated || known.pod !== found.pod || isOutOfDate(known)) {
        const now = recordOf(key, found, tables, seen, rules)
        place = this.all.put(key, now)
        changes.push({ before: known, now })
      }
      this.#attendance.mark(place)
    }
    for (const key of this.#attendance.missing(this.all)) {
      changes.push({ before: this.all.get(key), now: undefined })
      this.all.delete(key)
    }
    this.#isOutdated = false
    return changes
  }

  /** When the rules are others. */
  forget(): void {
    this.#isOutdated = true
  }
}

function isOutOfDate({ dependencies }: PodRecord): boolean {
  return dependencies !== undefined && haveChanged(dependencies)
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
  const share = hasGpus ? gpuShare(asked) : undefined
  const quantities = {
    gpus: hasGpus ? (asked === undefined ? claimed : (asked.gpus ?? NaN)) : NaN,
    gpu_memory: hasGpus ? (asked?.memoryMib ?? 0) * rules.megabytesPerRequested : NaN,
    cpu_requests: sumOf(pod.containers, 'requests', 'cpu'),
    memory_requests: sumOf(pod.containers, 'requests', 'memory'),
    cpu_limits: sumOf(pod.containers, 'limits', 'cpu'),
    memory_limits: sumOf(pod.containers, 'limits', 'memory'),
    // Quantities are written in thousandths, so a rounded number is the one that was meant.
    millicpus: Math.round(sumOf(pod.containers, 'requests', 'cpu') * 1e6) / 1e3,
  }
  return new PodEntity({
    key,
    pod,
    around,
    attributes: sharedAttributes(attributesOf(pod, isReserving ? {} : identity, rules.clusterId, share)),
    conditions: conditionsOf(pod, hasGpus),
    quantities: sharedQuantities(quantities),
    dependencies,
  })
}

/** What the pods of one workload, which follow each other, mostly have alike. */
type Attributes = Readonly<Record<string, string | undefined>>

const sharedAttributes = sharedWithLast<Attributes>(isSameRecord)
const sharedQuantities = sharedByText<PodRecord['quantities']>(quantities => Object.values(quantities).join(' '))

function isSameRecord<V>(one: Readonly<Record<string, V>>, other: Readonly<Record<string, V>>): boolean {
  for (const name in one) if (!Object.is(one[name], other[name])) return false
  return true
}

type PodParts = Omit<PodRecord, keyof Entity> & { readonly attributes: Attributes; readonly around: Around }

class PodEntity implements PodRecord {
  groups = NO_GROUPS
  readonly key: string
  readonly pod: Pod
  readonly conditions: ReadonlySet<Condition>
  readonly quantities: PodRecord['quantities']
  readonly dependencies: Dependencies | undefined
  readonly #attributes: Attributes
  readonly #around: Around

  constructor({ key, pod, conditions, quantities, dependencies, attributes, around }: PodParts) {
    this.key = key
    this.pod = pod
    this.conditions = conditions
    this.quantities = quantities
    this.dependencies = dependencies
    this.#attributes = attributes
    this.#around = around
  }

  get(attribute: string): string | undefined {
    switch (attribute) {
      case 'pod':
        return this.pod.name
      case 'namespace':
        return this.pod.namespace
      case 'pod_uid':
        return this.pod.uid
      case 'node':
        return this.pod.node
      default:
        return this.#attributes[attribute] ?? lookUpOrNothing(attribute)?.find(this.#around)
    }
  }
}

const GPU_DRIVER = /(^|\.)gpu\./

/** By dynamic resource allocation, which no container asks for by name. */
function gpusClaimed(reader: PodReader, pod: Pod): number {
  if (pod.claims === undefined) return 0
  return claimedDevices(reader, pod).filter(({ driver }) => GPU_DRIVER.test(driver)).length
}

const knownConditions = new Map<string, ReadonlySet<Condition>>()

/** Pods in the same state share them. */
function conditionsOf(pod: Pod, hasGpus: boolean): ReadonlySet<Condition> {
  const conditions: Condition[] = []
  if (pod.node !== '') conditions.push('bound')
  if (!isFinished(pod)) conditions.push('unfinished', 'active')
  if (pod.phase === 'Pending') conditions.push('pending')
  if (pod.phase === 'Running') conditions.push('running')
  if (hasGpus) conditions.push('gpu')
  const key = conditions.join()
  let known = knownConditions.get(key)
  if (known === undefined) knownConditions.set(key, (known = new Set(conditions)))
  return known
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

/** Whether it has whole GPUs, as claims are, parts of some, or MIG instances. */
type GpuShare = 'whole' | 'part' | 'instance'

function gpuShare(asked: AskedGpus | undefined): GpuShare {
  if (asked === undefined) return 'whole'
  if (asked.mig.size > 0) return 'instance'
  return asked.fraction === undefined && asked.memoryMib === undefined ? 'whole' : 'part'
}

/** Of the container that has the GPUs, else of the first. */
function imageOf({ containers }: Pod): string {
  const hasGpus = ({ limits }: Container): boolean =>
    [...limits.keys()].some(resource => isGpuResource(resource) || migProfile(resource) !== undefined)
  const container = containers.find(hasGpus) ?? containers[0]
  return container?.image ?? ''
}

/** An object of one shape for all pods: there are many, and a Map takes four times the room. */
function attributesOf(pod: Pod, identity: Identity, clusterId: string, share: GpuShare | undefined): Attributes {
  const id = identity.workload_id?.value
  const job = id === undefined ? undefined : jobOfPod(pod, id, identity)
  return {
    cluster: clusterId,
    image: imageOf(pod),
    gpu_share: share,
    workload_id: id,
    workload_name: identity.workload_name?.value,
    workload_kind: identity.workload_kind?.value,
    workload_type: identity.workload_type?.value,
    project: identity.project?.value,
    department: identity.department?.value,
    user: identity.user?.value,
    queue: identity.queue?.value,
    nodepool: identity.nodepool?.value,
    job_id: job?.id,
    job_name: job?.name,
    job_type: id === undefined ? undefined : (identity.workload_type?.value ?? ''),
  }
}
