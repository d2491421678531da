/**
 * Values of protobuf fields as JSON has them: 64-bit integers are texts or numbers, NaN and infinities are texts, enums are numbers or
 * names, bytes are base64, and null is a field that is not there. Each throws `MalformedError` with the name of the field.
 */
import { MalformedError } from './malformed.ts'

export type JsonObject = Readonly<Record<string, unknown>>

const NO_LIST: readonly unknown[] = []

export function jsonObject(value: unknown, field: string): JsonObject {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as JsonObject
  throw wrong(field, 'an object', value)
}

export function jsonList(value: unknown, field: string): readonly unknown[] {
  if (value === undefined || value === null) return NO_LIST
  if (Array.isArray(value)) return value
  throw wrong(field, 'a list', value)
}

export function jsonText(value: unknown, field: string): string {
  if (value === undefined || value === null) return ''
  if (typeof value === 'string') return value
  throw wrong(field, 'a text', value)
}

export function jsonBoolean(value: unknown, field: string): boolean {
  if (value === undefined || value === null) return false
  if (typeof value === 'boolean') return value
  throw wrong(field, 'true or false', value)
}

export function jsonDouble(value: unknown, field: string): number {
  if (typeof value === 'number') return value
  if (typeof value === 'string') {
    if (value === 'NaN') return NaN
    if (value === 'Infinity') return Infinity
    if (value === '-Infinity') return -Infinity
    if (/^-?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(value)) return Number(value)
  }
  throw wrong(field, 'a number', value)
}

const MIN_INT32 = -(2 ** 31)
const MAX_INT32 = 2 ** 31 - 1
const MAX_UINT32 = 2 ** 32 - 1
const MAX_UINT64 = 2n ** 64n - 1n
const MAX_INT64 = 2n ** 63n - 1n
const MIN_INT64 = -(2n ** 63n)

export function jsonInt32(value: unknown, field: string): number {
  return smallInteger(value, field, MIN_INT32, MAX_INT32)
}

export function jsonUint32(value: unknown, field: string): number {
  return smallInteger(value, field, 0, MAX_UINT32)
}

function smallInteger(value: unknown, field: string, least: number, most: number): number {
  const integer = value === undefined || value === null ? 0 : typeof value === 'string' ? whole(value, field) : value
  if (typeof integer === 'number' && Number.isInteger(integer) && integer >= least && integer <= most) return integer
  throw wrong(field, `an integer from ${least} to ${most}`, value)
}

function whole(text: string, field: string): number {
  if (!/^-?\d+$/.test(text)) throw wrong(field, 'an integer', text)
  return Number(text)
}

/** A signed integer of 64 bits, as a bigint where a number cannot hold it. */
export function jsonInt64(value: unknown, field: string): number | bigint {
  return wideInteger(value, field, MIN_INT64, MAX_INT64)
}

export function jsonUint64(value: unknown, field: string): number | bigint {
  return wideInteger(value, field, 0n, MAX_UINT64)
}

function wideInteger(value: unknown, field: string, least: bigint, most: bigint): number | bigint {
  if (value === undefined || value === null) return 0
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= least) return value
  if (typeof value === 'string' && /^-?\d+$/.test(value)) {
    const number = Number(value)
    if (Number.isSafeInteger(number) && number >= least) return number
    const integer = BigInt(value)
    if (integer >= least && integer <= most) return integer
  } else if (typeof value === 'number' && Number.isInteger(value)) {
    const integer = BigInt(value)
    if (integer >= least && integer <= most) return integer
  }
  throw wrong(field, `an integer of 64 bits${least === 0n ? ' that is not negative' : ''}`, value)
}

/** Nanoseconds since 1970 as whole milliseconds. */
export function jsonMilliseconds(value: unknown, field: string): number {
  if (typeof value === 'string' && value.length > 6 && value.length < 20 && /^\d+$/.test(value)) {
    return Number(value.slice(0, -6))
  }
  const nanoseconds = jsonUint64(value, field)
  if (typeof nanoseconds === 'bigint') return Number(nanoseconds / 1_000_000n)
  return Math.floor(nanoseconds / 1e6)
}

/** A number, or its name. Numbers that nobody knows are let through. */
export function jsonEnum(value: unknown, field: string, names: Readonly<Record<string, number>>): number {
  if (typeof value === 'string' && Object.hasOwn(names, value)) return names[value]!
  if (typeof value === 'string' && !/^-?\d+$/.test(value)) {
    throw wrong(field, `one of ${Object.keys(names).join(', ')}`, value)
  }
  return jsonInt32(value, field)
}

/** Base64 with either alphabet, with or without padding. */
export function jsonBytes(value: unknown, field: string): Uint8Array {
  const text = jsonText(value, field)
  const digits = text.replace(/={0,2}$/, '')
  if (!/^[A-Za-z0-9+/_-]*$/.test(digits) || digits.length % 4 === 1) throw wrong(field, 'bytes in base64', value)
  return Buffer.from(digits, 'base64')
}

/** An id in hexadecimal digits, which is how OTLP writes ids instead of base64; it may be missing or empty. */
export function checkHexId(value: unknown, field: string, bytes: number): void {
  const text = jsonText(value, field)
  if (text !== '' && (text.length !== bytes * 2 || !/^[0-9a-fA-F]*$/.test(text))) {
    throw wrong(field, `${bytes * 2} hexadecimal digits`, value)
  }
}

export function wrong(field: string, expected: string, found: unknown): MalformedError {
  return new MalformedError(`"${field}": expected ${expected}, found ${describe(found)}`)
}

/** What is inside of something is not shown: it may be anything, and nested without end. */
function describe(found: unknown): string {
  if (found === undefined) return 'nothing'
  if (Array.isArray(found)) return 'a list'
  if (typeof found === 'object' && found !== null) return 'an object'
  const text = JSON.stringify(found)
  return text.length > 60 ? `${text.slice(0, 60)}...` : text
}
