/**
 * The contributors of all rules, and the group of each. Rules of one kind, level and set of labels share all of it. When something
 * has changed, the groups of what has changed are looked up, and no others.
 */
import type { ContributorKind, Level } from '../../pipeline/catalog/output-schema.ts'
import type { Activity } from './activity.ts'
import type { BoardNumbers } from './board-numbers.ts'
import {
  gpuNodes,
  nodeContributors,
  podContributors,
  quotaContributors,
  workloadContributors,
  type Contributors,
} from './contributors.ts'
import type { Entity, Grouping } from './entity.ts'
import type { Model } from './model.ts'
import type { PairReadings } from './pair-readings.ts'
import {
  containerContributors,
  gpuContributors,
  hostContributors,
  pairContributors,
  restContributors,
  seriesContributors,
  type SharedMemory,
} from './read-contributors.ts'
import type { RestMemory } from './rest-memory.ts'
import type { Rule } from './rules.ts'
import { roomFor } from './room.ts'
import { Slots, type Changed } from './slots.ts'
import type { Times } from './times.ts'
import type { Values } from './values.ts'

export type SetsOptions = {
  readonly model: Model
  readonly values: Values
  readonly readings: PairReadings
  readonly boardNumbers: BoardNumbers
  readonly activity: Activity
  readonly restMemory: RestMemory
  readonly sharedMemory: SharedMemory
}

/** Contributors with the groups that they have in a rule. */
export type Members = { readonly set: Contributors; readonly slots: Slots }

type Named = Members & {
  readonly name: string
  readonly level: Level
  readonly rule: Rule
  readonly grouping: Grouping
}

/** Beside the kinds: pods and jobs with the times at which they were last busy, and nodes that have GPUs. */
type SetName = ContributorKind | 'active pods' | 'active jobs' | 'gpu nodes'

export class Sets {
  readonly #options: SetsOptions
  readonly #sets = new Map<SetName, Contributors>()
  readonly #members = new Map<string, Named>()

  constructor(options: SetsOptions) {
    this.#options = options
  }

  /** Who contributes to a rule. */
  of(rule: Rule, grouping: Grouping): readonly Members[] {
    return setsOf(rule).map(name => this.#membersOf(name, rule, grouping))
  }

  /** For whom a rule has a series even if nothing contributes. */
  alwaysThere(rule: Rule, grouping: Grouping): Members | undefined {
    if (rule.zeroFor === undefined) return undefined
    return this.#membersOf(rule.zeroFor === 'gpu_nodes' ? 'gpu nodes' : 'workload', rule, grouping)
  }

  /** Follows the model and the readings. */
  refresh(): void {
    const changed = new Map<string, Changed>()
    for (const [name, set] of this.#sets) changed.set(name, set.refresh())
    for (const members of this.#members.values()) {
      const its = this.#areOther(members) ? 'all' : changed.get(members.name)!
      members.slots.update(its, members.set.length)
    }
  }

  /** Whether what they are part of may have other labels, although they are the same. */
  #areOther({ rule, level, grouping }: Named): boolean {
    const relabelled = this.#options.model.relabelled(level)
    if (relabelled === 'all') return true
    return relabelled.some(({ entity, before }) => rule.only.length > 0 || grouping.hasMoved(entity, before))
  }

  #membersOf(name: SetName, rule: Rule, grouping: Grouping): Named {
    const { level, only } = rule
    const key = JSON.stringify([name, level, rule.labels, only])
    let members = this.#members.get(key)
    if (members === undefined) {
      const set = this.#setOf(name)
      const entityAt = (place: number): Entity | undefined => {
        const entity = set.entity(level, place)
        return entity !== undefined && isMeant(rule, entity) ? entity : undefined
      }
      members = { name, level, rule, grouping, set, slots: new Slots(grouping, entityAt) }
      this.#members.set(key, members)
    }
    return members
  }

  #setOf(name: SetName): Contributors {
    let set = this.#sets.get(name)
    if (set === undefined) this.#sets.set(name, (set = createSet(name, this.#options)))
    return set
  }
}

/** When pods were last busy is known also of those that have no GPU any more. */
function setsOf({ of: kind, aggregate, level }: Rule): readonly SetName[] {
  return kind === 'pair' && aggregate === 'last_active' && level !== 'pair' ? ['active pods', 'active jobs'] : [kind]
}

function isMeant({ only }: Rule, entity: Entity): boolean {
  return only.every(([attribute, values]) => values.includes(entity.get(attribute) ?? ''))
}

function createSet(
  name: SetName,
  { model, values, readings, boardNumbers, activity, restMemory, sharedMemory }: SetsOptions,
): Contributors {
  switch (name) {
    case 'gpu':
      return gpuContributors(model, values, boardNumbers)
    case 'pair':
      return pairContributors(model, values, readings, sharedMemory)
    case 'pod':
      return podContributors(model)
    case 'container':
      return containerContributors(model, values)
    case 'node':
      return nodeContributors(model)
    case 'host':
      return hostContributors(model, values)
    case 'project_quota':
      return quotaContributors(model.quotas.projects, model.at)
    case 'queue_quota':
      return quotaContributors(model.quotas.queues, model.at)
    case 'rest':
      return restContributors(model, values, restMemory)
    case 'workload':
      return workloadContributors(model)
    case 'series':
      return seriesContributors(values)
    case 'gpu nodes':
      return gpuNodes(model)
    case 'active pods':
      return activeContributors(podContributors(model), activity.pods)
    case 'active jobs':
      return activeContributors(jobContributors(model), activity.jobs)
  }
}

function activeContributors(holders: Contributors, times: Times): Contributors {
  let seconds = new Float64Array(0)
  return {
    get length() {
      return holders.length
    },
    refresh: () => holders.refresh(),
    entity: (level, place) => holders.entity(level, place),
    values() {
      seconds = roomFor(seconds, holders.length)
      for (let place = 0; place < holders.length; place++) seconds[place] = times.at(place) / 1000
      return seconds
    },
  }
}

function jobContributors({ devices: { jobs }, at }: Model): Contributors {
  return {
    get length() {
      return jobs.list.length
    },
    refresh: () => jobs.changed,
    entity(level, place) {
      const job = jobs.list[place]
      return job && at(level, job, '')
    },
    values: () => new Float64Array(jobs.list.length).fill(1),
  }
}
