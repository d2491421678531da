/**
 * kube-state-metrics 1.x: the families of 2.x as they were before, and those that 2.x gave up.
 *
 * All labels of objects are shown, under names that keep their case; annotations are not. Pods have no uid in their identity. CPU and
 * memory are in families of their own beside the generic ones, so every request is there twice. Where there is no owner, it says
 * `<none>`; reasons have a series each, of which one is 1.
 */
import type { SimulatedNode } from '../node.ts'
import type { Namespace } from '../namespaces.ts'
import { nodeLabels, nodeResources } from '../objects/node.ts'
import type { Owner } from '../pod.ts'
import { ownerFamily, single, type Family } from './family.ts'
import { plainLabels } from './label-names.ts'
import { namespaceFamilies, nodeFamilies, nodeInfo, quotaFamilies } from './node-families.ts'
import { CRON_JOBS, DEPLOYMENTS, JOBS, REPLICA_SETS, STATEFUL_SETS, type OwnerKind } from './owner-families.ts'
import { familiesOf, LABELS_HELP, withPlainHelp } from './version-1-families.ts'
import { podFamiliesOf1, podIdentityOf1 } from './version-1-pods.ts'

export function shownBy1() {
  return {
    cronJobs: CRON_JOBS_OF_1,
    deployments: DEPLOYMENTS_OF_1,
    jobs: JOBS_OF_1,
    namespaces: namespaceFamiliesOf1(),
    nodes: nodeFamiliesOf1(),
    pods: podFamiliesOf1(),
    podIdentity: podIdentityOf1,
    quotas: quotaFamilies().map(withPlainHelp),
    replicaSets: REPLICA_SETS_OF_1,
    statefulSets: STATEFUL_SETS_OF_1,
  }
}

function nodeFamiliesOf1(): Family<SimulatedNode>[] {
  const same = familiesOf(nodeFamilies({}))
  const amount = (which: 'capacity' | 'allocatable', resource: string, suffix: string): Family<SimulatedNode> =>
    single(
      `kube_node_status_${which}_${suffix}`,
      `The ${which} of a node: ${resource}.`,
      node => nodeResources(node).find(({ name }) => name === resource)![which].number,
    )
  const amounts = (which: 'capacity' | 'allocatable'): Family<SimulatedNode>[] => [
    same(`kube_node_status_${which}`),
    amount(which, 'pods', 'pods'),
    amount(which, 'cpu', 'cpu_cores'),
    amount(which, 'memory', 'memory_bytes'),
  ]
  return [
    // What came later stands at the end.
    single(
      'kube_node_info',
      'Information about a cluster node.',
      () => 1,
      node => nodeInfo(node).replace(/,system_uuid=.*/, ''),
    ),
    same('kube_node_created'),
    single(
      'kube_node_labels',
      LABELS_HELP,
      () => 1,
      node => plainLabels(nodeLabels(node)),
    ),
    same('kube_node_spec_unschedulable'),
    same('kube_node_spec_taint'),
    same('kube_node_status_condition'),
    ...amounts('capacity'),
    ...amounts('allocatable'),
  ]
}

function namespaceFamiliesOf1(): Family<Namespace>[] {
  const same = familiesOf(namespaceFamilies({}, {}))
  return [
    same('kube_namespace_created'),
    single(
      'kube_namespace_labels',
      LABELS_HELP,
      () => 1,
      ({ labels }) => plainLabels(labels),
    ),
    same('kube_namespace_status_phase'),
  ]
}

const CRON_JOBS_OF_1 = ownerKindOf1(CRON_JOBS, 'kube_cronjob_labels', {
  kube_cronjob_info: single(
    'kube_cronjob_info',
    'Info about cronjob.',
    () => 1,
    ({ spec }) => `,schedule="${String(spec['schedule'])}",concurrency_policy="Forbid"`,
  ),
})
const DEPLOYMENTS_OF_1 = ownerKindOf1(DEPLOYMENTS, 'kube_deployment_labels', {
  kube_deployment_owner: undefined,
  kube_deployment_status_replicas_ready: undefined,
})
const JOBS_OF_1 = ownerKindOf1(JOBS, 'kube_job_labels', {
  kube_job_owner: ownerFamily('kube_job_owner', "Information about the Job's owner.", { none: '<none>' }),
})
const REPLICA_SETS_OF_1 = ownerKindOf1(REPLICA_SETS, 'kube_replicaset_labels', {
  kube_replicaset_owner: ownerFamily('kube_replicaset_owner', "Information about the ReplicaSet's owner.", {
    none: '<none>',
  }),
})
const STATEFUL_SETS_OF_1 = ownerKindOf1(STATEFUL_SETS, 'kube_statefulset_labels', {})

/** The families of 2.x with others in their place, or none, and with the labels of the objects. */
function ownerKindOf1(
  kind: OwnerKind,
  labels: string,
  others: Readonly<Record<string, Family<Owner> | undefined>>,
): OwnerKind {
  const families = kind.families.map(family => (family.name in others ? others[family.name] : withPlainHelp(family)))
  return {
    ...kind,
    families: [
      single(
        labels,
        LABELS_HELP,
        () => 1,
        owner => plainLabels(owner.labels),
      ),
      ...families.filter(family => family !== undefined),
    ],
  }
}
