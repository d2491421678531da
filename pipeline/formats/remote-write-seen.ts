/**
 * Which series a request has, and when: what two sources say of the same series at one time must not go into one request, because there
 * are receivers that refuse all of it then (Prometheus before version 3).
 */
import type { Labels } from '../model/labels.ts'

export class SeenSeries {
  /** Open addressing; a place has the number of a series, from 1 on. */
  #slots: Uint32Array
  readonly #labels: Labels[] = []
  readonly #names: string[] = []
  readonly #times: number[] = []

  constructor(expected: number) {
    this.#slots = new Uint32Array(2 ** Math.ceil(Math.log2(2 * expected + 2)))
  }

  clear(): void {
    this.#slots.fill(0)
    this.#labels.length = this.#names.length = this.#times.length = 0
  }

  /** False if the request has a sample of the series at this time or a later one. Label sets are interned: equal ones are the same. */
  isLater(hash: number, name: string, labels: Labels, timeMs: number): boolean {
    const mask = this.#slots.length - 1
    let slot = (hash ^ (hash >>> 16)) & mask
    for (;;) {
      const number = this.#slots[slot]!
      if (number === 0) break
      if (this.#labels[number - 1] === labels && this.#names[number - 1] === name) {
        if (timeMs <= this.#times[number - 1]!) return false
        this.#times[number - 1] = timeMs
        return true
      }
      slot = (slot + 1) & mask
    }
    this.#labels.push(labels)
    this.#names.push(name)
    this.#slots[slot] = this.#times.push(timeMs)
    return true
  }
}
