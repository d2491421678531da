/** Which readings are those of a pair: of its device, and its own where the device is shared. */
import type { PairRecord } from './board-records.ts'
import type { Model } from './model.ts'
import { PodsOfThings } from './pods-of-things.ts'
import { roomFor } from './room.ts'
import type { Values } from './values.ts'

export class PairReadings {
  /** By place of the pair: the number of its device; -1 if there is none. */
  numbers = new Int32Array(0)
  /** The number of its own reading; empty while none has any. */
  #own = new Int32Array(0)
  /** As `numbers`, but of devices that are not shared: amounts of others are those of all who share them. Where none is, the same. */
  unshared = this.numbers
  /** Whether any pair has a reading of its own. */
  hasOwn = false
  isShared = new Uint8Array(0)
  readonly #values: Values
  readonly #model: Model
  readonly #podsOfOwn: PodsOfThings
  /** By pod and device. */
  readonly #ownNumbers = new Map<string, number>()
  /** Places at which it may be something else, since the last `settle`. */
  changed: readonly number[] = []
  #version = -1

  constructor(values: Values, model: Model) {
    this.#values = values
    this.#model = model
    this.#podsOfOwn = new PodsOfThings(values.own, labels => model.podOf(labels))
  }

  get length(): number {
    return this.#model.devices.pairs.list.length
  }

  refresh(): void {
    const { pairs } = this.#model.devices
    const length = this.length
    this.numbers = roomFor(this.numbers, length)
    if (this.#own.length > 0) this.#own = roomFor(this.#own, length)
    this.isShared = roomFor(this.isShared, length)
    const { devices } = this.#values
    const isOther = this.#followOwn() || this.#version !== devices.version
    this.#version = devices.version
    const changed: number[] = []
    for (const place of isOther ? pairs.list.keys() : pairs.changed) {
      if (this.#set(place, pairs.list[place]) || pairs.changed.has(place)) changed.push(place)
    }
    this.changed = changed
    this.hasOwn = this.#own.subarray(0, length).some(number => number >= 0)
    const hasShared = this.isShared.subarray(0, length).includes(1)
    this.unshared = hasShared ? this.numbers.map((number, i) => (this.isShared[i] === 1 ? -1 : number)) : this.numbers
  }

  /** The number of the reading that a pair has of its own; -1 if there is none. */
  ownAt(place: number): number {
    return this.#own.length === 0 ? -1 : this.#own[place]!
  }

  /** Everybody has followed. */
  settle(): void {
    this.changed = []
  }

  /** Whether something is another. */
  #set(place: number, pair: PairRecord | undefined): boolean {
    const [number, own] = [this.numbers[place], this.ownAt(place)]
    const isShared = pair !== undefined && pair.device.assignment.isShared
    this.numbers[place] = pair === undefined ? -1 : this.#values.devices.find(pair.device.key)
    // The exporter of the GPU says that it is there, and whose.
    this.#setOwn(place, isShared && this.numbers[place]! >= 0 ? this.ownOf(pair) : -1)
    this.isShared[place] = Number(isShared)
    return this.numbers[place] !== number || this.ownAt(place) !== own
  }

  #setOwn(place: number, number: number): void {
    if (number >= 0 && this.#own.length === 0) this.#own = new Int32Array(this.numbers.length).fill(-1)
    if (this.#own.length > 0) this.#own[place] = number
  }

  /** Whether any is another. */
  #followOwn(): boolean {
    if (this.#podsOfOwn.refresh(this.#model.podChanges).size === 0) return false
    this.#ownNumbers.clear()
    this.#podsOfOwn.pods.forEach((pod, number) => {
      const device = this.#values.own.keyOf(number).split('\n')[1]
      if (pod !== undefined) this.#ownNumbers.set(`${pod.key}\n${device}`, number)
    })
    return true
  }

  ownOf({ holder, device }: PairRecord): number {
    if (this.#ownNumbers.size === 0) return -1
    const pod = 'host' in holder ? holder.host : holder
    if (pod === undefined) return -1
    const { id } = device.seen
    return this.#ownNumbers.get(`${pod.key}\n${device.key}`) ?? this.#ownNumbers.get(`${pod.key}\n${id}`) ?? -1
  }
}
