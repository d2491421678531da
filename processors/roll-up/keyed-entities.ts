/**
 * What pods belong to: workloads, projects, users and so on. Its labels are those of its oldest live pod, so that a workload is one
 * series also where its pods say different things.
 */
import { countsBefore } from '../../pipeline/cluster/pod-state.ts'
import { NO_GROUPS, type Entity, type Grouped, type Groups } from './entity.ts'
import type { PodChange, PodRecord } from './pod-records.ts'
import { Roster } from './roster.ts'

export type KeyedEntity = Grouped & { readonly key: string; readonly members: ReadonlySet<PodRecord> }

/** What an entity takes its labels from: a pod, or a job of a batch system. */
type Member = Entity & { readonly pod?: PodRecord['pod'] }

class Draft implements KeyedEntity {
  readonly key: string
  readonly members = new Set<PodRecord>()
  source: Member
  groups = NO_GROUPS

  constructor(key: string, source: Member) {
    this.key = key
    this.source = source
  }

  get(attribute: string): string | undefined {
    return this.source.get(attribute)
  }
}

/** One whose labels may be others than before, with the groups that it was in. */
export type Relabelled = { readonly entity: KeyedEntity; readonly before: Groups }

export class KeyedEntities {
  readonly all = new Roster<KeyedEntity>(({ key }) => key)
  readonly #attribute: string
  readonly #drafts = new Map<string, Draft>()
  #jobs = new Map<string, Entity>()
  #relabelled: Relabelled[] = []

  /** The attribute that tells them apart. */
  constructor(attribute: string) {
    this.#attribute = attribute
  }

  /** By the last refresh. */
  get relabelled(): readonly Relabelled[] {
    return this.#relabelled
  }

  of(member: Entity): KeyedEntity | undefined {
    const key = this.#keyOf(member)
    return key === undefined ? undefined : this.#drafts.get(key)
  }

  /** Looks only at what has changed, and at all jobs. */
  refresh(changes: readonly PodChange[], jobs: Iterable<Entity>): void {
    const touched = new Set<string>()
    for (const { before, now } of changes) {
      const from = before && this.#keyOf(before)
      const to = now && this.#keyOf(now)
      if (from !== undefined) {
        this.#drafts.get(from)!.members.delete(before!)
        touched.add(from)
      }
      if (to !== undefined) {
        this.#draftOf(to, now!).members.add(now!)
        touched.add(to)
      }
    }
    this.#followJobs(jobs, touched)
    this.#relabelled = []
    for (const key of touched) this.#settle(key)
  }

  #followJobs(jobs: Iterable<Entity>, touched: Set<string>): void {
    const before = this.#jobs
    this.#jobs = new Map()
    for (const job of jobs) {
      const key = this.#keyOf(job)
      if (key === undefined || this.#jobs.has(key)) continue
      this.#jobs.set(key, job)
      if (before.get(key) !== job) touched.add(this.#draftOf(key, job).key)
    }
    for (const key of before.keys()) if (!this.#jobs.has(key)) touched.add(key)
  }

  #draftOf(key: string, source: Member): Draft {
    let draft = this.#drafts.get(key)
    if (draft === undefined) {
      this.#drafts.set(key, (draft = new Draft(key, source)))
    }
    return draft
  }

  #settle(key: string): void {
    const draft = this.#drafts.get(key)!
    const source = oldest(draft.members) ?? this.#jobs.get(key)
    if (source === undefined) {
      this.#drafts.delete(key)
      this.all.delete(key)
      return
    }
    if (draft.source !== source) {
      this.#relabelled.push({ entity: draft, before: draft.groups })
      draft.source = source
      draft.groups = NO_GROUPS
    }
    this.all.touch(this.all.put(key, draft))
  }

  #keyOf(member: Entity): string | undefined {
    const key = member.get(this.#attribute)
    return key === '' ? undefined : key
  }
}

function oldest(members: ReadonlySet<PodRecord>): PodRecord | undefined {
  let first: PodRecord | undefined
  for (const member of members) if (first === undefined || countsBefore(member.pod, first.pod)) first = member
  return first
}
