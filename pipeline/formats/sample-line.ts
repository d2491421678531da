/**
 * One sample line of the Prometheus text format or of OpenMetrics, as positions in its bytes.
 *
 *   sample   = name [ws] [ "{" labels "}" ] ws value [ ws timestamp ] [ ws "#" exemplar ]
 *            | "{" labels with one quoted name among them "}" ...
 *   labels   = [ label { "," label } ] [","]
 *   label    = ( labelname | quoted ) "=" quoted
 *   quoted   = '"' { any byte but '"' and '\' | '\' any byte } '"'
 *
 * Blanks and tabs may stand between all of these. The names and the label block, up to the value, are the key of the line: two
 * lines with the same key bytes are the same series, so whoever has seen a key needs not look into it again.
 */
import { readFloat, readInteger } from './number-text.ts'

const TAB = 0x09
const SPACE = 0x20
const QUOTE = 0x22
const HASH = 0x23
const COMMA = 0x2c
const COLON = 0x3a
const EQUALS = 0x3d
const BACKSLASH = 0x5c
const OPEN = 0x7b
const CLOSE = 0x7d

/** How timestamps are written: whole milliseconds, or seconds. */
export type Dialect = 'text' | 'openmetrics'

/** Used again for every line: what is kept is copied. */
export type SampleLine = {
  /** The name, without quotes; empty if it stands in the label block. */
  nameStart: number
  nameEnd: number
  /** Where the key ends: after the label block, or the name, and one blank. */
  keyEnd: number
  /** Groups of six: name start, end and form, value start, end and form. A quoted metric name has no value: its end is -1. */
  labels: number[]
  value: number
  /** NaN if there is none. */
  timeMs: number
  exemplar: 'none' | 'good' | 'bad'
}

/** How a token is written: as it is, or with escapes or bytes beyond ASCII in it. */
export const PLAIN_TOKEN = 0
export const ESCAPED_TOKEN = 1
export const UNICODE_TOKEN = 2

export function createSampleLine(): SampleLine {
  return { nameStart: 0, nameEnd: 0, keyEnd: 0, labels: [], value: 0, timeMs: NaN, exemplar: 'none' }
}

/** Reads bytes[start, end), a line without its end. Returns what is wrong with it, or undefined. */
export function readSampleLine(
  bytes: Uint8Array,
  start: number,
  end: number,
  dialect: Dialect,
  line: SampleLine,
): string | undefined {
  line.labels.length = 0
  let p = skipBlanks(bytes, start, end)
  line.nameStart = p
  p = nameEnd(bytes, p, end, true)
  line.nameEnd = p
  if (p === end) return 'a value is missing'
  const afterName = p
  p = skipBlanks(bytes, p, end)
  if (bytes[p] === OPEN) {
    const closed = readLabels(bytes, p + 1, end, line.labels)
    if (typeof closed === 'string') return closed
    p = closed
    if (line.nameStart === line.nameEnd && !hasQuotedName(line.labels)) return 'a metric name is missing'
    if (line.nameStart < line.nameEnd && hasQuotedName(line.labels)) return 'the metric has two names'
  } else if (line.nameStart === afterName) return 'a metric name is expected'
  else if (p === afterName) return 'the metric name has a character that needs quotes'
  else p = afterName
  line.keyEnd = p < end && isBlank(bytes[p]!) ? p + 1 : p
  return readNumbers(bytes, p, end, dialect, line)
}

/** Reads what follows the key: value, timestamp, exemplar. Returns what is wrong with it, or undefined. */
export function readNumbers(
  bytes: Uint8Array,
  afterKey: number,
  end: number,
  dialect: Dialect,
  line: SampleLine,
): string | undefined {
  line.timeMs = NaN
  line.exemplar = 'none'
  let p = skipBlanks(bytes, afterKey, end)
  if (p === end) return 'a value is missing'
  let tokenEnd = wordEnd(bytes, p, end)
  const value = readFloat(bytes, p, tokenEnd)
  if (value === undefined) return 'the value is not a number'
  line.value = value

  p = skipBlanks(bytes, tokenEnd, end)
  if (p < end && bytes[p] !== HASH) {
    tokenEnd = wordEnd(bytes, p, end)
    const time = dialect === 'text' ? readInteger(bytes, p, tokenEnd) : readSeconds(bytes, p, tokenEnd)
    if (time === undefined) return 'the timestamp is not a number'
    line.timeMs = time
    p = skipBlanks(bytes, tokenEnd, end)
  }
  if (p === end) return undefined
  if (bytes[p] !== HASH) return 'there is something after the timestamp'
  line.exemplar = isExemplar(bytes, p + 1, end) ? 'good' : 'bad'
  return undefined
}

function readSeconds(bytes: Uint8Array, start: number, end: number): number | undefined {
  const seconds = readFloat(bytes, start, end)
  return seconds !== undefined && Number.isFinite(seconds) ? Math.round(seconds * 1000) : undefined
}

