/**
 * What facts are readings of, by number: GPUs, containers, hosts. A number is given to a thing when the first series speaks of it
 * and is free again when the last one is gone, so that arrays by number stay small however many come and go.
 */
import { hashString } from '../../pipeline/model/intern.ts'
import { EMPTY_LABELS, type Labels } from '../../pipeline/model/labels.ts'
import { NumberIndex } from '../../pipeline/model/number-index.ts'
import { resized, roomFor } from './room.ts'

/** Something with an entry for each thing. */
type Column = {
  grow(capacity: number): void
  begin?(number: number, key: string): void
  reset(number: number, key: string): void
}

const FIRST_CAPACITY = 64
/** Columns are many, and what is left free of them is left free of each. */
const GROWTH = 1.125

export class Things {
  readonly #columns: Column[] = []
  readonly #free: number[] = []
  /** By number. */
  readonly #keys: string[] = []
  readonly #numbers = new NumberIndex<string>(hashString, number => this.#keys[number]!)
  /** Of those with which their labels say more than their keys. */
  readonly #labels: Labels[] | undefined
  #uses = new Uint32Array(FIRST_CAPACITY)
  #shown = new Float64Array(FIRST_CAPACITY)
  #isMoved = new Uint8Array(FIRST_CAPACITY)
  /** By number of a source that reads them: when it was read last. */
  readMs = new Float64Array(FIRST_CAPACITY)
  #version = 0

  constructor({ keepsLabels = true } = {}) {
    if (keepsLabels) this.#labels = []
  }

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

  /** Called before a thing is forgotten, while everything about it is still known. */
  onRelease: (number: number) => void = () => {}

  /** The number of a thing that one more series speaks of, since a certain time. */
  take(key: string, labels: Labels, timeMs: number): number {
    const known = this.#numbers.find(key)
    const number = known < 0 ? this.#add(key, labels) : known
    this.#uses[number]!++
    this.#shown[number] = timeMs
    this.#isMoved[number] = 1
    return number
  }

  /** Whether it is shown with other labels than before the last call of `settle`: it may be somebody else's. */
  isMoved(number: number): boolean {
    return this.#isMoved[number] === 1
  }

  /** From now on it is known whose things are. */
  settle(): void {
    this.#isMoved.fill(0)
  }

  /** Since when it is shown with the labels that it has. */
  shownMs(number: number): number {
    return this.#shown[number]!
  }

  /** The clock has been set back: nothing is shown since later than now. */
  notAfter(nowMs: number): void {
    for (let i = 0; i < this.#shown.length; i++) this.#shown[i] = Math.min(this.#shown[i]!, nowMs)
  }

  /** A source has been read. */
  noteRead(source: number, timeMs: number): void {
    if (source >= this.readMs.length) this.readMs = roomFor(this.readMs, source + 1)
    this.readMs[source] = timeMs
  }

  notReadAfter(nowMs: number): void {
    for (let i = 0; i < this.readMs.length; i++) this.readMs[i] = Math.min(this.readMs[i]!, nowMs)
  }

  /** One more series of a thing whose number is known. */
  retain(number: number): void {
    this.#uses[number]!++
  }

  release(number: number): void {
    if (--this.#uses[number]! > 0) return
    this.onRelease(number)
    for (const column of this.#columns) column.reset(number, this.#keys[number]!)
    this.#numbers.delete(this.#keys[number]!)
    this.#keys[number] = ''
    if (this.#labels !== undefined) this.#labels[number] = EMPTY_LABELS
    this.#free.push(number)
    this.#version++
  }

  /** -1 if no series speaks of it. */
  find(key: string): number {
    return this.#numbers.find(key)
  }

  keyOf(number: number): string {
    return this.#keys[number]!
  }

  labelsOf(number: number): Labels {
    return this.#labels![number]!
  }

  *numbers(): Generator<number> {
    for (let number = 0; number < this.#keys.length; number++) if (this.#uses[number]! > 0) yield number
  }

  #add(key: string, labels: Labels): number {
    const number = this.#free.pop() ?? this.#keys.length
    if (number >= this.capacity) this.#grow()
    this.#keys[number] = key
    this.#numbers.add(number)
    if (this.#labels !== undefined) this.#labels[number] = labels
    this.#version++
    for (const column of this.#columns) column.begin?.(number, key)
    return number
  }

  #grow(): void {
    const capacity = Math.ceil(this.capacity * GROWTH)
    this.#uses = resized(this.#uses, capacity)
    this.#shown = resized(this.#shown, capacity)
    this.#isMoved = resized(this.#isMoved, capacity)
    for (const column of this.#columns) column.grow(this.capacity)
  }
}
