/** When boards were last busy: the latest time of their devices, also of those that were away since. */
import type { Activity } from './activity.ts'
import type { Model } from './model.ts'
import { roomFor } from './room.ts'
import type { Changed } from './slots.ts'
import { Time } from './times.ts'
import type { Values } from './values.ts'

/** What the last time of a GPU is that has not been busy since it is known: there is none, or when it was first seen. */
export type NeverActive = 'none' | 'first_seen'

export class BoardTimes {
  readonly #model: Model
  readonly #values: Values
  readonly #activity: Activity
  readonly #neverActive: NeverActive
  /** By place. Nearly every board has one device, for which a list would be seven times as much. */
  readonly #numbers: (number | readonly number[])[] = []
  /** What was kept, by place; NaN if nothing was. */
  #kept = new Float64Array(0)
  #version = -1

  constructor(model: Model, values: Values, activity: Activity, neverActive: NeverActive) {
    this.#model = model
    this.#values = values
    this.#activity = activity
    this.#neverActive = neverActive
  }

  refresh(): void {
    const { boards } = this.#model.devices
    const { devices } = this.#values
    const changed: Changed = this.#version === devices.version ? boards.changed : 'all'
    this.#version = devices.version
    this.#kept = roomFor(this.#kept, boards.list.length)
    for (const place of changed === 'all' ? boards.list.keys() : changed) {
      const keys = (boards.list[place]?.devices ?? []).map(({ key }) => key)
      const numbers = keys.map(key => devices.find(key)).filter(number => number >= 0)
      this.#numbers[place] = numbers.length === 1 ? numbers[0]! : numbers.slice()
      if (this.#neverActive === 'first_seen') for (const key of keys) this.#noteFirst(key)
      const times = keys.map(key => this.#activity.kept.devices.get(key)?.ms).filter(time => time !== undefined)
      this.#kept[place] = times.length === 0 ? NaN : Math.max(...times)
    }
  }

  /** It is kept as a time at which the device was busy would be, so that it stays. */
  #noteFirst(key: string): void {
    const { devices } = this.#values
    const { kept } = this.#activity
    const number = devices.find(key)
    if (number >= 0 && !kept.devices.has(key)) kept.devices.set(key, new Time(devices.shownMs(number)))
  }

  /** The clock has been set back. */
  notAfter(nowMs: number): void {
    for (let place = 0; place < this.#kept.length; place++) this.#kept[place] = Math.min(this.#kept[place]!, nowMs)
  }

  /** In seconds. */
  fill(result: Float64Array): void {
    for (let place = 0; place < this.#numbers.length; place++) {
      const numbers = this.#numbers[place]!
      let latest = this.#kept[place]!
      if (typeof numbers === 'number') latest = this.#later(latest, numbers)
      else for (const number of numbers) latest = this.#later(latest, number)
      result[place] = latest / 1000
    }
  }

  #later(latest: number, number: number): number {
    const time = this.#activity.ofNumber(number)
    return !(latest >= time) && time === time ? time : latest
  }
}
