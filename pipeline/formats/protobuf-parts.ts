/** Pieces of a message that belong together and may lie apart. They are copied once, at the end, and only if they do. */
import { ProtobufReader } from './protobuf-reader.ts'

/** Where bytes lie. */
export type Span = { bytes: Uint8Array; view: DataView; start: number; end: number }

export class Parts {
  #bytes: Uint8Array[] = []
  #only: Span | undefined

  /** Takes what a reader has just read: its bytes, or, to take several fields as they are, the whole field. */
  add({ bytes, view, tagAt, from, to }: ProtobufReader, whole = false): void {
    const start = whole ? tagAt : from
    if (this.#only === undefined && this.#bytes.length === 0) {
      this.#only = { bytes, view, start, end: to }
      return
    }
    if (this.#only !== undefined) {
      // What has nothing in between stays where it is.
      if (whole && this.#only.bytes === bytes && this.#only.end === start) {
        this.#only.end = to
        return
      }
      this.#bytes.push(this.#only.bytes.subarray(this.#only.start, this.#only.end))
      this.#only = undefined
    }
    this.#bytes.push(bytes.subarray(start, to))
  }

  clear(): void {
    this.#bytes = []
    this.#only = undefined
  }

  /** Undefined if there was none. */
  join(): Span | undefined {
    if (this.#bytes.length === 0) return this.#only
    const bytes = Buffer.concat(this.#bytes)
    return { bytes, view: new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), start: 0, end: bytes.length }
  }
}

/** The fields of a message that have this tag, one after the other. */
export function fieldsOf({ bytes, view, start, end }: Span, tag: number): Span {
  const reader = new ProtobufReader().open(bytes, view, start, end)
  const fields = new Parts()
  while (reader.next()) if (reader.tag === tag) fields.add(reader, true)
  return fields.join() ?? { bytes, view, start, end: start }
}

export function spanOf({ bytes, view, from, to }: ProtobufReader): Span {
  return { bytes, view, start: from, end: to }
}
