/**
 * A request of remote write 2.0 as one of 1.0, for a receiver that turns out not to understand 2.0. Only what `remote-write-2.ts` writes
 * is read; metadata and start times have no place in 1.0 and are left out.
 */
import { writeVarint, varintSize } from './snappy-writer.ts'

const SYMBOL = 4
const SERIES = 5

/** Both are not compressed. */
export function downgradeRequest(message: Uint8Array): Uint8Array {
  const symbols: Uint8Array[] = []
  const series: Uint8Array[] = []
  for (const { field, content } of fieldsOf(message)) {
    if (field === SYMBOL) symbols.push(content)
    if (field === SERIES) series.push(message1(0x0a, seriesOf(content, symbols)))
  }
  return Buffer.concat(series)
}

function seriesOf(content: Uint8Array, symbols: readonly Uint8Array[]): Uint8Array {
  const parts: Uint8Array[] = []
  for (const { field, content: part } of fieldsOf(content)) {
    if (field === 1) parts.push(...labelsOf(part, symbols))
    if (field === 2) parts.push(message1(0x12, sampleOf(part)))
  }
  return Buffer.concat(parts)
}

function labelsOf(refs: Uint8Array, symbols: readonly Uint8Array[]): Uint8Array[] {
  const labels: Uint8Array[] = []
  for (let at = 0; at < refs.length;) {
    const name = readVarint(refs, at)
    const value = readVarint(refs, name.end)
    at = value.end
    const pair = [message1(0x0a, symbols[name.value]!), message1(0x12, symbols[value.value]!)]
    labels.push(message1(0x0a, Buffer.concat(pair)))
  }
  return labels
}

/** Value and time come first. */
function sampleOf(sample: Uint8Array): Uint8Array {
  return sample.subarray(0, readVarint(sample, 10).end)
}

function message1(tag: number, content: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(1 + varintSize(content.length) + content.length)
  bytes[0] = tag
  bytes.set(content, writeVarint(bytes, 1, content.length))
  return bytes
}

/** The fields of a message that have a length; the others are passed over. */
function* fieldsOf(message: Uint8Array): Iterable<{ field: number; content: Uint8Array }> {
  for (let at = 0; at < message.length;) {
    const tag = message[at]!
    const { value, end } = readVarint(message, at + 1)
    if ((tag & 7) !== 2) {
      at = end
      continue
    }
    yield { field: tag >> 3, content: message.subarray(end, end + value) }
    at = end + value
  }
}

function readVarint(bytes: Uint8Array, start: number): { value: number; end: number } {
  let value = 0
  let factor = 1
  let at = start
  for (; bytes[at]! >= 0x80; at++, factor *= 128) value += (bytes[at]! & 0x7f) * factor
  return { value: value + bytes[at]! * factor, end: at + 1 }
}
