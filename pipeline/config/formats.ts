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
}

export const formats: Readonly<Record<string, Format>> = {
  duration: {
    isValid: text => parses(parseDuration, text),
    expected: 'a duration such as 15s or 1h30m',
    hint: text => (/^\d+$/.test(text) ? `add a unit: ${text}s` : undefined),
  },
  size: {
    isValid: text => parses(parseSize, text),
    expected: 'a size such as 64MiB, or a number of bytes',
    hint: text => (/^\d+ ?[KMGT]i?$/i.test(text) ? `write ${text.replace(/ ?i?$/i, 'iB')}` : undefined),
  },
  endpoint: {
    isValid: text => parses(parseEndpoint, text),
    expected: 'an address such as 127.0.0.1:8080',
    hint: text => (text.includes('://') ? 'leave out what is before the host' : undefined),
  },
  url: {
    isValid: isHttpUrl,
    expected: 'a URL that begins with http:// or https://',
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
  if (!/^https?:\/\/[^\s/]/i.test(text) || /\s/.test(text)) return false
  return URL.canParse(text)
}
