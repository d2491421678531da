/**
 * Records that each keep their place for as long as they are there: arrays beside them stay as they are when one comes, goes or changes,
 * and only the places that have changed are looked at.
 */
import { hashString } from '../../pipeline/model/intern.ts'
import { NumberIndex } from '../../pipeline/model/number-index.ts'
import { PlaceSet } from './place-set.ts'
import { roomFor } from './room.ts'

export class Places<T> {
  /** By place; undefined where nobody is. */
  readonly list: (T | undefined)[] = []
  readonly #free: number[] = []
  readonly #changed = new PlaceSet()
  #begun: number[] = []

  get size(): number {
    return this.list.length - this.#free.length
  }

  /** Places where somebody else is, or nobody any more, since the last `settle`. */
  get changed(): Pick<PlaceSet, 'size' | 'has' | typeof Symbol.iterator> {
    return this.#changed
  }

  /** Of those the ones where somebody has come: at all others it may be another record, but of the same. */
  get begun(): readonly number[] {
    return this.#begun
  }

  values(): Iterable<T> {
    return this.list.values().filter(record => record !== undefined)
  }

  /** Gives one that comes a place. */
  add(record: T): number {
    const place = this.#free.pop() ?? this.list.length
    this.replace(place, record)
    this.#begun.push(place)
    return place
  }

  replace(place: number, record: T): void {
    if (this.list[place] === record) return
    this.list[place] = record
    this.#changed.add(place)
  }

  /** The record is the same, but what follows from it may be something else. */
  touch(place: number): void {
    this.#changed.add(place)
  }

  remove(place: number): void {
    this.list[place] = undefined
    this.#free.push(place)
    this.#changed.add(place)
  }

  settle(): void {
    this.#changed.clear()
    if (this.#begun.length > 0) this.#begun = []
  }
}

/** As a method has it, so that who reads a roster may know less of its records than who writes it. */
type KeyOf<T> = { of(record: T): string }['of']

/** Such records by key. */
export class Roster<T> extends Places<T> {
  readonly #keyOf: KeyOf<T>
  readonly #places = new NumberIndex<string>(hashString, place => this.#keyOf(this.list[place]!))

  /** A record knows its key: a list of keys would be as long as that of records. */
  constructor(keyOf: KeyOf<T>) {
    super()
    this.#keyOf = keyOf
  }

  get(key: string): T | undefined {
    const place = this.#places.find(key)
    return place < 0 ? undefined : this.list[place]
  }

  has(key: string): boolean {
    return this.#places.find(key) >= 0
  }

  /** -1 if it is not there. */
  placeOf(key: string): number {
    return this.#places.find(key)
  }

  *keys(): Generator<string> {
    for (const record of this.values()) yield this.#keyOf(record)
  }

  /** `key` is that of the record. */
  put(key: string, record: T): number {
    const known = this.#places.find(key)
    if (known >= 0) {
      this.replace(known, record)
      return known
    }
    const place = this.add(record)
    this.#places.add(place)
    return place
  }

  delete(key: string): void {
    const place = this.#places.find(key)
    if (place < 0) return
    this.#places.delete(key)
    this.remove(place)
  }
}

/** Those records of a roster that a walk over everything has come by, so that the others can be told to be gone. */
export class Attendance {
  #rounds = new Uint32Array(0)
  #round = 0
  #count = 0

  begin(): void {
    this.#round++
    this.#count = 0
  }

  mark(place: number): void {
    this.#rounds = roomFor(this.#rounds, place + 1)
    if (this.#rounds[place] === this.#round) return
    this.#rounds[place] = this.#round
    this.#count++
  }

  has(place: number): boolean {
    return this.#rounds[place] === this.#round
  }

  /** The keys of those that were not come by. */
  missing<T extends { readonly key: string }>(roster: Roster<T>): string[] {
    if (this.#count === roster.size) return []
    const keys: string[] = []
    roster.list.forEach((record, place) => {
      if (record !== undefined && this.#rounds[place] !== this.#round) keys.push(record.key)
    })
    return keys
  }
}
