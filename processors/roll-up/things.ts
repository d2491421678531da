/**
 * What facts are readings of, by number: GPUs, containers, hosts. A number is given to a thing when the first series speaks of it
 * and is free again when the last one is gone, so that arrays by number stay small however many come and go.
 */
import { EMPTY_LABELS, type Labels } from '../../pipeline/model/labels.ts'

/** Something with an entry for each thing. */
type Column = { grow(capacity: number): void; reset(number: number): void }

const FIRST_CAPACITY = 64

export class Things {
  readonly #numbers = new Map<string, number>()
  readonly #columns: Column[] = []
  readonly #free: number[] = []
  readonly #keys: string[] = []
  readonly #labels: Labels[] = []
  #uses = new Uint32Array(FIRST_CAPACITY)
  #version = 0

  /** Numbers are below this. */
  get length(): number {
    return this.#keys.length
  }

  get capacity(): number {
    return this.#uses.length
  }

  /** Changes when a thing comes or goes. */
  get version(): number {
    return this.#version
  }

  attach(column: Column): void {
    this.#columns.push(column)
    column.grow(this.capacity)
  }

  /** The number of a thing that one more series speaks of. */
  take(key: string, labels: Labels): number {
    let number = this.#numbers.get(key)
    if (number === undefined) number = this.#add(key, labels)
    this.#uses[number]!++
    return number
  }

  /** One more series of a thing whose number is known. */
  retain(number: number): void {
    this.#uses[number]!++
  }

  release(number: number): void {
    if (--this.#uses[number]! > 0) return
    // While its key is still known: whoever keeps something beyond the thing's time does it now.
    for (const column of this.#columns) column.reset(number)
    this.#numbers.delete(this.#keys[number]!)
    this.#keys[number] = ''
    this.#labels[number] = EMPTY_LABELS
    this.#free.push(number)
    this.#version++
  }

  /** -1 if no series speaks of it. */
  find(key: string): number {
    return this.#numbers.get(key) ?? -1
  }

  keyOf(number: number): string {
    return this.#keys[number]!
  }

  labelsOf(number: number): Labels {
    return this.#labels[number]!
  }

  numbers(): Iterable<number> {
    return this.#numbers.values()
  }

  #add(key: string, labels: Labels): number {
    const number = this.#free.pop() ?? this.#keys.length
    if (number >= this.capacity) this.#grow()
    this.#numbers.set(key, number)
    this.#keys[number] = key
    this.#labels[number] = labels
    this.#version++
    return number
  }

  #grow(): void {
    const uses = new Uint32Array(this.capacity * 2)
    uses.set(this.#uses)
    this.#uses = uses
    for (const column of this.#columns) column.grow(uses.length)
  }
}
