/** Bytes that grow at the end, and are put together without holding anybody up. */
import { pause, type Work } from './render-work.ts'

/** Copying so much takes a fraction of a millisecond. */
const CHUNK_BYTES = 1024 * 1024

const NOTHING = Buffer.alloc(0)

export class GrowingBytes {
  /** In all chunks. */
  length = 0
  readonly #full: Buffer[] = []
  #chunk: Buffer
  #at = 0

  constructor(expectedBytes: number) {
    this.#chunk = Buffer.allocUnsafeSlow(Math.min(CHUNK_BYTES, Math.max(64, expectedBytes)))
  }

  write(text: string): void {
    // No UTF-16 unit becomes more than three bytes.
    this.#reserve(text.length * 3)
    const written = this.#chunk.write(text, this.#at)
    this.#at += written
    this.length += written
  }

  copy(from: DataView, start: number, end: number): void {
    this.#reserve(end - start)
    this.#chunk.set(new Uint8Array(from.buffer, from.byteOffset + start, end - start), this.#at)
    this.#at += end - start
    this.length += end - start
  }

  /** As long as it needs to be, and zeros after the end. Once. */
  *finish(slack: number): Work<DataView> {
    const bytes = new Uint8Array(this.length + slack)
    let at = 0
    for (const chunk of [...this.#full.splice(0), this.#chunk.subarray(0, this.#at)]) {
      bytes.set(chunk, at)
      at += chunk.length
      // Its memory is free now, and not only when garbage is looked for.
      ;(chunk.buffer as ArrayBuffer).transfer(0)
      if (at < this.length) yield pause
    }
    this.#chunk = NOTHING
    this.#at = 0
    return new DataView(bytes.buffer)
  }

  #reserve(more: number): void {
    if (this.#at + more <= this.#chunk.length) return
    this.#full.push(this.#chunk.subarray(0, this.#at))
    this.#chunk = Buffer.allocUnsafeSlow(Math.max(CHUNK_BYTES, more))
    this.#at = 0
  }
}
