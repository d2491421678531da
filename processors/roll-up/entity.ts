/** What a series of a roll-up is about: a GPU, a pod, a workload, a node. Its labels are made of what is known of it. */
import { hashLabels, labelsFrom, type Labels } from '../../pipeline/model/labels.ts'
import { NumberIndex } from '../../pipeline/model/number-index.ts'
import { packed, unpacked, type OneOrMany } from './one-or-many.ts'
import { roomFor } from './room.ts'

export type Entity = {
  /** The value of an attribute, or what a look-up finds; undefined if there is none. */
  get(attribute: string): string | undefined
  /** The groups it belongs to, one of a grouping, once somebody has asked. */
  groups: Groups
}

/** One series of a roll-up. There are several for each GPU. */
export type Group = {
  readonly labels: Labels
  /** Its place in arrays, for as long as it is there. 0 is the place of what belongs to no group. */
  slot: number
}

/** The slot of a group that gave its place back. */
const GONE = -1

export type Groups = OneOrMany<Group>

export const NO_GROUPS: Groups = []

export function entityFrom(get: Entity['get']): Entity {
  return { get, groups: NO_GROUPS }
}

/** The labels of a metric: names, and what each is. */
export type LabelSpec = readonly (readonly [name: string, attribute: string])[]

/**
 * Groups by labels. Two entities with the same labels are one group: whatever else tells them apart cannot be seen from outside, and
 * two values for one series would be wrong.
 */
export class Grouping {
  readonly labels: LabelSpec
  /** By slot. */
  readonly groups: (Group | undefined)[] = [undefined]
  readonly #key: readonly string[]
  readonly #byLabels = new NumberIndex<Labels>(hashLabels, slot => this.groups[slot]!.labels)
  /** By slot: how many belong to it. */
  #uses = new Uint32Array(0)
  readonly #free: number[] = []
  /** Groups that may belong to nobody. */
  #idle: Group[] = []
  #version = 0

  /** `key` are the attributes without which there is no series. */
  constructor(labels: LabelSpec, key: readonly string[]) {
    this.labels = labels
    this.#key = key
  }

  /** Changes when a group comes or goes. */
  get version(): number {
    return this.#version
  }

  /** The slot of the group that an entity belongs to; 0 if it belongs to none. */
  slotOf(entity: Entity): number {
    let group = this.#groupAmong(entity.groups)
    if (group === undefined) {
      if (this.#key.some(attribute => (entity.get(attribute) ?? '') === '')) return 0
      const others = unpacked(entity.groups).filter(({ slot }) => slot !== GONE)
      group = this.#groupOf(labelsFrom(this.labels.map(([name, attribute]) => [name, entity.get(attribute) ?? ''])))
      entity.groups = packed([...others, group])
    }
    return group.slot
  }

  /** Whether an entity whose groups were others before belongs to another one now. */
  hasMoved(entity: Entity, before: Groups): boolean {
    const group = this.#groupAmong(before)
    return group !== undefined && this.slotOf(entity) !== group.slot
  }

  /** One more belongs to it. */
  retain(slot: number): void {
    if (slot > 0) this.#uses[slot]!++
  }

  release(slot: number): void {
    const group = this.groups[slot]
    if (group !== undefined && --this.#uses[slot]! === 0) this.#idle.push(group)
  }

  /** Groups that nobody belongs to give their places back. */
  sweep(): void {
    for (const group of this.#idle) {
      const { slot } = group
      if (slot === GONE || this.#uses[slot]! > 0) continue
      this.#byLabels.delete(group.labels)
      this.groups[slot] = undefined
      this.#free.push(slot)
      group.slot = GONE
      this.#version++
    }
    this.#idle = []
  }

  #groupAmong(groups: Groups): Group | undefined {
    if ('slot' in groups) return this.groups[groups.slot] === groups ? groups : undefined
    for (let i = 0; i < groups.length; i++) if (this.groups[groups[i]!.slot] === groups[i]) return groups[i]
    return undefined
  }

  #groupOf(labels: Labels): Group {
    const known = this.#byLabels.find(labels)
    if (known >= 0) return this.groups[known]!
    const group = { labels, slot: this.#free.pop() ?? this.groups.length }
    this.groups[group.slot] = group
    this.#uses = roomFor(this.#uses, this.groups.length)
    this.#byLabels.add(group.slot)
    this.#idle.push(group)
    this.#version++
    return group
  }
}
