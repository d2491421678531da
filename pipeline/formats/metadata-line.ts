/**
 * Lines that begin with `#`: descriptions of metric families, and comments.
 *
 *   # HELP name text        # TYPE name type        # UNIT name unit        # EOF
 *
 * A name that needs quotes has them. Everything else that begins with `#` is a comment.
 */
import { METRIC_TYPES, type MetricType } from '../model/series.ts'
import { ESCAPED_TOKEN, nameEnd, PLAIN_TOKEN, skipBlanks, UNICODE_TOKEN, wordEnd, type Dialect } from './sample-line.ts'
import { asciiText, helpText, tokenText } from './token-text.ts'

export type MetadataLine =
  | { readonly kind: 'comment' | 'eof' }
  | { readonly kind: 'help' | 'unit'; readonly family: string; readonly text: string }
  | { readonly kind: 'type'; readonly family: string; readonly type: MetricType }
  | { readonly kind: 'bad'; readonly problem: string }

const COMMENT: MetadataLine = { kind: 'comment' }
const END: MetadataLine = { kind: 'eof' }
const QUOTE = 0x22

const TYPES = new Map<string, MetricType>([
  ...METRIC_TYPES.map(type => [type, type] as const),
  ['untyped', 'unknown'],
  ['gauge_histogram', 'gaugehistogram'],
])

/** Reads bytes[start, end), a line without its end whose first character that is not a blank is `#`. */
export function readMetadataLine(bytes: Uint8Array, start: number, end: number, dialect: Dialect): MetadataLine {
  const afterHash = skipBlanks(bytes, start, end) + 1
  const wordStart = skipBlanks(bytes, afterHash, end)
  const afterWord = wordEnd(bytes, wordStart, end)
  const word = afterWord - wordStart <= 4 ? asciiText(bytes, wordStart, afterWord) : ''
  if (word === 'EOF' && dialect === 'openmetrics' && afterWord === end) return END
  if (wordStart === afterHash || (word !== 'HELP' && word !== 'TYPE' && word !== 'UNIT')) return COMMENT

  const nameStart = skipBlanks(bytes, afterWord, end)
  if (nameStart === end) return COMMENT
  const name = readName(bytes, nameStart, end)
  if (name === undefined) return { kind: 'bad', problem: `the metric name after ${word} cannot be read` }
  const textStart = skipBlanks(bytes, name.end, end)
  if (textStart === name.end && textStart < end) {
    return { kind: 'bad', problem: `the metric name after ${word} has a character that needs quotes` }
  }
  if (word === 'HELP') return { kind: 'help', family: name.text, text: helpText(bytes, textStart, end, dialect) }
  const text = asciiText(bytes, textStart, end).trimEnd()
  if (word === 'UNIT') return { kind: 'unit', family: name.text, text }
  const type = TYPES.get(text)
  if (type === undefined) return { kind: 'bad', problem: 'the metric type is not known' }
  return { kind: 'type', family: name.text, type }
}

function readName(bytes: Uint8Array, start: number, end: number): { text: string; end: number } | undefined {
  if (bytes[start] !== QUOTE || start >= end) {
    const to = nameEnd(bytes, start, end, true)
    return to === start ? undefined : { text: asciiText(bytes, start, to), end: to }
  }
  let form = PLAIN_TOKEN
  for (let p = start + 1; p < end; p++) {
    const byte = bytes[p]!
    if (byte === QUOTE) {
      const text = tokenText(bytes, start + 1, p, form)
      return text === undefined || text === '' ? undefined : { text, end: p + 1 }
    }
    if (byte >= 0x80) form |= UNICODE_TOKEN
    if (byte === 0x5c) {
      form |= ESCAPED_TOKEN
      p++
    }
  }
  return undefined
}
