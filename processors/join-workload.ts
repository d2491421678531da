/**
 * Adds to every series of a pod what the pod belongs to: its workload, project, department, user, queue, node and node pool. Series of
 * a GPU that names no pod get its node and node pool, those of a Slurm job the job as their workload.
 *
 * Place it after `normalize`, which gives pods one spelling, and before `roll_up`, which groups by what it adds.
 */
import { loadWorkloadsCatalog, workloadsCatalogProblems } from '../pipeline/catalog/catalogs.ts'
import { workloadRules, type LookUps } from '../pipeline/catalog/workload-rules.ts'
import { assignmentRules, RESERVATION_NAMESPACES } from '../pipeline/cluster/assignment-rules.ts'
import { createClusterGate } from '../pipeline/cluster/cluster-gate.ts'
import { seenTables } from '../pipeline/cluster/find-pod.ts'
import { joinersOf, type Joiner } from '../pipeline/cluster/joiners.ts'
import { parseLookUp } from '../pipeline/cluster/look-up.ts'
import { clusterTables } from '../pipeline/cluster/tables.ts'
import { parseKind } from '../pipeline/cluster/workload-kinds.ts'
import { defineProcessor, type ConfigSchema, type Problem } from '../pipeline/component.ts'
import { duration, parseDuration } from '../pipeline/config/fields.ts'
import type { Batch, Source } from '../pipeline/model/batch.ts'
import { runComposed } from '../pipeline/model/compose.ts'
import type { SeriesMap } from '../pipeline/model/label-processor.ts'
import { createSeriesProcessor } from '../pipeline/series-processor.ts'
import { createMappedAgain } from '../pipeline/cluster/mapped-again.ts'
import { isJoinable, joinLabels, type JoinRules } from './join-workload/join-labels.ts'
import { createOutcomeCounts } from './join-workload/outcome-counts.ts'
import { addedLookUps, outgoingNames } from './join-workload/rules.ts'

const lookUps = {
  type: 'array',
  items: { type: 'string', minLength: 1 },
  description: 'Look-ups in order; the first that finds something counts.',
} as const

const config = {
  type: 'object',
  properties: {
    labels: {
      type: 'object',
      properties: {
        pod_uuid: outgoing('pod_uuid', 'the uid of the pod'),
        node: outgoing('node', 'the node that the pod is on'),
        workload_id: outgoing('workload_id', 'the uid of the workload, or namespace/kind/name where that is not known'),
        workload_name: outgoing('workload_name', 'the name of the workload'),
        workload_kind: outgoing('workload_kind', 'the kind of the workload'),
        workload_type: outgoing(
          'workload_type',
          'the type of the workload: training, interactive, inference, distributed',
        ),
        project: outgoing('project', 'the project'),
        department: outgoing('department', 'the department'),
        user: outgoing('user', 'the user'),
        queue: outgoing('queue', 'the queue'),
        nodepool: outgoing('nodepool', 'the node pool'),
      },
      default: {},
      additionalProperties: false,
      description:
        'What the joined labels are called, "" for those that are not wanted: `{ project: team, queue: "" }`.',
    },
    add: {
      type: 'object',
      default: {},
      additionalProperties: { anyOf: [{ type: 'string', minLength: 1 }, lookUps] },
      description:
        'Further labels, each with a look-up or a list of such: `{ team: namespace.label.team }`. A look-up is pod, owner (the workload), namespace or node with .name, .label.NAME or .annotation.NAME.',
    },
    look_up: {
      type: 'object',
      properties: {
        workload_id: lookUps,
        workload_name: lookUps,
        workload_kind: lookUps,
        workload_type: lookUps,
        project: lookUps,
        department: lookUps,
        user: lookUps,
        queue: lookUps,
        nodepool: lookUps,
      },
      default: {},
      additionalProperties: false,
      description:
        'Where a label comes from, instead of what the catalog says. What no look-up finds of the workload the owner chain decides; queue and department are then taken from objects of the scheduler, where `kubernetes_api` reads them.',
    },
    stop_at: {
      type: 'array',
      items: { type: 'string', minLength: 1 },
      default: [],
      description: 'Kinds that are the workload although something owns them: `RayCluster.ray.io`, or `RayCluster`.',
    },
    missing_owner: {
      type: 'string',
      enum: ['reference', 'labels', 'names'],
      default: 'reference',
      description:
        'What is the workload where an owner cannot be read: that owner, by the reference to it; what labels of the pod say is above it; or also what its name lets guess.',
    },
    reservation_namespaces: {
      type: 'array',
      items: { type: 'string', minLength: 1 },
      default: [...RESERVATION_NAMESPACES],
      description:
        'Namespaces whose pods only hold a GPU for others, as those of Run:ai and KAI do. Series that name such a pod get its node, and no workload.',
    },
    wait_for_cluster: duration(
      'How long series of pods and GPUs are held back until the model of the cluster is complete, where something fills it.',
      '60s',
    ),
    catalog: {
      type: 'string',
      format: 'catalog',
      default: 'workloads',
      description: 'The catalog of kinds and marks, by name or by the path of a file of your own.',
    },
  },
  additionalProperties: false,
} as const satisfies ConfigSchema

