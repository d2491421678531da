/**
 * Heads of responses as they came before. A server sends the same one with every answer, and so do others of its kind, but for the
 * `Date`: comparing is much cheaper than reading. Where the length of the body is in it, it is another one each time, and is read.
 */
import type { Framing, HeaderReader } from './response-head.ts'

/** As they are; the framing is what follows from them and from the method of the request. */
export type KnownHead = {
  readonly method: string | undefined
  readonly head: HeaderReader
  readonly framing: Framing
  readonly bytes: Buffer
  /** Where the value of the date is; both 0 if there is none. */
  readonly dateFrom: number
  readonly dateTo: number
}

/** There are as many as there are kinds of servers. */
const MAX_KNOWN = 100
const MAX_BYTES = 1024
const DATE_LINE = /\ndate:[^\r\n]*/i
const SPACE = 0x20

const known = new Map<string, KnownHead>()

/** Remembers the first `length` bytes. Undefined where that is not worth it. */
export function rememberHead(
  buffer: Buffer,
  length: number,
  method: string | undefined,
  head: HeaderReader,
  framing: Framing,
): KnownHead | undefined {
  if (framing.kind === 'sized' || length > MAX_BYTES) return undefined
  const text = buffer.toString('latin1', 0, length)
  const date = DATE_LINE.exec(text)
  const dateFrom = date === null ? 0 : date.index + '\ndate:'.length
  const dateTo = date === null ? 0 : date.index + date[0].length
  const key = `${method} ${framing.kind} ${dateTo - dateFrom} ${text.slice(0, dateFrom)}${text.slice(dateTo)}`
  let one = known.get(key)
  if (one === undefined) {
    if (known.size >= MAX_KNOWN) known.clear()
    one = { method, head, framing, bytes: Buffer.from(text, 'latin1'), dateFrom, dateTo }
    known.set(key, one)
  }
  return one
}

/** Whether the buffer begins with this head, at whatever date. Byte by byte: so few of them are compared before a native function is called. */
export function isHeadAt({ bytes, dateFrom, dateTo }: KnownHead, buffer: Buffer, length: number): boolean {
  const end = bytes.length
  if (end > length) return false
  for (let at = 0; at < dateFrom; at++) if (buffer[at] !== bytes[at]) return false
  // Nothing but a date is to be found there.
  for (let at = dateFrom; at < dateTo; at++) if (buffer[at]! < SPACE) return false
  for (let at = dateTo; at < end; at++) if (buffer[at] !== bytes[at]) return false
  return true
}
