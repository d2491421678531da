/** The kinds of workload that people submit, one row each. */
import type { WorkloadKind } from '../workload.ts'
import { mpiJob, notebook, pyTorchJob } from './kubeflow.ts'
import { cronJob, deployment, job } from './kubernetes.ts'
import { inference, interactive, training } from './runai.ts'
import { inferenceService, rayCluster } from './serving.ts'
import { jobSet, leaderWorkerSet } from './sets.ts'

export const WORKLOAD_KINDS: readonly WorkloadKind[] = [
  deployment,
  job,
  pyTorchJob,
  mpiJob,
  rayCluster,
  jobSet,
  leaderWorkerSet,
  inferenceService,
  notebook,
  training,
  interactive,
  inference,
]

/** Not submitted by people, but by a CronJob that is always there. */
export const CRON_JOB = cronJob
