/** What the receiver must be allowed to read. Owners are of any kind, so this can only name those that are known. */
import { loadWorkloadsCatalog } from '../../pipeline/catalog/catalogs.ts'
import { parseKind, type KindName } from '../../pipeline/cluster/workload-kinds.ts'
import type { Catalogs, RbacRule } from '../../pipeline/component.ts'
import { SCHEDULER_KINDS } from './scheduler-kinds.ts'

const WHY_SCHEDULERS = 'quotas, queues and claims'
const VERBS = ['get', 'list', 'watch']

const ABOUT_OWNERS = `Owners of pods are followed through any kind, by their metadata alone. The kinds that are known are below; those that a cluster does
not have do no harm. For another one, add its group and the plural of its kind, as \`kubectl api-resources\` prints them, with the
same verbs. An owner that may not be read is taken for the workload, and the log says which rule is missing.`

/** Kinds that stand between pods and workloads, or that are workloads of no particular type: the catalog need not name them. */
const OTHER_OWNERS = [
  'ReplicationController.',
  'DaemonSet.apps',
  'Deployment.apps',
  'ReplicaSet.apps',
  'StatefulSet.apps',
  'CronWorkflow.argoproj.io',
  'Rollout.argoproj.io',
  'Workflow.argoproj.io',
  'PodClique.grove.io',
  'PodCliqueScalingGroup.grove.io',
  'NodeSet.slinky.slurm.net',
  'PipelineRun.tekton.dev',
  'TaskRun.tekton.dev',
]

export function rulesOfCluster(namespaces: readonly string[], catalogs: Catalogs): RbacRule[] {
  const place = namespaces.length === 0 ? {} : { namespaces }
  return [
    { group: '', resources: ['nodes', 'namespaces'], verbs: VERBS, why: 'nodes, and the labels of namespaces' },
    { group: '', resources: ['pods'], verbs: VERBS, ...place, why: 'pods, and where they run' },
    ...rulesOf(SCHEDULER_KINDS.cluster.map(parseKind), { why: WHY_SCHEDULERS }),
    ...rulesOf(SCHEDULER_KINDS.namespaced.map(parseKind), { ...place, why: WHY_SCHEDULERS }),
    ...rulesOf(ownerKinds(catalogs), { ...place, why: 'owners of pods', note: ABOUT_OWNERS }),
  ]
}

/** One for each group. RBAC knows no kind of whatever group. */
function rulesOf(
  kinds: readonly (KindName | undefined)[],
  about: Omit<RbacRule, 'group' | 'resources' | 'verbs'>,
): RbacRule[] {
  const resourcesByGroup = new Map<string, string[]>()
  for (const { kind, group } of kinds.filter(one => one !== undefined)) {
    if (group === undefined) continue
    const resources = resourcesByGroup.get(group) ?? []
    resourcesByGroup.set(group, resources)
    const resource = pluralOf(kind)
    if (!resources.includes(resource)) resources.push(resource)
  }
  return Array.from(resourcesByGroup)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([group, resources]) => ({ group, resources: resources.sort(), verbs: VERBS, ...about }))
}

/** Pods are read anyway. */
function ownerKinds(catalogs: Catalogs): readonly (KindName | undefined)[] {
  const { types, wrappers, stop_at, guesses } = loadWorkloadsCatalog(catalogs, 'workloads')
  const texts = [
    ...OTHER_OWNERS,
    ...Object.values(types).flat(),
    ...wrappers,
    ...stop_at,
    ...guesses.flatMap(({ from, to }) => [...from, to]),
  ]
  return texts.filter(text => text !== 'Pod.').map(parseKind)
}

/** As code generators of Kubernetes make the name of a resource from its kind. */
function pluralOf(kind: string): string {
  const name = kind.toLowerCase()
  if (name.endsWith('s')) return `${name}es`
  return name.endsWith('y') ? `${name.slice(0, -1)}ies` : `${name}s`
}
