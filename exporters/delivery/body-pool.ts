/**
 * Memory for the bodies of requests, used again and again: what is sent every few seconds would else be most of the garbage that a
 * collector makes.
 */
const MAX_FREE_BYTES = 4 * 2 ** 20
/** A body that is far larger than those that come now does not keep its memory. */
const MAX_ROOM = 4
/** What is not filled by so much of it is not kept for a body: a queue is limited by the bytes that are in it. */
const FILLED = 0.75

export class BodyPool {
  readonly #free: ArrayBuffer[] = []
  readonly #made = new WeakSet<ArrayBufferLike>()
  #freeBytes = 0

  /** Not `slice`, which is a view where the bytes are a Buffer. */
  copyOf(bytes: Uint8Array): Uint8Array {
    const copy = this.#take(bytes.length)
    copy.set(bytes)
    return copy
  }

  /** Keeps the memory of a body as it is, and gives other memory for one as long. Undefined where a copy takes far less. */
  exchange({ buffer, length }: Uint8Array<ArrayBuffer>): ArrayBuffer | undefined {
    if (length < FILLED * buffer.byteLength) return undefined
    this.#made.add(buffer)
    return this.#take(length, 1 / FILLED).buffer
  }

  /** Nobody looks at these bytes any more. Those that are no copy from here share their memory with others. */
  give({ buffer }: Uint8Array): void {
    if (!this.#made.has(buffer)) return
    this.#free.push(buffer as ArrayBuffer)
    this.#freeBytes += buffer.byteLength
    // Those that did not fit for the longest time go.
    while (this.#freeBytes > MAX_FREE_BYTES) this.#drop(this.#free.shift()!)
  }

  /** Its memory is free at once, and not only when garbage is looked for. */
  #drop(buffer: ArrayBuffer): void {
    this.#freeBytes -= buffer.byteLength
    buffer.transfer(0)
  }

  #take(length: number, maxRoom = MAX_ROOM): Uint8Array<ArrayBuffer> {
    const at = this.#free.findLastIndex(({ byteLength }) => byteLength >= length && byteLength <= maxRoom * length)
    if (at >= 0) {
      const [buffer] = this.#free.splice(at, 1) as [ArrayBuffer]
      this.#freeBytes -= buffer.byteLength
      return new Uint8Array(buffer, 0, length)
    }
    // With some room to spare, since the next one may be a little longer.
    const made = new ArrayBuffer(length + Math.max(4096, length >> 3))
    this.#made.add(made)
    return new Uint8Array(made, 0, length)
  }
}
