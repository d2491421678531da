/** What a series of a roll-up is about: a GPU, a pod, a workload, a node. Its labels are made of what is known of it. */
import { hashLabels, labelsFrom, type Labels } from '../../pipeline/model/labels.ts'
import { NumberIndex } from '../../pipeline/model/number-index.ts'
import { packed, unpacked, type OneOrMany } from './one-or-many.ts'
import { roomFor } from './room.ts'

export type Entity = {
  /** The value of an attribute, or what a look-up finds; undefined if there is none. */
  get(attribute: string): string | undefined
  /**
   * The groups it belongs to, one of a grouping, once somebody has asked. What has a place among contributors does without: whoever asks
   * for its group keeps that by place.
   */
  groups?: Groups
}

/** Where an entity belongs in a grouping: it holds for as long as the slot is that of these labels. */
type Group = { readonly grouping: Grouping; readonly labels: Labels; readonly slot: number }

export type Groups = OneOrMany<Group>

export const NO_GROUPS: Groups = []

/** One that many belong to, or that is asked again. */
export type Grouped = Entity & { groups: Groups }

export function entityFrom(get: Entity['get']): Grouped {
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
  /**
   * The labels of each group, by slot, which is its place in arrays for as long as it is there; 0 is the place of what belongs to no group.
   * There are several for each GPU.
   */
  readonly groups: (Labels | undefined)[] = [undefined]
  readonly #key: readonly string[]
  readonly #byLabels = new NumberIndex<Labels>(hashLabels, slot => this.groups[slot]!)
  /** By slot: how many belong to it. */
  #uses = new Uint32Array(0)
  readonly #free: number[] = []
  /** Slots of groups that may belong to nobody, and from which on there may be more: at the start these are all. */
  #idle: number[] = []
  #firstNew = 1
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
    const { groups } = entity
    const known = groups && this.#groupAmong(groups)
    if (known !== undefined) return known.slot
    if (this.#key.some(attribute => (entity.get(attribute) ?? '') === '')) return 0
    const labels = labelsFrom(this.labels.map(([name, attribute]) => [name, entity.get(attribute) ?? '']))
    const slot = this.#slotFor(labels)
    if (groups !== undefined) {
      const others = unpacked(groups).filter(one => one.grouping !== this && holds(one))
      entity.groups = packed([...others, { grouping: this, labels, slot }])
    }
    return slot
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
    if (slot > 0 && --this.#uses[slot]! === 0) this.#idle.push(slot)
  }

  /** Groups that nobody belongs to give their places back. */
  sweep(): void {
    for (const slot of this.#idle) this.#sweepSlot(slot)
    for (let slot = this.#firstNew; slot < this.groups.length; slot++) this.#sweepSlot(slot)
    this.#idle = []
    this.#firstNew = this.groups.length
  }

  #sweepSlot(slot: number): void {
    const labels = this.groups[slot]
    if (labels === undefined || this.#uses[slot]! > 0) return
    this.#byLabels.delete(labels)
    this.groups[slot] = undefined
    this.#free.push(slot)
    this.#version++
  }

  #groupAmong(groups: Groups): Group | undefined {
    if ('slot' in groups) return groups.grouping === this && holds(groups) ? groups : undefined
    for (let i = 0; i < groups.length; i++) if (groups[i]!.grouping === this && holds(groups[i]!)) return groups[i]
    return undefined
  }

  #slotFor(labels: Labels): number {
    const known = this.#byLabels.find(labels)
    if (known >= 0) return known
    const slot = this.#free.pop() ?? this.groups.length
    this.groups[slot] = labels
    this.#uses = roomFor(this.#uses, this.groups.length)
    this.#byLabels.add(slot)
    if (slot < this.#firstNew) this.#idle.push(slot)
    this.#version++
    return slot
  }
}

function holds({ grouping, labels, slot }: Group): boolean {
  return grouping.groups[slot] === labels
}
