/** Lines of a body that arrives in pieces. A piece is looked at once, and a line is never longer in memory than the limit. */

export type LineSplitter = {
  /** The bytes are not kept beyond the call, unless their line goes on. */
  push(bytes: Uint8Array): void
}

/** Calls `line` with each line that has an end, without it, and `overlong` instead for those beyond the limit. Empty lines are none. */
export function createLineSplitter(
  limitBytes: number,
  line: (text: string) => void,
  overlong: () => void,
): LineSplitter {
  let begun: Buffer[] = []
  let length = 0

  function finish(last: Buffer): void {
    const whole = begun.length === 0 ? last : Buffer.concat([...begun, last])
    const isOverlong = length + last.length > limitBytes
    begun = []
    length = 0
    if (isOverlong) overlong()
    else if (whole.length > 0) line(whole.toString())
  }

  function keep(part: Buffer): void {
    length += part.length
    // Of a line that will not be handed on only the length matters.
    if (length > limitBytes) begun = []
    else if (part.length > 0) begun.push(Buffer.from(part))
  }

  return {
    push(bytes) {
      const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
      let start = 0
      for (let end = buffer.indexOf(0x0a); end >= 0; end = buffer.indexOf(0x0a, start)) {
        finish(buffer.subarray(start, end))
        start = end + 1
      }
      keep(buffer.subarray(start))
    },
  }
}
