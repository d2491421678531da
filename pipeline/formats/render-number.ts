/**
 * Numbers as text, written as bytes: always text that reads back as the same double, and the shortest such text.
 *
 * Whole numbers and decimals of up to six places, which is nearly all that exporters measure, are written digit by digit;
 * the engine writes the rest.
 */

/** No number is longer: `-0.0000010033690414458653`. */
export const NUMBER_ROOM = 25

const MINUS = 0x2d
const POINT = 0x2e
const ZERO = 0x30
const BILLION = 1_000_000_000
const MILLION = 1_000_000

/**
 * Below this, whole parts are integers of the machine, and neighbouring doubles are less than a millionth apart, so that at most
 * one decimal of six places is this double.
 */
const DECIMALS_BELOW = 2 ** 31

/** Writes at `at`, where there is room, and returns where it ended. */
export function writeNumber(bytes: Uint8Array, at: number, value: number): number {
  let size = value
  if (value < 0 || (value === 0 && 1 / value < 0)) {
    bytes[at++] = MINUS
    size = -value
  }
  if (size < BILLION && (size | 0) === size) return writeWhole(bytes, at, size | 0)
  if (size < DECIMALS_BELOW) {
    const millionths = Math.round(size * MILLION)
    // Both are exact, so this division rounds as reading the text does.
    if (millionths / MILLION === size) return writeMillionths(bytes, at, size | 0, millionths)
  }
  if (size <= Number.MAX_SAFE_INTEGER && Math.floor(size) === size) {
    const billions = Math.floor(size / BILLION)
    at = writeWhole(bytes, at, billions)
    return writePadded(bytes, at, size - billions * BILLION, 9)
  }
  return writeText(bytes, at, size === Infinity ? (value > 0 ? '+Inf' : 'Inf') : String(size))
}

export function numberText(value: number): string {
  const bytes = new Uint8Array(NUMBER_ROOM)
  return String.fromCharCode(...bytes.subarray(0, writeNumber(bytes, 0, value)))
}

function writeWhole(bytes: Uint8Array, at: number, whole: number): number {
  return writePadded(bytes, at, whole, digitsOf(whole))
}

function digitsOf(whole: number): number {
  if (whole < 1000) return whole < 10 ? 1 : whole < 100 ? 2 : 3
  if (whole < MILLION) return whole < 10_000 ? 4 : whole < 100_000 ? 5 : 6
  return whole < 10_000_000 ? 7 : whole < 100_000_000 ? 8 : whole < BILLION ? 9 : 10
}

/** `whole` is below 2^31 and is written with leading zeros. */
function writePadded(bytes: Uint8Array, at: number, whole: number, digits: number): number {
  let rest = whole | 0
  let i = (at + digits) | 0
  // Two at a time: a division takes longer than all the rest.
  for (; i - 2 >= at; i = (i - 2) | 0) {
    const hundredth = (rest / 100) | 0
    const pair = (rest - hundredth * 100) | 0
    const tens = (pair * 103) >> 10
    bytes[i - 1] = ZERO + pair - tens * 10
    bytes[i - 2] = ZERO + tens
    rest = hundredth
  }
  if (i > at) bytes[at] = ZERO + rest
  return at + digits
}

function writeMillionths(bytes: Uint8Array, at: number, whole: number, millionths: number): number {
  let fraction = (millionths - whole * MILLION) | 0
  at = writeWhole(bytes, at, whole)
  if (fraction === 0) return at
  bytes[at++] = POINT
  let digits = 6
  if (fraction % 1000 === 0) {
    fraction = (fraction / 1000) | 0
    digits = 3
  }
  for (let tenth = (fraction / 10) | 0; tenth * 10 === fraction; tenth = (fraction / 10) | 0) {
    fraction = tenth
    digits--
  }
  return writePadded(bytes, at, fraction, digits)
}

function writeText(bytes: Uint8Array, at: number, text: string): number {
  for (let i = 0; i < text.length; i++) bytes[at + i] = text.charCodeAt(i)
  return at + text.length
}
