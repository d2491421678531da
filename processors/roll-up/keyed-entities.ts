/**
 * What pods belong to: workloads, projects, users and so on. Its labels are those of its oldest live pod, so that a workload is one
 * series also where its pods say different things.
 */
import { isFinished } from '../../pipeline/cluster/pod-state.ts'
import type { Entity } from './entity.ts'
import type { PodRecord } from './pod-records.ts'

export type KeyedEntity = Entity & { readonly key: string; readonly members: readonly PodRecord[] }

type Draft = { members: PodRecord[]; oldest: Member }

/** What an entity takes its labels from: a pod, or a job of a batch system. */
type Member = Entity & { readonly pod?: PodRecord['pod'] }

export class KeyedEntities {
  readonly #attribute: string
  #entities = new Map<string, KeyedEntity & { source: Member }>()

  /** The attribute that tells them apart. */
  constructor(attribute: string) {
    this.#attribute = attribute
  }

  get all(): ReadonlyMap<string, KeyedEntity> {
    return this.#entities
  }

  of(member: Entity): KeyedEntity | undefined {
    const key = member.get(this.#attribute)
    return key === undefined || key === '' ? undefined : this.#entities.get(key)
  }

  refresh(pods: Iterable<PodRecord>, jobs: Iterable<Entity>): void {
    const drafts = new Map<string, Draft>()
    for (const pod of pods) {
      const key = pod.get(this.#attribute)
      if (key === undefined || key === '') continue
      const draft = drafts.get(key)
      if (draft === undefined) drafts.set(key, { members: [pod], oldest: pod })
      else {
        draft.members.push(pod)
        if (isBefore(pod, draft.oldest)) draft.oldest = pod
      }
    }
    for (const job of jobs) {
      const key = job.get(this.#attribute)
      if (key !== undefined && key !== '' && !drafts.has(key)) drafts.set(key, { members: [], oldest: job })
    }
    const next = new Map<string, KeyedEntity & { source: Member }>()
    for (const [key, { members, oldest }] of drafts) {
      const known = this.#entities.get(key)
      const groups = known?.source === oldest ? known.groups : []
      next.set(key, { key, members, source: oldest, groups, get: attribute => oldest.get(attribute) })
    }
    this.#entities = next
  }
}

/** Those that have not finished come first, then the oldest. */
function isBefore(one: PodRecord, other: Member): boolean {
  if (other.pod === undefined) return true
  const [a, b] = [one.pod, other.pod]
  if (isFinished(a) !== isFinished(b)) return isFinished(b)
  const [createdA, createdB] = [a.createdMs ?? Infinity, b.createdMs ?? Infinity]
  if (createdA !== createdB) return createdA < createdB
  return a.uid < b.uid
}
