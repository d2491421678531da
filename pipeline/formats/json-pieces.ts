/**
 * Reads JSON of any size in pieces, so that a large one does not hold up the process: `JSON.parse` cannot be interrupted.
 *
 * One pass over the bytes finds where large lists and objects can be cut, between two of their items; then every piece is read by
 * `JSON.parse`, which also judges it. What is nested deeper than `TRACKED_DEPTH` is never cut.
 */
import { isUtf8 } from 'node:buffer'
import { MalformedError } from './malformed.ts'
import { pause, type Work } from './render-work.ts'

/** Read at once: in a millisecond or less. */
const PIECE_BYTES = 64 * 1024
const SCANNED_BETWEEN_PAUSES = 512 * 1024
const READ_BETWEEN_PAUSES = 4 * PIECE_BYTES
/** Lists of points in OTLP are that deep. */
const TRACKED_DEPTH = 9

const QUOTE = 0x22
const COMMA = 0x2c
const BACKSLASH = 0x5c
const OPEN_LIST = 0x5b
const CLOSE_LIST = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d
const SPACE = 0x20
const BYTE_ORDER_MARK = Buffer.of(0xef, 0xbb, 0xbf)

/** Items that are next to each other, or one that has a large container in it. */
type Part = { readonly start: number; readonly end: number; readonly large?: Container }

/** A list or an object of which the end may not be found yet. */
type Container = {
  readonly isObject: boolean
  readonly start: number
  end: number
  readonly parts: Part[]
  /** Where the part begins that is not in `parts` yet, and the last item in it. */
  partStart: number
  itemStart: number
  largeInItem: Container | undefined
}

/** Throws `MalformedError`. Integers that no number can hold are given as texts. */
export function* readJson(bytes: Uint8Array): Work<unknown> {
  const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (!isUtf8(body)) throw new MalformedError('it is not UTF-8')
  const start = body.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK.length : 0
  if (body.length <= 2 * PIECE_BYTES) return parse(body.toString('utf8', start))
  const root = yield* findParts(body, start)
  if (root === undefined) return parse(body.toString('utf8', start))
  return yield* build(body, root, { sinceBytes: 0 })
}

/** Undefined where there is nothing to cut. */
function* findParts(body: Buffer, from: number): Work<Container | undefined> {
  const open: Container[] = []
  let root: Container | undefined
  let container: Container | undefined
  /** Whether nothing of the item has come yet. */
  let isEmpty = true
  let untracked = 0
  let nextPause = from + SCANNED_BETWEEN_PAUSES
  for (let at = from; at < body.length; at++) {
    const byte = body[at]!
    switch (byte) {
      case OPEN_LIST:
      case OPEN_OBJECT:
        if (root !== undefined) throw malformed('there is something after its end')
        isEmpty = open.length < TRACKED_DEPTH
        if (isEmpty) open.push((container = openContainer(byte === OPEN_OBJECT, at)))
        else untracked++
        break
      case CLOSE_LIST:
      case CLOSE_OBJECT:
        if (untracked > 0) {
          untracked--
          break
        }
        if (container === undefined || container.isObject !== (byte === CLOSE_OBJECT)) {
          throw malformed(`"${String.fromCharCode(byte)}" at ${at} closes nothing`)
        }
        closeContainer(container, at, isEmpty)
        open.pop()
        if (open.length === 0) root = container
        else tellParent(open.at(-1)!, container)
        container = open.at(-1)
        isEmpty = false
        break
      case COMMA:
        if (container === undefined || untracked > 0) break
        endItem(container, at, isEmpty)
        isEmpty = true
        break
      case QUOTE:
        at = endOfText(body, at)
        isEmpty = false
        break
      default:
        if (byte > SPACE) isEmpty = false
    }
    if (at >= nextPause) {
      nextPause = at + SCANNED_BETWEEN_PAUSES
      yield pause
    }
  }
  if (open.length > 0) throw malformed('it ends too early')
  if (root === undefined) return undefined
  if (!isBlank(body, from, root.start) || !isBlank(body, root.end, body.length)) {
    throw malformed('there is something before its beginning or after its end')
  }
  return root
}

