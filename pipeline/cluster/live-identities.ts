/**
 * What ids stand for, worked out from all pods and nodes when somebody asks for one of which no roll-up has told: there may be none, or
 * it may come later. Jobs of batch systems, which are in no pod, only a roll-up knows.
 */
import type { Clock, Cluster } from '../component.ts'
import { recordLooks, haveChanged, type Dependencies } from '../model/dependencies.ts'
import type { Look } from '../model/label-processor.ts'
import { createTracked, trackedChanges } from '../model/tracked.ts'
import { assignmentRules, isReservation } from './assignment-rules.ts'
import { seenTables, type FoundPod } from './find-pod.ts'
import { identities, identityKey, writeInto, type Described, type IdentityKind, type KnownAs } from './identities.ts'
import type { Identity } from './identity.ts'
import { jobOfPod } from './job-of-pod.ts'
import { liveNodes, livePods } from './live-pods.ts'
import { inAnySpelling } from './look-up.ts'
import type { Node, Pod } from './objects.ts'
import { identifyPod, type WorkloadRules } from './pod-identity.ts'
import { countsBefore } from './pod-state.ts'
import { clusterTables } from './tables.ts'

export type LiveIdentities = {
  /** How many ids are known. */
  readonly size: number
  find(kind: IdentityKind, id: string, look: Look): KnownAs | undefined
  /** Brings up to date what was asked for, now and then. */
  check(): void
}

/** All pods are walked over, so not more often than this. */
const INTERVAL_MS = 5000

const USUAL_ASSIGNMENT = assignmentRules()

type KnownPod = { readonly described: Described; readonly rules: WorkloadRules; readonly on: Dependencies | undefined }

export function createLiveIdentities(cluster: Cluster, rulesNow: () => WorkloadRules, clock: Clock): LiveIdentities {
  const [tables, seen] = [clusterTables(cluster), seenTables(cluster)]
  const told = identities(cluster)
  const table = createTracked<KnownAs>()
  const known = new WeakMap<Pod, KnownPod>()
  let changes = -1
  let refreshedMs = -Infinity
  let isAsked = false

  function describe(found: FoundPod, rules: WorkloadRules): Described {
    const before = known.get(found.pod)
    if (before?.rules === rules && (before.on === undefined || !haveChanged(before.on))) return before.described
    const { result: identity, dependencies: on } = recordLooks(look =>
      isReservation(found.pod, USUAL_ASSIGNMENT) ? {} : identifyPod({ look, tables, seen }, found, rules).identity,
    )
    const described = podFrom(found.pod, identity)
    known.set(found.pod, { described, rules, on })
    return described
  }

  function refresh(): void {
    // A roll-up tells of all that there are, and has walked over them already.
    if (told.size > 0) return forget()
    if (trackedChanges() === changes) return
    // Whoever runs on a virtual clock compares what there is at the end of a step.
    if (clock.aligned !== true && clock.monotonic() - refreshedMs < INTERVAL_MS) return
    refreshedMs = clock.monotonic()
    const rules = rulesNow()
    const pods: Described[] = []
    const oldest = new Map<string, { readonly pod: Pod; readonly described: Described }>()
    for (const found of livePods(tables, seen)) {
      const described = describe(found, rules)
      pods.push(described)
      const id = described.get('workload_id')
      const first = id === undefined ? undefined : oldest.get(id)
      if (id === undefined || (first !== undefined && !countsBefore(found.pod, first.pod))) continue
      oldest.set(id, { pod: found.pod, described })
    }
    writeInto(table, {
      workloads: oldest.values().map(({ described }) => described),
      pods,
      nodes: Array.from(liveNodes(tables, seen), nodeFrom),
      workloadOf: pod => oldest.get(pod.get('workload_id') ?? '')?.described,
    })
    changes = trackedChanges()
  }

  function forget(): void {
    if (table.size > 0) writeInto(table, { workloads: [], pods: [], nodes: [], workloadOf: () => undefined })
  }

  return {
    get size() {
      return table.size
    },
    find(kind, id, look) {
      const key = identityKey(kind, id)
      isAsked = true
      if (table.get(key) === undefined) refresh()
      return look(table.entry(key))
    },
    check() {
      if (isAsked) refresh()
    },
  }
}

function podFrom(pod: Pod, identity: Identity): Described {
  const id = identity.workload_id?.value
  const job = id === undefined ? undefined : jobOfPod(pod, id, identity)
  return from({
    pod: pod.name,
    namespace: pod.namespace,
    pod_uid: pod.uid,
    workload_id: id,
    workload_name: identity.workload_name?.value,
    workload_type: identity.workload_type?.value,
    project: identity.project?.value,
    department: identity.department?.value,
    user: identity.user?.value,
    job_id: job?.id,
    job_name: job?.name,
  })
}

const gpuProduct = inAnySpelling('nvidia.com/gpu.product')

function nodeFrom({ name, labels, conditions, schedulable }: Node): Described {
  return from({
    node: name,
    model: gpuProduct(labels),
    ready: String(conditions.get('Ready') === 'True'),
    schedulable: String(schedulable),
  })
}

function from(attributes: Readonly<Record<string, string | undefined>>): Described {
  return { get: attribute => attributes[attribute] }
}
