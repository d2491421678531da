/** Which queue a scheduler put something into, where only its own objects say so: pod groups of Run:ai and KAI, Workloads of Kueue. */
import { isRecord, shareText, textOf, type SentObject } from './keep-metadata.ts'

export type PodGroup = {
  readonly namespace: string
  readonly name: string
  readonly uid: string
  readonly queue: string
}

/** A Workload of Kueue: what a job asked for, and where it was admitted. It is owned by the job, so no pod leads to it. */
export type Admission = {
  readonly uid: string
  readonly jobUid: string
  /** The LocalQueue. */
  readonly queue: string
  /** '' until it is admitted. */
  readonly clusterQueue: string
}

const JOB_UID = 'kueue.x-k8s.io/job-uid'

export function podGroupKey(namespace: string, name: string): string {
  return `${namespace}/${name}`
}

/** Undefined where it says no queue. */
export function keepPodGroup(object: SentObject): PodGroup | undefined {
  const { name, namespace = '', uid = '' } = object.metadata
  const queue = textAt(object['spec'], 'queue')
  return queue === '' ? undefined : { namespace: shareText(namespace), name, uid, queue: shareText(queue) }
}

export function isSamePodGroup(one: PodGroup, other: PodGroup): boolean {
  return one.uid === other.uid && one.queue === other.queue
}

/** Undefined where it says no job. */
export function keepAdmission(object: SentObject): Admission | undefined {
  const { labels, uid = '' } = object.metadata
  const jobUid = textAt(labels, JOB_UID)
  const admission = isRecord(object['status']) ? object['status']['admission'] : undefined
  if (jobUid === '') return undefined
  return {
    uid,
    jobUid,
    queue: shareText(textAt(object['spec'], 'queueName')),
    clusterQueue: shareText(textAt(admission, 'clusterQueue')),
  }
}

export function isSameAdmission(one: Admission, other: Admission): boolean {
  return (
    one.uid === other.uid &&
    one.jobUid === other.jobUid &&
    one.queue === other.queue &&
    one.clusterQueue === other.clusterQueue
  )
}

function textAt(value: unknown, key: string): string {
  return isRecord(value) ? textOf(value[key]) : ''
}