function openContainer(isObject: boolean, start: number): Container {
  return { isObject, start, end: NaN, parts: [], partStart: start + 1, itemStart: start + 1, largeInItem: undefined }
}

function endItem(container: Container, at: number, isEmpty: boolean): void {
  if (isEmpty) throw malformed(`there is nothing before the comma at ${at}`)
  cut(container, at, false)
  container.itemStart = at + 1
}

function closeContainer(container: Container, at: number, isEmpty: boolean): void {
  // Only the one item of something that has none may be empty.
  if (isEmpty && container.itemStart > container.start + 1) throw malformed(`there is nothing after a comma at ${at}`)
  container.end = at + 1
  cut(container, at, true)
}

/** Ends the part before `at` if it is large enough, or there is no more, or it has a container that is read by itself. */
function cut(container: Container, at: number, isLast: boolean): void {
  const { parts, partStart, itemStart, largeInItem } = container
  if (largeInItem !== undefined) {
    if (partStart < itemStart) parts.push({ start: partStart, end: itemStart - 1 })
    parts.push({ start: itemStart, end: at, large: largeInItem })
    container.largeInItem = undefined
  } else if (isLast || at - partStart >= PIECE_BYTES) {
    parts.push({ start: partStart, end: at })
  } else {
    return
  }
  container.partStart = at + 1
}

function tellParent(parent: Container, child: Container): void {
  if (child.end - child.start < PIECE_BYTES) return
  if (parent.largeInItem !== undefined) throw malformed(`a comma is missing before ${child.start}`)
  parent.largeInItem = child
}

/** Where the text that begins at `at` ends. */
function endOfText(body: Buffer, at: number): number {
  for (let i = at + 1; i < body.length; i++) {
    const byte = body[i]!
    if (byte === QUOTE) return i
    if (byte === BACKSLASH) i++
  }
  throw malformed('it ends too early')
}

function* build(body: Buffer, { isObject, parts }: Container, progress: { sinceBytes: number }): Work<unknown> {
  const list: unknown[] = []
  // One without a prototype: `__proto__` is a name like others.
  const object = Object.create(null) as Record<string, unknown>
  for (const { start, end, large } of parts) {
    if (large === undefined) {
      const text = body.toString('utf8', start, end)
      if (isObject) Object.assign(object, parse(`{${text}}`))
      else for (const item of parse(`[${text}]`) as unknown[]) list.push(item)
      progress.sinceBytes += end - start
      if (progress.sinceBytes >= READ_BETWEEN_PAUSES) {
        progress.sinceBytes = 0
        yield pause
      }
      continue
    }
    if (!isBlank(body, large.end, end)) throw malformed(`a comma is missing after ${large.end}`)
    const value = yield* build(body, large, progress)
    if (isObject) object[keyBefore(body, start, large.start)] = value
    else if (isBlank(body, start, large.start)) list.push(value)
    else throw malformed(`a comma is missing before ${large.start}`)
  }
  return isObject ? object : list
}

function keyBefore(body: Buffer, start: number, end: number): string {
  const [key] = Object.keys(parse(`{${body.toString('utf8', start, end)}null}`) as object)
  if (key === undefined) throw malformed(`a name is missing before ${end}`)
  return key
}

function isBlank(body: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; at++) {
    const byte = body[at]!
    if (byte !== SPACE && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return false
  }
  return true
}

/** An integer with so many digits that a number may not hold it, and not in a text. */
const WIDE_INTEGER = /[:,[]\s*-?\d{16}/

function parse(text: string): unknown {
  try {
    return WIDE_INTEGER.test(text) ? JSON.parse(text, keepInteger) : JSON.parse(text)
  } catch (cause) {
    throw malformed((cause as Error).message, cause)
  }
}

/** Integers that no number can hold stay as they were written. */
function keepInteger(_key: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value
  return context?.source !== undefined && /^-?\d+$/.test(context.source) ? context.source : value
}

function malformed(message: string, cause?: unknown): MalformedError {
  return new MalformedError(`it is not JSON: ${message}`, { cause })
}
