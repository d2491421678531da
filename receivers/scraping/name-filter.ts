/**
 * Leaves out lines by the name they begin with, before anything else is done with them.
 *
 * kube-state-metrics writes a hundred families for each one that is needed, and the families come one after the other: most lines
 * begin with the name of the line before, so telling what to keep costs little more than finding the ends of lines.
 */
import type { TextReader } from '../../pipeline/formats/prometheus-text.ts'

const LINE_FEED = 0x0a
const HASH = 0x23
const SPACE = 0x20
const TAB = 0x09
const QUOTE = 0x22
const OPEN = 0x7b
const CARRIAGE_RETURN = 0x0d
/** A line whose name is longer is somebody else's problem. */
const MAX_NAME_BYTES = 1024
/** Exporters have hundreds of names; who sends more fills no memory. */
const MAX_VERDICTS = 4096

/** A reader that gets only lines with a name that is wanted; the samples that are left out still count as scraped. */
export function onlyNames(reader: TextReader, isWanted: (name: string) => boolean): TextReader {
  const filter = new NameFilter(isWanted, bytes => reader.push(bytes))
  return {
    begin(dialect) {
      filter.reset()
      reader.begin(dialect)
    },
    push: bytes => filter.push(bytes),
    finish() {
      filter.end()
      const exposition = reader.finish()
      return { ...exposition, samples: exposition.samples + filter.leftOut }
    },
  }
}

class NameFilter {
  /** Samples, without comments. */
  leftOut = 0
  #isWanted: (name: string) => boolean
  #give: (bytes: Uint8Array) => void
  /** The line under way was judged in an earlier piece; undefined if not. */
  #verdict: boolean | undefined
  /** The beginning of a line whose name is not complete. */
  #begun = new Uint8Array(0)
  #last = new Uint8Array(0)
  #lastVerdict = true
  #verdicts = new Map<string, boolean>()

  constructor(isWanted: (name: string) => boolean, give: (bytes: Uint8Array) => void) {
    this.#isWanted = isWanted
    this.#give = give
  }

  reset(): void {
    this.leftOut = 0
    this.#verdict = undefined
    this.#begun = new Uint8Array(0)
  }

  push(bytes: Uint8Array): void {
    let piece = bytes
    if (this.#begun.length > 0) {
      piece = new Uint8Array(this.#begun.length + bytes.length)
      piece.set(this.#begun)
      piece.set(bytes, this.#begun.length)
      this.#begun = new Uint8Array(0)
    }
    let from = 0
    let at = 0
    // What lies between `from` and `at` is wanted and not yet handed on.
    while (at < piece.length) {
      const verdict = this.#verdict ?? this.#judge(piece, at)
      if (verdict === undefined) {
        this.#begun = piece.slice(at)
        break
      }
      const end = piece.indexOf(LINE_FEED, at) + 1
      if (!verdict) {
        if (at > from) this.#give(piece.subarray(from, at))
        from = end === 0 ? piece.length : end
      }
      this.#verdict = end === 0 ? verdict : undefined
      at = end === 0 ? piece.length : end
    }
    if (at > from) this.#give(piece.subarray(from, at))
  }

  /** The last line may have no end. */
  end(): void {
    if (this.#begun.length === 0) return
    const begun = this.#begun
    this.#begun = new Uint8Array(0)
    this.push(Uint8Array.of(...begun, LINE_FEED))
  }

  /** Whether the line at `start` is wanted; undefined if its name goes on in the next piece. */
  #judge(bytes: Uint8Array, start: number): boolean | undefined {
    const isLast = this.#isLast(bytes, start)
    const verdict = isLast ? this.#lastVerdict : this.#judgeName(bytes, start)
    if (verdict !== false || bytes[start] === HASH) return verdict
    // What is no sample is not left out, so that somebody notices.
    if (!looksLikeSample(bytes, isLast ? start + this.#last.length : wordEnd(bytes, start))) return true
    this.leftOut++
    return false
  }

  #isLast(bytes: Uint8Array, start: number): boolean {
    const last = this.#last
    if (last.length === 0 || start + last.length >= bytes.length || !isNameEnd(bytes[start + last.length]!))
      return false
    for (let i = 0; i < last.length; i++) if (bytes[start + i] !== last[i]) return false
    return true
  }

  #judgeName(bytes: Uint8Array, start: number): boolean | undefined {
    const [from, to] = nameAt(bytes, start)
    if (to - start > MAX_NAME_BYTES) return true
    if (to === bytes.length) return undefined
    if (to === from || bytes[from] === QUOTE) return true
    const name = Buffer.from(bytes.buffer, bytes.byteOffset + from, to - from).toString('latin1')
    const verdict = this.#verdictOn(name)
    if (from === start) {
      this.#last = bytes.slice(from, to)
      this.#lastVerdict = verdict
    }
    return verdict
  }

  #verdictOn(name: string): boolean {
    let verdict = this.#verdicts.get(name)
    if (verdict !== undefined) return verdict
    verdict = this.#isWanted(name)
    if (this.#verdicts.size >= MAX_VERDICTS) this.#verdicts.clear()
    this.#verdicts.set(name, verdict)
    return verdict
  }
}

/**
 * Where the name of a line begins and ends; it is empty where there is none: in other comments than HELP, TYPE and UNIT, in empty
 * lines, and where the name is among the labels.
 */
function nameAt(bytes: Uint8Array, start: number): [from: number, to: number] {
  if (bytes[start] !== HASH) return [start, wordEnd(bytes, start)]
  const keyword = skipBlanks(bytes, start + 1)
  const keywordEnd = wordEnd(bytes, keyword)
  if (keywordEnd === bytes.length) return [start, keywordEnd]
  const word = Buffer.from(bytes.buffer, bytes.byteOffset + keyword, keywordEnd - keyword).toString('latin1')
  if (word !== 'HELP' && word !== 'TYPE' && word !== 'UNIT') return [start, start]
  const name = skipBlanks(bytes, keywordEnd)
  return [name, wordEnd(bytes, name)]
}

function wordEnd(bytes: Uint8Array, start: number): number {
  let at = start
  while (at < bytes.length && !isNameEnd(bytes[at]!)) at++
  return at
}

/** Whether labels or a number follow the name that ends here. */
function looksLikeSample(bytes: Uint8Array, nameEnd: number): boolean {
  if (bytes[nameEnd] === OPEN) return true
  const value = skipBlanks(bytes, nameEnd)
  return value === bytes.length || /[-+.0-9INin]/.test(String.fromCharCode(bytes[value]!))
}

function skipBlanks(bytes: Uint8Array, start: number): number {
  let at = start
  while (bytes[at] === SPACE || bytes[at] === TAB) at++
  return at
}

function isNameEnd(byte: number): boolean {
  return byte === SPACE || byte === OPEN || byte === LINE_FEED || byte === TAB || byte === CARRIAGE_RETURN
}
