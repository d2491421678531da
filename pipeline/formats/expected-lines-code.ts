/**
 * What `expected-lines.ts` runs: reads lines for as long as each is the expected one and its number is written plainly, as
 * `LineReader.#readExpected` does, but sixteen bytes at a time, which only WebAssembly can.
 */
import {
  above,
  add,
  addLong,
  and,
  anySixteen,
  below,
  block,
  call,
  differs,
  divide,
  doubleOf,
  either,
  equal,
  F64,
  get,
  giveBack,
  i32,
  I32,
  i64,
  I64,
  leaveIf,
  load,
  loadByte,
  loadDouble,
  loadSixteen,
  longOf,
  multiplyLong,
  negate,
  not,
  orSixteen,
  repeat,
  set,
  shiftLeft,
  shiftRight,
  store,
  storeDouble,
  storeSixteen,
  subtract,
  wasmModule,
  when,
  xorSixteen,
  type Code,
  type WasmFunction,
} from './wasm-assembler.ts'

/** Where things are in the memory, in bytes. */
export type Places = {
  /** Ten to the power of 0, 1, 2 ... as doubles. */
  readonly powersOfTen: number
  /** Of each line four numbers: where its literal is, how long that is, its block or -1, its slot. */
  readonly lines: number
  readonly literals: number
  /** Of each block and one more: where it begins, from the beginning of the blocks. */
  readonly blockStarts: number
  readonly blocks: number
  /** By slot. */
  readonly values: number
  /** Which line is expected next. */
  readonly next: number
  readonly pages: number
}

const LINE_FEED = 0x0a
const SPACE = 0x20
const MINUS = 0x2d
const DOT = 0x2e
const ZERO = 0x30

const LINE_BYTES_SHIFT = 4
/** So many digits fit into a double, so the one rounding, that of the division, is right. */
const MOST_DIGITS = 15

const SAME = 0

/** Whether a[0, length) and b[0, length) are the same. */
function same(): WasmFunction {
  const [a, b, length, last, shift] = [0, 1, 2, 3, 4]
  const end = last
  const differsAt = (offset: number): Code =>
    xorSixteen(loadSixteen(get(a), offset), loadSixteen(add(get(a), get(shift)), offset))
  return {
    parameters: [I32, I32, I32],
    locals: [I32, I32],
    body: [
      set(shift, subtract(get(b), get(a))),
      when(
        below(get(length), i32(16)),
        set(end, add(get(a), get(length))),
        block(
          leaveIf(not(below(get(a), get(end)))),
          repeat(
            [
              ...when(differs(loadByte(get(a)), loadByte(add(get(a), get(shift)))), giveBack(i32(0))),
              ...set(a, add(get(a), i32(1))),
            ],
            below(get(a), get(end)),
          ),
        ),
        giveBack(i32(1)),
      ),
      // The last sixteen overlap with those before.
      set(last, add(get(a), subtract(get(length), i32(16)))),
      block(
        leaveIf(not(below(add(get(a), i32(48)), get(last)))),
        repeat(
          [
            ...when(
              anySixteen(orSixteen(orSixteen(differsAt(0), differsAt(16)), orSixteen(differsAt(32), differsAt(48)))),
              giveBack(i32(0)),
            ),
            ...set(a, add(get(a), i32(64))),
          ],
          below(add(get(a), i32(48)), get(last)),
        ),
      ),
      block(
        leaveIf(not(below(get(a), get(last)))),
        repeat(
          [...when(anySixteen(differsAt(0)), giveBack(i32(0))), ...set(a, add(get(a), i32(16)))],
          below(get(a), get(last)),
        ),
      ),
      set(a, get(last)),
      not(anySixteen(differsAt(0))),
    ].flat(),
  }
}

