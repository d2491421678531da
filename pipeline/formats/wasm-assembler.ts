/**
 * Writes a WebAssembly module of a few functions and one memory, from instructions by name.
 *
 * An instruction is its bytes, with those of its operands before it, as the machine wants them: `add(get(a), get(b))` puts a, then b, then
 * adds. Only what is needed is here (https://webassembly.github.io/spec/core/binary/).
 */

/** Bytes of instructions. */
export type Code = readonly number[]

/** What a module begins with: its name and the version of the format. */
const MAGIC: Code = [0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0]

/** Types of values. */
export const I32 = 0x7f
export const I64 = 0x7e
export const F64 = 0x7c

export type WasmFunction = {
  /** By this name it can be called from outside; the others can be called by their number. */
  readonly exported?: string
  /** All functions return an i32. */
  readonly parameters: readonly number[]
  readonly locals: readonly number[]
  readonly body: Code
}

/** The bytes of a module with these functions, which imports its memory as `memory.memory`. */
export function wasmModule(functions: readonly WasmFunction[], pages: number): Uint8Array<ArrayBuffer> {
  const types = functions.map(({ parameters }) => [0x60, ...vector(parameters.map(type => [type])), ...vector([[I32]])])
  const memory = [...text('memory'), ...text('memory'), 2, 1, ...unsigned(pages), ...unsigned(pages)]
  const exports = functions.flatMap(({ exported }, i) =>
    exported === undefined ? [] : [[...text(exported), 0, ...unsigned(i)]],
  )
  const codes = functions.map(({ locals, body }) => {
    const code = [...vector(locals.map(type => [1, type])), ...body, 0x0b]
    return [...unsigned(code.length), ...code]
  })
  return Uint8Array.from([
    ...MAGIC,
    ...section(1, types),
    ...section(2, [memory]),
    ...section(
      3,
      functions.map((_, i) => unsigned(i)),
    ),
    ...section(7, exports),
    ...section(10, codes),
  ])
}

export const get = (local: number): Code => [0x20, ...unsigned(local)]
export const set = (local: number, value: Code): Code => [...value, 0x21, ...unsigned(local)]
export const i32 = (value: number): Code => [0x41, ...signed(value)]
export const call = (number: number, ...operands: readonly Code[]): Code => [
  ...operands.flat(),
  0x10,
  ...unsigned(number),
]

/** Runs code again and again, for as long as `again` says so. */
export const repeat = (code: Code, again: Code): Code => [0x03, 0x40, ...code, ...again, 0x0d, 0, 0x0b]
/** Code that can be left: see `leaveIf`. */
export const block = (...code: readonly Code[]): Code => [0x02, 0x40, ...code.flat(), 0x0b]
/** Leaves the block or `when` that is `depth` around this; a `repeat` around it is begun again. */
export const leaveIf = (condition: Code, depth = 0): Code => [...condition, 0x0d, ...unsigned(depth)]
export const when = (condition: Code, ...code: readonly Code[]): Code => [
  ...condition,
  0x04,
  0x40,
  ...code.flat(),
  0x0b,
]
export const giveBack = (value: Code): Code => [...value, 0x0f]

export const not = (a: Code): Code => [...a, 0x45]
export const equal = (a: Code, b: Code): Code => [...a, ...b, 0x46]
export const differs = (a: Code, b: Code): Code => [...a, ...b, 0x47]
export const below = (a: Code, b: Code): Code => [...a, ...b, 0x49]
export const above = (a: Code, b: Code): Code => [...a, ...b, 0x4b]
export const either = (a: Code, b: Code): Code => [...a, ...b, 0x72]
export const add = (a: Code, b: Code): Code => [...a, ...b, 0x6a]
export const subtract = (a: Code, b: Code): Code => [...a, ...b, 0x6b]
export const and = (a: Code, b: Code): Code => [...a, ...b, 0x71]
export const shiftLeft = (a: Code, bits: number): Code => [...a, ...i32(bits), 0x74]

/** Of a number without a sign. */
export const shiftRight = (a: Code, bits: number): Code => [...a, ...i32(bits), 0x76]

/** 64 bits. */
export const i64 = (value: number): Code => [0x42, ...signed(value)]
export const addLong = (a: Code, b: Code): Code => [...a, ...b, 0x7c]
export const multiplyLong = (a: Code, b: Code): Code => [...a, ...b, 0x7e]
export const longOf = (a: Code): Code => [...a, 0xad]

/** Doubles. */
export const doubleOf = (a: Code): Code => [...a, 0xb9]
export const divide = (a: Code, b: Code): Code => [...a, ...b, 0xa3]
export const negate = (a: Code): Code => [...a, 0x9a]

/** Memory. The address of what is read or written is that operand and `offset`. */
export const load = (address: Code, offset = 0): Code => [...address, 0x28, 2, ...unsigned(offset)]
export const loadByte = (address: Code, offset = 0): Code => [...address, 0x2d, 0, ...unsigned(offset)]
export const loadDouble = (address: Code, offset = 0): Code => [...address, 0x2b, 3, ...unsigned(offset)]
export const store = (address: Code, value: Code, offset = 0): Code => [
  ...address,
  ...value,
  0x36,
  2,
  ...unsigned(offset),
]
export const storeDouble = (address: Code, value: Code, offset = 0): Code => [
  ...address,
  ...value,
  0x39,
  3,
  ...unsigned(offset),
]

/** Sixteen bytes at a time. */
export const loadSixteen = (address: Code, offset = 0): Code => [...address, 0xfd, 0, 0, ...unsigned(offset)]
export const storeSixteen = (address: Code, value: Code): Code => [...address, ...value, 0xfd, 0x0b, 0, 0]
export const xorSixteen = (a: Code, b: Code): Code => [...a, ...b, 0xfd, 0x51]
export const orSixteen = (a: Code, b: Code): Code => [...a, ...b, 0xfd, 0x50]
export const anySixteen = (a: Code): Code => [...a, 0xfd, 0x53]

function section(id: number, entries: readonly Code[]): number[] {
  const content = vector(entries)
  return [id, ...unsigned(content.length), ...content]
}

function vector(entries: readonly Code[]): number[] {
  return [...unsigned(entries.length), ...entries.flat()]
}

function text(name: string): number[] {
  return vector(Array.from(Buffer.from(name), byte => [byte]))
}

/** LEB128. */
function unsigned(value: number): number[] {
  const bytes: number[] = []
  for (; value > 0x7f; value >>>= 7) bytes.push((value & 0x7f) | 0x80)
  bytes.push(value)
  return bytes
}

function signed(value: number): number[] {
  const bytes: number[] = []
  for (; value < -64 || value > 63; value >>= 7) bytes.push((value & 0x7f) | 0x80)
  bytes.push(value & 0x7f)
  return bytes
}