/** Reads from behind the opening brace; returns the position behind the closing one, or what is wrong. */
function readLabels(bytes: Uint8Array, start: number, end: number, labels: number[]): number | string {
  let p = skipBlanks(bytes, start, end)
  let quotedName = false
  let expectComma = false
  for (;;) {
    if (p >= end) return 'the label block has no end'
    if (bytes[p] === CLOSE) return p + 1
    if (bytes[p] === COMMA) {
      // A comma may follow every label and, as the reference reads it, stand alone in an empty block.
      if (!expectComma && labels.length > 0) return 'a label is missing between two commas'
      if (!expectComma) {
        p = skipBlanks(bytes, p + 1, end)
        return bytes[p] === CLOSE && p < end ? p + 1 : 'a label is missing before a comma'
      }
      expectComma = false
      p = skipBlanks(bytes, p + 1, end)
      continue
    }
    if (expectComma) return 'a comma or a closing brace is expected after a label'

    let form = PLAIN_TOKEN
    let from = p
    let to: number
    const quoted = bytes[p] === QUOTE
    if (quoted) {
      from = p + 1
      form = quotedForm(bytes, from, end)
      to = quotedEnd(bytes, from, end)
      if (to < 0) return 'a quote is not closed'
      p = to + 1
    } else {
      to = nameEnd(bytes, p, end, false)
      if (to === p) return 'a label name is expected'
      p = to
    }
    p = skipBlanks(bytes, p, end)
    expectComma = true
    if (bytes[p] !== EQUALS || p >= end) {
      if (!quoted || quotedName) return 'a label has no value'
      if (from === to) return 'the metric name is empty'
      quotedName = true
      labels.push(from, to, form, -1, -1, PLAIN_TOKEN)
      continue
    }
    if (from === to) return 'a label name is empty'
    p = skipBlanks(bytes, p + 1, end)
    if (bytes[p] !== QUOTE || p >= end) return 'a label value is not in quotes'
    const valueStart = p + 1
    const valueEnd = quotedEnd(bytes, valueStart, end)
    if (valueEnd < 0) return 'a quote is not closed'
    labels.push(from, to, form, valueStart, valueEnd, quotedForm(bytes, valueStart, valueEnd))
    p = skipBlanks(bytes, valueEnd + 1, end)
  }
}

function hasQuotedName(labels: readonly number[]): boolean {
  for (let i = 4; i < labels.length; i += 6) if (labels[i] === -1) return true
  return false
}

function quotedEnd(bytes: Uint8Array, start: number, end: number): number {
  for (let p = start; p < end; p++) {
    const byte = bytes[p]
    if (byte === QUOTE) return p
    if (byte === BACKSLASH) p++
  }
  return -1
}

function quotedForm(bytes: Uint8Array, start: number, end: number): number {
  let form = PLAIN_TOKEN
  for (let p = start; p < end; p++) {
    const byte = bytes[p]!
    if (byte === QUOTE) break
    if (byte === BACKSLASH) {
      form |= ESCAPED_TOKEN
      p++
      if (p < end && bytes[p]! >= 0x80) form |= UNICODE_TOKEN
    } else if (byte >= 0x80) form |= UNICODE_TOKEN
  }
  return form
}

/** Checks the shape of `{labels} value [timestamp]`; nobody needs what is in it yet. */
function isExemplar(bytes: Uint8Array, start: number, end: number): boolean {
  let p = skipBlanks(bytes, start, end)
  if (bytes[p] !== OPEN || p >= end) return false
  const closed = readLabels(bytes, p + 1, end, [])
  if (typeof closed === 'string') return false
  p = skipBlanks(bytes, closed, end)
  let tokenEnd = wordEnd(bytes, p, end)
  if (readFloat(bytes, p, tokenEnd) === undefined) return false
  p = skipBlanks(bytes, tokenEnd, end)
  if (p === end) return true
  tokenEnd = wordEnd(bytes, p, end)
  return tokenEnd === end && readSeconds(bytes, p, tokenEnd) !== undefined
}

export function isBlank(byte: number): boolean {
  return byte === SPACE || byte === TAB
}

export function skipBlanks(bytes: Uint8Array, start: number, end: number): number {
  let p = start
  while (p < end && isBlank(bytes[p]!)) p++
  return p
}

export function wordEnd(bytes: Uint8Array, start: number, end: number): number {
  let p = start
  while (p < end && !isBlank(bytes[p]!)) p++
  return p
}

/** The end of a name that needs no quotes: letters, digits, underscores and, in metric names, colons. */
export function nameEnd(bytes: Uint8Array, start: number, end: number, colons: boolean): number {
  let p = start
  for (; p < end; p++) {
    const byte = bytes[p]!
    const lower = byte | 0x20
    if ((lower >= 0x61 && lower <= 0x7a) || byte === 0x5f || (colons && byte === COLON)) continue
    if (p > start && byte >= 0x30 && byte <= 0x39) continue
    break
  }
  return p
}
