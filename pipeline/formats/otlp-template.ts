/**
 * What a batch was written as, for the next one of the same plan: but for times and values it is the same bytes, and copying them is
 * several times cheaper than putting them together again.
 */
import { groupCount, type Groups } from './otlp-groups.ts'

/** Whole groups in a row that belong to one request. */
export type Piece = {
  readonly groupFrom: number
  readonly groupTo: number
  /** Undefined where it must be put together each time. */
  readonly bytes: Uint8Array | undefined
}

export type Template = {
  readonly pieces: readonly Piece[]
  /** By point, in the order of the plan's columns: where its value is in the bytes of the piece. */
  readonly values: Uint32Array
  readonly byteLength: number
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
  #length = 0

  /** Of a plan whose columns of group g are [starts[g], starts[g + 1]). Pieces that are too much are not kept. */
  constructor(groups: Groups, starts: Uint32Array, maxBytes: number) {
    this.#starts = starts
    this.#maxBytes = maxBytes
    this.distances = new Uint32Array(starts[groupCount(groups)]!)
  }

  /** `written` are the bytes of these groups, whose end is so far from the end of the request; undefined if they cannot be kept. */
  add(groupFrom: number, groupTo: number, written: Uint8Array | undefined, distance: number): void {
    const isKept = written !== undefined && this.#length + written.length <= this.#maxBytes
    if (isKept) {
      this.#length += written.length
      const end = written.length + distance
      for (let i = this.#starts[groupFrom]!; i < this.#starts[groupTo]!; i++) {
        this.distances[i] = end - this.distances[i]!
      }
    }
    this.#pieces.push({ groupFrom, groupTo, bytes: isKept ? written.slice() : undefined })
  }

  finish(): Template {
    return { pieces: this.#pieces, values: this.distances, byteLength: this.#length }
  }
}
