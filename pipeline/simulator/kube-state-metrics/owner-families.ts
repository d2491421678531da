/** The families of the objects between pods and workloads, as far as kube-state-metrics knows them: no custom resources. */
import { countPods } from '../objects/owner.ts'
import type { Owner } from '../pod.ts'
import { ownerFamily, seconds, single, type Family } from './family.ts'

export type OwnerKind = {
  readonly kind: string
  readonly families: readonly Family<Owner>[]
  identity(owner: Owner): string
}

const CREATED = '[STABLE] Unix creation timestamp'

function numberIn(field: string) {
  return (owner: Owner): number | undefined => {
    const value = owner.spec[field]
    return typeof value === 'number' ? value : undefined
  }
}

function ownerKind(kind: string, label: string, families: readonly Family<Owner>[]): OwnerKind {
  return { kind, families, identity: ({ namespace, name }) => `namespace="${namespace}",${label}="${name}"` }
}

function created(name: string): Family<Owner> {
  return single(name, CREATED, owner => seconds(owner.createdMs))
}

/** By name of the resource, as they follow each other in the text. */
export const CRON_JOBS = ownerKind('CronJob', 'cronjob', [
  single(
    'kube_cronjob_info',
    '[STABLE] Info about cronjob.',
    () => 1,
    ({ spec }) => `,schedule="${String(spec['schedule'])}",concurrency_policy="Forbid",timezone="local"`,
  ),
  created('kube_cronjob_created'),
])

export const DEPLOYMENTS = ownerKind('Deployment', 'deployment', [
  ownerFamily('kube_deployment_owner', "Information about the Deployment's owner.", { saysController: false }),
  created('kube_deployment_created'),
  single(
    'kube_deployment_status_replicas',
    '[STABLE] The number of replicas per deployment.',
    owner => countPods(owner).active,
  ),
  single(
    'kube_deployment_status_replicas_ready',
    '[STABLE] The number of ready replicas per deployment.',
    owner => countPods(owner).ready,
  ),
  single('kube_deployment_spec_replicas', '[STABLE] Number of desired pods for a deployment.', numberIn('replicas')),
])

export const JOBS = ownerKind('Job', 'job_name', [
  single('kube_job_info', '[STABLE] Information about job.', () => 1),
  created('kube_job_created'),
  single(
    'kube_job_spec_parallelism',
    '[STABLE] The maximum desired number of pods the job should run at any given time.',
    numberIn('parallelism'),
  ),
  single(
    'kube_job_spec_completions',
    '[STABLE] The desired number of successfully finished pods the job should be run with.',
    numberIn('completions'),
  ),
  single(
    'kube_job_status_succeeded',
    '[STABLE] The number of pods which reached Phase Succeeded.',
    owner => countPods(owner).succeeded,
  ),
  single(
    'kube_job_status_failed',
    '[STABLE] The number of pods which reached Phase Failed and the reason for failure.',
    owner => countPods(owner).failed,
  ),
  single('kube_job_status_active', '[STABLE] The number of actively running pods.', owner => countPods(owner).active),
  single(
    'kube_job_status_start_time',
    '[STABLE] StartTime represents time when the job was acknowledged by the Job Manager.',
    owner => seconds(owner.createdMs),
  ),
  ownerFamily('kube_job_owner', "[STABLE] Information about the Job's owner."),
])

export const REPLICA_SETS = ownerKind('ReplicaSet', 'replicaset', [
  created('kube_replicaset_created'),
  single(
    'kube_replicaset_status_replicas',
    '[STABLE] The number of replicas per ReplicaSet.',
    owner => countPods(owner).active,
  ),
  single(
    'kube_replicaset_status_ready_replicas',
    '[STABLE] The number of ready replicas per ReplicaSet.',
    owner => countPods(owner).ready,
  ),
  single('kube_replicaset_spec_replicas', '[STABLE] Number of desired pods for a ReplicaSet.', numberIn('replicas')),
  ownerFamily('kube_replicaset_owner', "[STABLE] Information about the ReplicaSet's owner."),
])

export const STATEFUL_SETS = ownerKind('StatefulSet', 'statefulset', [
  created('kube_statefulset_created'),
  single(
    'kube_statefulset_status_replicas',
    '[STABLE] The number of replicas per StatefulSet.',
    owner => countPods(owner).active,
  ),
  single('kube_statefulset_replicas', '[STABLE] Number of desired pods for a StatefulSet.', numberIn('replicas')),
])
