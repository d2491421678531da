/**
 * Memory for the bodies of requests, used again and again: what is sent every few seconds would else be most of the garbage that a
 * collector makes.
 */
const MAX_FREE = 16
/** A body that is far larger than those that come now does not keep its memory. */
const MAX_ROOM = 4

export class BodyPool {
  readonly #free: ArrayBuffer[] = []
  readonly #made = new WeakSet<ArrayBufferLike>()

  /** Not `slice`, which is a view where the bytes are a Buffer. */
  copyOf(bytes: Uint8Array): Uint8Array {
    const copy = this.#take(bytes.length)
    copy.set(bytes)
    return copy
  }

  /** Nobody looks at these bytes any more. Those that are no copy from here share their memory with others. */
  give({ buffer }: Uint8Array): void {
    if (this.#made.has(buffer) && this.#free.length < MAX_FREE) this.#free.push(buffer as ArrayBuffer)
  }

  #take(length: number): Uint8Array {
    for (let buffer = this.#free.pop(); buffer !== undefined; buffer = this.#free.pop()) {
      if (buffer.byteLength >= length && buffer.byteLength <= MAX_ROOM * length)
        return new Uint8Array(buffer, 0, length)
    }
    // With some room to spare, since the next one may be a little longer.
    const made = new ArrayBuffer(Math.ceil(length / 4096 + 1) * 4096)
    this.#made.add(made)
    return new Uint8Array(made, 0, length)
  }
}
