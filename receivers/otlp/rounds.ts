/**
 * The numbers of one request for one source. A batch has one sample per series, so where a request has several of a series, as those
 * of a client that caught up have, there is a round for each, and the rounds are handed on one after the other.
 */
import type { Columns } from '../../pipeline/model/batch.ts'

export type Round = {
  readonly values: Float64Array
  readonly times: Float64Array
  readonly starts: Float64Array | undefined
  readonly absent: Columns | undefined
}

/** More than this of one series in a request is more than anybody collects. */
const MAX_ROUNDS = 64

/** Each round costs as many numbers as the source has series, so that there are only so many beyond the first, over all sources. */
export type Spare = { numbers: number }

export function createSpare(): Spare {
  return { numbers: 4_000_000 }
}

export class Rounds {
  #rounds: Open[] = []

  get isEmpty(): boolean {
    return this.#rounds.length === 0
  }

  clear(): void {
    this.#rounds = []
  }

  /** The first round in which a column has no sample, or -1 if there may be no more. `columns` is how many the source has. */
  roundFor(column: number, columns: number, spare: Spare): number {
    for (let i = 0; i < this.#rounds.length; i++) {
      const { present } = this.#rounds[i]!
      if (column >= present.length || present[column] === 0) return i
    }
    if (this.#rounds.length > 0) {
      if (this.#rounds.length === MAX_ROUNDS || spare.numbers < columns) return -1
      spare.numbers -= columns
    }
    return this.#rounds.push(new Open(columns)) - 1
  }

  /** `timeMs` and `startMs` are NaN where nobody says. */
  put(round: number, column: number, value: number, timeMs: number, startMs: number): void {
    this.#rounds[round]!.put(column, value, timeMs, startMs)
  }

  /** The rounds as they are handed on, and as many series as the source has now. */
  finish(columns: number): Round[] {
    return this.#rounds.map(round => round.finish(columns))
  }
}

class Open {
  present: Uint8Array
  #values: Float64Array
  #times: Float64Array
  #starts: Float64Array
  #count = 0
  #hasStarts = false

  constructor(columns: number) {
    this.present = new Uint8Array(columns)
    this.#values = new Float64Array(columns)
    this.#times = new Float64Array(columns)
    this.#starts = new Float64Array(columns)
  }

  put(column: number, value: number, timeMs: number, startMs: number): void {
    if (column >= this.present.length) this.#grow(Math.max(column + 1, this.present.length * 2))
    if (this.present[column] === 0) this.#count++
    this.present[column] = 1
    // Some NaNs mean something to somebody; a number that is none is the plain one.
    this.#values[column] = Number.isNaN(value) ? NaN : value
    this.#times[column] = timeMs
    this.#starts[column] = startMs
    if (!Number.isNaN(startMs)) this.#hasStarts = true
  }

  finish(columns: number): Round {
    if (this.present.length < columns) this.#grow(columns)
    return {
      values: this.#values.subarray(0, columns),
      times: this.#times.subarray(0, columns),
      starts: this.#hasStarts ? this.#starts.subarray(0, columns) : undefined,
      absent: this.#absent(columns),
    }
  }

  #absent(columns: number): Columns | undefined {
    if (this.#count === columns) return undefined
    const absent = new Uint32Array(columns - this.#count)
    let at = 0
    for (let column = 0; column < columns; column++) if (this.present[column] === 0) absent[at++] = column
    return absent
  }

  #grow(length: number): void {
    const present = new Uint8Array(length)
    present.set(this.present)
    this.present = present
    this.#values = longer(this.#values, length)
    this.#times = longer(this.#times, length)
    this.#starts = longer(this.#starts, length)
  }
}

function longer(numbers: Float64Array, length: number): Float64Array {
  const grown = new Float64Array(length)
  grown.set(numbers)
  return grown
}
