/** Which group each contributor belongs to, by place: looked up for those that have changed, and kept for all others. */
import type { Entity, Grouping } from './entity.ts'
import { roomFor } from './room.ts'

/** Places that have changed. */
export type Changed = Iterable<number> | 'all'

export class Slots {
  /** By place; 0 is no group. There may be more room than places. */
  slots = new Uint32Array(0)
  length = 0
  readonly #grouping: Grouping
  readonly #entityAt: (place: number) => Entity | undefined

  constructor(grouping: Grouping, entityAt: (place: number) => Entity | undefined) {
    this.#grouping = grouping
    this.#entityAt = entityAt
  }

  update(changed: Changed, length: number): void {
    this.slots = roomFor(this.slots, length)
    // What is beyond has gone.
    for (let place = length; place < this.length; place++) this.#set(place, 0)
    this.length = length
    if (changed === 'all') for (let place = 0; place < length; place++) this.#place(place)
    else for (const place of changed) if (place < length) this.#place(place)
  }

  #place(place: number): void {
    const entity = this.#entityAt(place)
    this.#set(place, entity === undefined ? 0 : this.#grouping.slotOf(entity))
  }

  #set(place: number, slot: number): void {
    const before = this.slots[place]!
    if (before === slot) return
    this.#grouping.retain(slot)
    this.#grouping.release(before)
    this.slots[place] = slot
  }
}
