/** Which readings are those of a board: of it as a whole, and of its instances. */
import type { DeviceRecord } from './board-records.ts'
import type { Model } from './model.ts'
import { roomFor } from './room.ts'
import type { Values } from './values.ts'

/** An instance that readings speak of, and what it is of the board. */
export type Part = { readonly number: number; readonly weight: number }

export class BoardNumbers {
  /** By place of the board: the number of the device that is all of it; -1 if nothing is read of such. */
  wholes = new Int32Array(0)
  /** By place, where readings speak of instances. */
  readonly parts = new Map<number, readonly Part[]>()
  /** Places at which it may be something else, since the last `settle`. */
  changed: readonly number[] = []
  readonly #model: Model
  readonly #values: Values
  #version = -1

  constructor(model: Model, values: Values) {
    this.#model = model
    this.#values = values
  }

  refresh(): void {
    const { boards } = this.#model.devices
    const { version } = this.#values.devices
    const looked = this.#version === version ? boards.changed : boards.list.keys()
    const changed: number[] = []
    this.#version = version
    this.wholes = roomFor(this.wholes, boards.list.length)
    for (const place of looked) {
      const before = this.wholes[place]
      const hadParts = this.parts.has(place)
      this.#set(place, boards.list[place]?.devices ?? [])
      const isOther = this.wholes[place] !== before || hadParts || this.parts.has(place)
      if (isOther || boards.changed.has(place)) changed.push(place)
    }
    this.changed = changed
  }

  /** Everybody has followed. */
  settle(): void {
    this.changed = []
  }

  #set(place: number, devices: readonly DeviceRecord[]): void {
    const { devices: things } = this.#values
    const whole = devices.find(({ seen }) => seen.part === undefined)
    this.wholes[place] = whole === undefined ? -1 : things.find(whole.key)
    const parts = devices
      .filter(({ seen }) => seen.part !== undefined)
      .map(({ key, assignment }) => ({ number: things.find(key), weight: assignment.weight }))
      .filter(({ number }) => number >= 0)
    if (parts.length > 0) this.parts.set(place, parts)
    else this.parts.delete(place)
  }
}
