/**
 * A number for each stream that a request may change, with the one that counts if the request fails or nobody takes its batches.
 */
export class NumbersByStream {
  /** As the request has it. */
  now: Float64Array
  #kept: Float64Array
  readonly #initial: number

  /** Takes no memory before `use`: few sources push deltas. */
  constructor(initial: number) {
    this.#initial = initial
    this.now = this.#kept = new Float64Array(0)
  }

  /** Makes room for so many streams, which have the initial number unless they had another. */
  use(streams: number): void {
    if (streams <= this.now.length) return
    const length = Math.max(16, streams, this.now.length * 2)
    this.now = longer(this.now, length, this.#initial)
    this.#kept = longer(this.#kept, length, this.#initial)
  }

  /** Another stream has this number now. */
  begin(stream: number): void {
    if (stream < this.now.length) this.now[stream] = this.#kept[stream] = this.#initial
  }

  keep(stream: number): void {
    this.#kept[stream] = this.now[stream]!
  }

  undo(stream: number): void {
    this.now[stream] = this.#kept[stream]!
  }

  /** Moves a number to a stream with a lower number. */
  move(from: number, to: number): void {
    if (from >= this.now.length) return
    this.now[to] = this.now[from]!
    this.#kept[to] = this.#kept[from]!
  }
}

function longer(numbers: Float64Array, length: number, initial: number): Float64Array {
  const grown = new Float64Array(length).fill(initial)
  grown.set(numbers)
  return grown
}