export const joinWorkload = defineProcessor({
  type: 'join_workload',
  summary: 'Adds to series of pods and GPUs their workload, project, user, queue and node.',
  config,
  example: { labels: { project: 'team' }, add: { cost_center: 'namespace.label.cost-center' } },
  check: ({ labels, look_up, add, stop_at, catalog }) => [
    ...sameNameProblems(labels),
    ...workloadsCatalogProblems(catalog).map(message => ({ path: ['catalog'], message })),
    ...Object.entries(look_up).flatMap(([label, texts]) => lookUpProblems(texts ?? [], ['look_up', label])),
    ...Object.entries(add).flatMap(([label, texts]) => lookUpProblems(texts, ['add', label])),
    ...stop_at.flatMap((text, i) => (parseKind(text) ? [] : [{ path: ['stop_at', i], message: notAKind(text) }])),
  ],

  create(config, host, next) {
    const { labels, add, look_up, stop_at, missing_owner, wait_for_cluster, catalog } = config
    const tables = clusterTables(host.cluster)
    const seen = seenTables(host.cluster)
    const gate = createClusterGate(
      tables.feeds,
      parseDuration(wait_for_cluster),
      host,
      'samples of pods that are not known are passed on as they are',
      release,
    )
    const counts = createOutcomeCounts(host.counters)
    const rules: JoinRules = {
      workload: workloadRules(loadWorkloadsCatalog(host.catalogs, catalog), {
        lookUps: look_up as LookUps,
        stopAt: stop_at,
        missingOwner: missing_owner,
      }),
      assignment: assignmentRules(config),
      names: outgoingNames(labels),
      add: addedLookUps(add),
    }

    const joiner: Joiner = { id: host.id, pipeline: host.pipeline, ...rules, isHolding: () => gate.held.value === true }

    const map: SeriesMap = {
      by: 'labels',
      map(incoming, look) {
        if (!isJoinable(incoming)) return incoming
        if (look(gate.held) === true) {
          counts.note(incoming, 'held')
          return undefined
        }
        const joined = joinLabels(incoming, { look, tables, seen }, rules)
        counts.note(incoming, joined.outcome)
        return joined.labels
      },
    }
    const again = createMappedAgain(next)
    const processor = createSeriesProcessor(map, host, again.next)
    // Whoever runs on a virtual clock compares what there is at the end of a step.
    const keepsAll = host.clock.aligned === true
    let caughtUp: (source: Source) => void = () => {}

    function join(batch: Batch): void {
      processor.consume(batch)
      if (batch.outcome === 'ok') counts.count(batch.layout)
    }

    function release(): void {
      if (keepsAll) return again.run(join)
      again.drain(batch => {
        join(batch)
        caughtUp(batch.source)
      })
    }

    return {
      start() {
        joinersOf(host.cluster).add(joiner)
      },
      consume(batch) {
        gate.check()
        again.forget(batch.source)
        if ((keepsAll || gate.held.value === true) && batch.layout.labels.some(isJoinable)) again.keep(batch)
        join(batch)
      },
      step(source, layout) {
        gate.check()
        const step = gate.held.value === true ? undefined : processor.step(source, layout)
        if (step === undefined) return undefined
        if (!layout.labels.some(isJoinable)) return step
        const each = counts.counter(layout)
        if (!keepsAll) return { ...step, each }
        return {
          ...step,
          each,
          before: { see: (batch, way) => again.keepMapped(runComposed(way, batch), step.plan.output) },
        }
      },
      // What is mapped again is compared with what it was mapped to.
      ...(!keepsAll && { release: processor.release }),
      refresh: gate.check,
      tellCaughtUp(listener) {
        caughtUp = listener
      },
      flush() {
        gate.check()
        if (keepsAll) again.run(join)
      },
      stop() {
        joinersOf(host.cluster).delete(joiner)
        gate.stop()
        again.clear()
      },
    }
  },
})

function outgoing<const Name extends string>(name: Name, what: string) {
  return { type: 'string', default: name, description: `Name of the label for ${what}; "" leaves it out.` } as const
}

function sameNameProblems(labels: Readonly<Record<string, string>>): Problem[] {
  const used = new Map<string, string>()
  return Object.entries(labels).flatMap(([label, name]) => {
    const other = name === '' ? undefined : used.get(name)
    used.set(name, label)
    return other === undefined ? [] : [{ path: ['labels', label], message: `"${name}" is also the name of ${other}` }]
  })
}

function lookUpProblems(texts: string | readonly string[], path: readonly (string | number)[]): Problem[] {
  if (typeof texts === 'string') return lookUpProblem(texts, path)
  return texts.flatMap((text, i) => lookUpProblem(text, [...path, i]))
}

function lookUpProblem(text: string, path: readonly (string | number)[]): Problem[] {
  try {
    parseLookUp(text)
    return []
  } catch (error) {
    return [{ path, message: (error as Error).message }]
  }
}

function notAKind(text: string): string {
  return `"${text}" is no kind; write Kind.group, such as RayCluster.ray.io, or the kind alone`
}