/** Reads memory[p, limit) from a line on, up to the line `end`. Returns where the first other line begins. */
function readLines(places: Places): WasmFunction {
  const [p, limit, line, end] = [0, 1, 2, 3]
  const [entry, q, start, length, at, first, digit, decimals, isNegative, mantissa, value] = [
    4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14,
  ]
  const readDigits: Code = block(
    leaveIf(not(below(get(digit), i32(10)))),
    repeat(
      [
        ...set(mantissa, addLong(multiplyLong(get(mantissa), i64(10)), longOf(get(digit)))),
        ...set(q, add(get(q), i32(1))),
        ...set(digit, subtract(loadByte(get(q)), i32(ZERO))),
      ],
      below(get(digit), i32(10)),
    ),
  )
  // Two blocks around: the loop over lines, and the block that is left when a line is not as expected.
  const isOther = (condition: Code, depth: number): Code => leaveIf(condition, depth)
  const readNumber: Code = [
    block(
      leaveIf(differs(loadByte(get(q)), i32(SPACE))),
      repeat(set(q, add(get(q), i32(1))), equal(loadByte(get(q)), i32(SPACE))),
    ),
    set(isNegative, equal(loadByte(get(q)), i32(MINUS))),
    set(q, add(get(q), get(isNegative))),
    set(first, get(q)),
    set(mantissa, i64(0)),
    set(decimals, i32(0)),
    set(digit, subtract(loadByte(get(q)), i32(ZERO))),
    readDigits,
    set(length, subtract(get(q), get(first))),
    when(
      equal(get(digit), i32(DOT - ZERO)),
      set(at, add(get(q), i32(1))),
      set(q, get(at)),
      set(digit, subtract(loadByte(get(q)), i32(ZERO))),
      readDigits,
      set(decimals, subtract(get(q), get(at))),
      set(length, add(get(length), get(decimals))),
    ),
  ].flat()
  return {
    exported: 'readLines',
    parameters: [I32, I32, I32, I32],
    locals: [I32, I32, I32, I32, I32, I32, I32, I32, I32, I64, F64],
    body: [
      block(
        leaveIf(not(below(get(line), get(end)))),
        leaveIf(not(below(get(p), get(limit)))),
        repeat(
          [
            set(entry, add(shiftLeft(get(line), LINE_BYTES_SHIFT), i32(places.lines))),
            set(length, load(get(entry), 4)),
            set(q, add(get(p), get(length))),
            isOther(above(get(q), get(limit)), 1),
            isOther(not(call(SAME, get(p), load(get(entry)), get(length))), 1),
            set(at, load(get(entry), 8)),
            when(
              differs(get(at), i32(-1)),
              set(at, add(shiftLeft(get(at), 2), i32(places.blockStarts))),
              set(start, load(get(at))),
              set(length, subtract(load(get(at), 4), get(start))),
              isOther(above(add(get(q), get(length)), get(limit)), 2),
              isOther(not(call(SAME, get(q), add(get(start), i32(places.blocks)), get(length))), 2),
              set(q, add(get(q), get(length))),
              readNumber,
              isOther(
                either(
                  either(differs(get(digit), i32(LINE_FEED - ZERO)), not(get(length))),
                  above(get(length), i32(MOST_DIGITS)),
                ),
                2,
              ),
              set(value, divide(doubleOf(get(mantissa)), loadDouble(shiftLeft(get(decimals), 3), places.powersOfTen))),
              when(get(isNegative), set(value, negate(get(value)))),
              storeDouble(shiftLeft(load(get(entry), 12), 3), get(value), places.values),
              set(q, add(get(q), i32(1))),
            ),
            set(p, get(q)),
            set(line, add(get(line), i32(1))),
            leaveIf(not(below(get(p), get(limit))), 1),
          ].flat(),
          below(get(line), get(end)),
        ),
      ),
      store(i32(places.next), get(line)),
      get(p),
    ].flat(),
  }
}

/** Copies sixteen bytes at a time, so many at least, and sixteen in any case. Moves `from` and `to` behind them. */
function copyForward(from: number, to: number, stop: number, length: Code): Code {
  return [
    set(stop, add(get(to), length)),
    set(from, subtract(get(from), get(to))),
    repeat(
      [...storeSixteen(get(to), loadSixteen(add(get(from), get(to)))), ...set(to, add(get(to), i32(16)))],
      below(get(to), get(stop)),
    ),
    set(to, get(stop)),
    set(from, add(get(from), get(to))),
  ].flat()
}

/** Unpacks the sequences at `from` to memory[to, end), as `unpackBytes` does; see `packed-blocks.ts`. */
function unpack(): WasmFunction {
  const [from, to, end, sequence, source, stop] = [0, 1, 2, 3, 4, 5]
  return {
    exported: 'unpack',
    parameters: [I32, I32, I32],
    locals: [I32, I32, I32],
    body: [
      block(
        leaveIf(not(below(get(to), get(end)))),
        repeat(
          [
            set(sequence, load(get(from))),
            set(from, add(get(from), i32(4))),
            copyForward(from, to, stop, and(get(sequence), i32(0xff))),
            set(source, subtract(get(to), shiftRight(get(sequence), 16))),
            copyForward(source, to, stop, and(shiftRight(get(sequence), 8), i32(0xff))),
          ].flat(),
          below(get(to), get(end)),
        ),
      ),
      get(to),
    ].flat(),
  }
}

export function expectedLinesModule(places: Places): Uint8Array<ArrayBuffer> {
  return wasmModule([same(), readLines(places), unpack()], places.pages)
}
