/** Columns of values by place that are kept from flush to flush. */
import { resized, roomFor } from './room.ts'
import type { Changed } from './slots.ts'

/** What is known of contributors and changes only with them. */
export class KnownColumns {
  readonly #columns = new Map<string, { values: Float64Array<ArrayBuffer>; at: (place: number) => number }>()
  #length = 0

  /** The column by that name, filled when it is first asked for. */
  get(name: string, at: (place: number) => number): Float64Array {
    let column = this.#columns.get(name)
    if (column === undefined) {
      const values = new Float64Array(this.#length)
      for (let place = 0; place < values.length; place++) values[place] = at(place)
      this.#columns.set(name, (column = { values, at }))
    }
    return column.values
  }

  update(changed: Changed, length: number): void {
    this.#length = length
    for (const column of this.#columns.values()) {
      column.values = roomFor(column.values, length)
      const { values, at } = column
      if (changed === 'all') for (let place = 0; place < length; place++) values[place] = at(place)
      else for (const place of changed) if (place < length) values[place] = at(place)
    }
  }
}

/** For how many contributors something is so, of which mostly nobody asks who they are. */
export class Marks {
  count = 0
  /** By place. */
  #marks = new Uint8Array(0)
  readonly #isAt: (place: number) => boolean

  constructor(isAt: (place: number) => boolean) {
    this.#isAt = isAt
  }

  update(changed: Iterable<number>, length: number): void {
    this.#marks = roomFor(this.#marks, length)
    for (const place of changed) {
      const mark = Number(this.#isAt(place))
      this.count += mark - this.#marks[place]!
      this.#marks[place] = mark
    }
  }
}

/** What is worked out once for all who ask at one flush, in memory that is used again at the next if somebody asks again. */
export class FlushColumns {
  readonly #columns = new Map<string, { values: Float64Array<ArrayBuffer>; turn: number }>()

  /** Forgets what nobody has asked for since a turn: much is asked for only when series come or go. */
  sweep(turn: number): void {
    for (const [name, { turn: its, values }] of this.#columns) {
      if (its >= turn) continue
      this.#columns.delete(name)
      resized(values, 0)
    }
  }

  get(name: string, turn: number, length: number, fill: (values: Float64Array) => void): Float64Array {
    let column = this.#columns.get(name)
    if (column === undefined) this.#columns.set(name, (column = { values: new Float64Array(0), turn: -1 }))
    if (column.turn === turn) return column.values
    column.values = roomFor(column.values, length)
    column.turn = turn
    fill(column.values)
    return column.values
  }
}
