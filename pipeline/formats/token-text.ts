/** Strings of the text formats, from their bytes. */
import { ESCAPED_TOKEN, PLAIN_TOKEN, UNICODE_TOKEN } from './sample-line.ts'

const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const lenient = new TextDecoder('utf-8', { ignoreBOM: true })

/**
 * The text of a name or a label value, or undefined if it is not UTF-8: two values that differ only in bad bytes would become
 * one series if these were replaced.
 */
export function tokenText(bytes: Uint8Array, start: number, end: number, form: number): string | undefined {
  if (form === PLAIN_TOKEN) return asciiText(bytes, start, end)
  let text: string
  if ((form & UNICODE_TOKEN) === 0) text = asciiText(bytes, start, end)
  else {
    try {
      text = strict.decode(bytes.subarray(start, end))
    } catch {
      return undefined
    }
  }
  return (form & ESCAPED_TOKEN) === 0 ? text : unescapeValue(text)
}

/** The text of a description, in which bad bytes do no harm: they are replaced. */
export function helpText(bytes: Uint8Array, start: number, end: number, dialect: 'text' | 'openmetrics'): string {
  const text = isAscii(bytes, start, end) ? asciiText(bytes, start, end) : lenient.decode(bytes.subarray(start, end))
  if (!text.includes('\\')) return text
  return dialect === 'text' ? text.replace(/\\[\\n]/g, unescapeOne) : unescapeValue(text)
}

function isAscii(bytes: Uint8Array, start: number, end: number): boolean {
  for (let p = start; p < end; p++) if (bytes[p]! >= 0x80) return false
  return true
}

/** As Prometheus reads it: an escape that means nothing stands for itself. */
function unescapeValue(text: string): string {
  return text.replace(/\\[\\n"]/g, unescapeOne)
}

function unescapeOne(escape: string): string {
  return escape === '\\n' ? '\n' : escape.slice(1)
}

export function asciiText(bytes: Uint8Array, start: number, end: number): string {
  return Buffer.prototype.latin1Slice.call(bytes, start, end)
}
