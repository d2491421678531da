/** When boards were last busy: the latest time of their devices, also of those that were away since. */
import type { Activity } from './activity.ts'
import type { BoardNumbers } from './board-numbers.ts'
import type { Model } from './model.ts'
import { roomFor } from './room.ts'
import { Time } from './times.ts'
import type { Values } from './values.ts'

/** What the last time of a GPU is that has not been busy since it is known: there is none, or when it was first seen. */
export type NeverActive = 'none' | 'first_seen'

export type BoardTimesOptions = {
  readonly model: Model
  readonly values: Values
  /** Up to date before these are refreshed. */
  readonly numbers: BoardNumbers
  readonly activity: Activity
  readonly neverActive: NeverActive
}

export class BoardTimes {
  readonly #model: Model
  readonly #values: Values
  readonly #numbers: BoardNumbers
  readonly #activity: Activity
  readonly #neverActive: NeverActive
  /** What was kept, by place; NaN if nothing was. Empty while nothing was of any. */
  #kept = new Float64Array(0)
  #version = -1

  constructor({ model, values, numbers, activity, neverActive }: BoardTimesOptions) {
    this.#model = model
    this.#values = values
    this.#numbers = numbers
    this.#activity = activity
    this.#neverActive = neverActive
  }

  refresh(): void {
    const { boards } = this.#model.devices
    const { version } = this.#values.devices
    // Something is kept of devices that have gone, also where they are back by now.
    const looked = this.#version === version ? this.#numbers.changed : boards.list.keys()
    this.#version = version
    for (const place of looked) {
      const keys = (boards.list[place]?.devices ?? []).map(({ key }) => key)
      if (this.#neverActive === 'first_seen') for (const key of keys) this.#noteFirst(key)
      const times = keys.map(key => this.#activity.kept.devices.get(key)?.ms).filter(time => time !== undefined)
      this.#keep(place, times.length === 0 ? NaN : Math.max(...times))
    }
  }

  #keep(place: number, timeMs: number): void {
    if (place >= this.#kept.length) {
      if (Number.isNaN(timeMs)) return
      const known = this.#kept.length
      this.#kept = roomFor(this.#kept, Math.max(place + 1, this.#model.devices.boards.list.length)).fill(NaN, known)
    }
    this.#kept[place] = timeMs
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
    const { wholes, parts } = this.#numbers
    const { length } = this.#model.devices.boards.list
    for (let place = 0; place < length; place++) {
      const whole = wholes[place]!
      const kept = place < this.#kept.length ? this.#kept[place]! : NaN
      result[place] = (whole < 0 ? kept : this.#later(kept, whole)) / 1000
    }
    for (const [place, its] of parts) {
      const latest = its.reduce((time, { number }) => this.#later(time, number), this.#kept[place] ?? NaN)
      const whole = wholes[place]!
      result[place] = (whole < 0 ? latest : this.#later(latest, whole)) / 1000
    }
  }

  #later(latest: number, number: number): number {
    const time = this.#activity.ofNumber(number)
    return !(latest >= time) && time === time ? time : latest
  }
}
