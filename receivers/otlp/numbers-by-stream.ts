/**
 * A number for each stream that a request may change, with the one that counts if the request fails or nobody takes its batches.
 */
export class NumbersByStream {
  /** As the request has it. */
  now: Float64Array
  #kept: Float64Array
  readonly #initial: number

  constructor(initial: number, capacity = 16) {
    this.#initial = initial
    this.now = new Float64Array(capacity).fill(initial)
    this.#kept = this.now.slice()
  }

  /** Makes room for a stream, which has the initial number. */
  begin(stream: number): void {
    if (stream >= this.now.length) {
      this.now = longer(this.now, this.#initial)
      this.#kept = longer(this.#kept, this.#initial)
    }
    this.now[stream] = this.#kept[stream] = this.#initial
  }

  keep(stream: number): void {
    this.#kept[stream] = this.now[stream]!
  }

  undo(stream: number): void {
    this.now[stream] = this.#kept[stream]!
  }

  /** Moves a number to a stream with a lower number. */
  move(from: number, to: number): void {
    this.now[to] = this.now[from]!
    this.#kept[to] = this.#kept[from]!
  }
}

function longer(numbers: Float64Array, initial: number): Float64Array {
  const grown = new Float64Array(numbers.length * 2).fill(initial)
  grown.set(numbers)
  return grown
}
