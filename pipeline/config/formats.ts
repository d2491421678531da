/** Formats of texts in configs: what is valid, and how to say what is expected. */
import { parseDuration } from './duration.ts'
import { parseEndpoint } from './endpoint.ts'
import { parseSize } from './size.ts'

export type Format = {
  isValid(text: string): boolean
  /** Completes "must be". */
  readonly expected: string
  /** A remark on a frequent mistake. */
  hint?(text: string): string | undefined
  /** For editors: about what `isValid` says, as a regular expression, and which numbers may stand for a text. */
  readonly pattern?: string
  readonly numbers?: { readonly minimum: number; readonly maximum?: number }
}

const PERCENTAGE = /^\d+(\.\d+)? ?%$/

export const formats: Readonly<Record<string, Format>> = {
  duration: {
    isValid: text => parses(parseDuration, text),
    expected: 'a duration such as 15s or 1h30m',
    hint: text => (/^\d+$/.test(text) ? `add a unit: ${text}s` : undefined),
    pattern: '^([0-9.]+(ns|us|µs|ms|s|m|h|d|w))+$|^0$',
    numbers: { minimum: 0, maximum: 0 },
  },
  size: {
    isValid: text => parses(parseSize, text),
    expected: 'a size such as 64MiB, or a number of bytes',
    hint: text => (/^\d+ ?[KMGT]i?$/i.test(text) ? `write ${text.replace(/ ?i?$/i, 'iB')}` : undefined),
    pattern: '^[0-9.]+ ?([kKMGT]?B|[KMGT]iB)?$',
    numbers: { minimum: 0 },
  },
  size_or_percentage: {
    isValid: text => PERCENTAGE.test(text) || parses(parseSize, text),
    expected: 'a size such as 64MiB, a number of bytes, or a percentage such as 80%',
    pattern: '^[0-9.]+ ?([kKMGT]?B|[KMGT]iB|%)?$',
    numbers: { minimum: 0 },
  },
  endpoint: {
    isValid: text => parses(parseEndpoint, text),
    expected: 'an address such as 127.0.0.1:8080',
    hint: text => (text.includes('://') ? 'leave out what is before the host' : undefined),
    pattern: '^[^/ ]*:[0-9]+$',
  },
  endpoint_or_none: {
    isValid: text => text === 'none' || parses(parseEndpoint, text),
    expected: 'an address such as 127.0.0.1:8080, or none',
    hint: text => (text.includes('://') ? 'leave out what is before the host' : undefined),
    pattern: '^[^/ ]*:[0-9]+$|^none$',
  },
  catalog: {
    isValid: text => text !== '',
    expected: 'the name of a catalog, or the path of a file',
  },
  url: {
    isValid: isHttpUrl,
    expected: 'a URL that begins with http:// or https://',
    pattern: '^https?://[^ ]+$',
  },
}

function parses(parse: (text: string) => unknown, text: string): boolean {
  try {
    parse(text)
    return true
  } catch {
    return false
  }
}

function isHttpUrl(text: string): boolean {
  return /^https?:\/\/[^\s/]\S*$/i.test(text) && URL.canParse(text)
}
