/** Numbers of OTLP in JSON, as text and as bytes. */
import { writeNumber } from './render-number.ts'

/** The longest: a double with its sign, or a time in nanoseconds, with quotes. */
export const JSON_NUMBER_ROOM = 32

const QUOTE = 0x22
const ZERO = 0x30
/** What JSON has no number for, protobuf's mapping writes as texts. */
const NOT_FINITE: Readonly<Record<string, string>> = {
  NaN: '"NaN"',
  Infinity: '"Infinity"',
  '-Infinity': '"-Infinity"',
}

export function doubleText(value: number): string {
  return NOT_FINITE[String(value)] ?? (Object.is(value, -0) ? '-0' : String(value))
}

/** Writes at `at`, where there is room, and returns where it ended. */
export function writeDouble(bytes: Uint8Array, at: number, value: number): number {
  return Number.isFinite(value) ? writeNumber(bytes, at, value) : writeAscii(bytes, at, doubleText(value))
}

/** A time in milliseconds as nanoseconds, in quotes. */
export function writeNanoseconds(bytes: Uint8Array, at: number, timeMs: number): number {
  bytes[at++] = QUOTE
  if (timeMs > 0 && Number.isSafeInteger(timeMs)) {
    at = writeNumber(bytes, at, timeMs)
    for (let i = 0; i < 6; i++) bytes[at++] = ZERO
  } else {
    at = writeAscii(bytes, at, String(nanoseconds(timeMs)))
  }
  bytes[at++] = QUOTE
  return at
}

/** A whole number, in quotes. */
export function writeCount(bytes: Uint8Array, at: number, count: number): number {
  bytes[at++] = QUOTE
  at = count <= Number.MAX_SAFE_INTEGER ? writeNumber(bytes, at, count) : writeAscii(bytes, at, String(BigInt(count)))
  bytes[at++] = QUOTE
  return at
}

/** There is nothing before 1970 in OTLP. */
export function nanoseconds(timeMs: number): bigint {
  if (!(timeMs > 0)) return 0n
  const whole = Math.floor(timeMs)
  return BigInt(whole) * 1_000_000n + BigInt(Math.round((timeMs - whole) * 1e6))
}

export function writeAscii(bytes: Uint8Array, at: number, text: string): number {
  for (let i = 0; i < text.length; i++) bytes[at + i] = text.charCodeAt(i)
  return at + text.length
}
