/**
 * What a batch was written as, for the next one of the same plan: but for times and values it is the same bytes, and copying them is
 * several times cheaper than putting them together again.
 */
import { groupCount, type Groups } from './otlp-groups.ts'

/** Whole groups in a row that belong to one request. */
export type Piece = {
  readonly groupFrom: number
  readonly groupTo: number
  /** Where it is in `bytes`; nothing where it must be put together each time. */
  readonly from: number
  readonly to: number
}

export type Template = {
  readonly bytes: Uint8Array
  readonly pieces: readonly Piece[]
  /** By point, in the order of the plan's columns: where its value is in `bytes`. */
  readonly values: Uint32Array
}

/** A piece has this many bytes and points, or those of a group more. */
export const PIECE_BYTES = 32 * 1024
export const PIECE_POINTS = 256

export class TemplateDraft {
  /** By point: how far the beginning of its value is from the end of the request. */
  readonly distances: Uint32Array
  readonly #starts: Uint32Array
  readonly #maxBytes: number
  readonly #pieces: Piece[] = []
  #bytes = new Uint8Array(4 * PIECE_BYTES)
  #length = 0

  /** Of a plan whose columns of group g are [starts[g], starts[g + 1]). Pieces that are too much are not kept. */
  constructor(groups: Groups, starts: Uint32Array, maxBytes: number) {
    this.#starts = starts
    this.#maxBytes = maxBytes
    this.distances = new Uint32Array(starts[groupCount(groups)]!)
  }

  /** `written` are the bytes of these groups, whose end is so far from the end of the request; undefined if they cannot be kept. */
  add(groupFrom: number, groupTo: number, written: Uint8Array | undefined, distance: number): void {
    const from = this.#length
    if (written !== undefined && from + written.length <= this.#maxBytes) {
      this.#append(written)
      const end = this.#length + distance
      for (let i = this.#starts[groupFrom]!; i < this.#starts[groupTo]!; i++)
        this.distances[i] = end - this.distances[i]!
    }
    this.#pieces.push({ groupFrom, groupTo, from, to: this.#length })
  }

  finish(): Template {
    return { bytes: this.#bytes.slice(0, this.#length), pieces: this.#pieces, values: this.distances }
  }

  #append(written: Uint8Array): void {
    const length = this.#length + written.length
    if (length > this.#bytes.length) {
      const grown = new Uint8Array(2 * length)
      grown.set(this.#bytes.subarray(0, this.#length))
      this.#bytes = grown
    }
    this.#bytes.set(written, this.#length)
    this.#length = length
  }
}
