/**
 * Numbers as the text formats write them, read from bytes.
 *
 *   float     = [sign] ( digits [ "." [digits] ] | "." digits ) [ ("e" | "E") [sign] digits ]
 *             | [sign] ( "inf" | "infinity" ) | "nan"          in any case
 *   timestamp = [sign] digits                                  milliseconds, in the Prometheus format
 *
 * That is what Go's parser took before it learnt hexadecimal floats and underscores, which Prometheus keeps to. A number too
 * large for a double is refused, not made infinite.
 */

const PLUS = 0x2b
const MINUS = 0x2d
const DOT = 0x2e
const ZERO = 0x30
const LOWER_E = 0x65

/** Powers that a double holds exactly. */
const POWERS_OF_TEN = Float64Array.from({ length: 23 }, (_, power) => Number(`1e${power}`))
const GROUP = 1e15

/** The number that fills bytes[start, end), or undefined if that is none. */
export function readFloat(bytes: Uint8Array, start: number, end: number): number | undefined {
  let p = start
  let negative = false
  if (p < end && (bytes[p] === MINUS || bytes[p] === PLUS)) negative = bytes[p++] === MINUS

  let mantissa = 0
  let digits = 0
  let decimals = 0
  let afterDot = false
  for (; p < end; p++) {
    const digit = bytes[p]! - ZERO
    if (digit >= 0 && digit <= 9) {
      if (mantissa < GROUP / 10) {
        mantissa = mantissa * 10 + digit
        if (afterDot) decimals++
      } else {
        // More digits than a double holds exactly: the engine's own parser is right to the last bit.
        return readSlowly(bytes, start, end)
      }
      digits++
    } else if (digit === DOT - ZERO && !afterDot) afterDot = true
    else break
  }
  if (digits === 0) return readSpecial(bytes, start, end)

  let power = -decimals
  if (p < end) {
    if ((bytes[p]! | 0x20) !== LOWER_E) return undefined
    const exponent = readExponent(bytes, p + 1, end)
    if (exponent === undefined) return undefined
    power += exponent
  }
  // Both operands are exact, so the one rounding of the division or multiplication is the right one.
  let value: number
  if (power === 0) value = mantissa
  else if (power < 0 && power >= -22) value = mantissa / POWERS_OF_TEN[-power]!
  else if (power > 0 && power <= 22) value = mantissa * POWERS_OF_TEN[power]!
  else return readSlowly(bytes, start, end)
  return negative ? -value : value
}

/** A whole number with up to 19 digits, or undefined. Beyond 2^53 it is the nearest double. */
export function readInteger(bytes: Uint8Array, start: number, end: number): number | undefined {
  let p = start
  let negative = false
  if (p < end && (bytes[p] === MINUS || bytes[p] === PLUS)) negative = bytes[p++] === MINUS
  if (p === end || end - p > 19) return undefined
  let value = 0
  for (; p < end; p++) {
    const digit = bytes[p]! - ZERO
    if (digit < 0 || digit > 9) return undefined
    value = value * 10 + digit
  }
  return negative ? -value : value
}

function readExponent(bytes: Uint8Array, start: number, end: number): number | undefined {
  let p = start
  let negative = false
  if (p < end && (bytes[p] === MINUS || bytes[p] === PLUS)) negative = bytes[p++] === MINUS
  if (p === end) return undefined
  let exponent = 0
  for (; p < end; p++) {
    const digit = bytes[p]! - ZERO
    if (digit < 0 || digit > 9) return undefined
    // Anything this large is zero or too large, whatever the mantissa.
    if (exponent < 100_000) exponent = exponent * 10 + digit
  }
  return negative ? -exponent : exponent
}

const PLAIN = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i
/** A longer run of digits is no measurement, and checking it would cost more than it is worth. */
const MAX_LENGTH = 1024

function readSlowly(bytes: Uint8Array, start: number, end: number): number | undefined {
  if (end - start > MAX_LENGTH) return undefined
  const text = asciiText(bytes, start, end)
  if (!PLAIN.test(text)) return undefined
  const value = Number(text)
  return Number.isFinite(value) ? value : undefined
}

function readSpecial(bytes: Uint8Array, start: number, end: number): number | undefined {
  if (end - start > '+infinity'.length) return undefined
  switch (asciiText(bytes, start, end).toLowerCase()) {
    case 'nan':
      return NaN
    case 'inf':
    case '+inf':
    case 'infinity':
    case '+infinity':
      return Infinity
    case '-inf':
    case '-infinity':
      return -Infinity
    default:
      return undefined
  }
}

function asciiText(bytes: Uint8Array, start: number, end: number): string {
  let text = ''
  for (let p = start; p < end; p++) text += String.fromCharCode(bytes[p]!)
  return text
}
