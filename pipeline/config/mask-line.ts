/** Shows a line of a source without the parts that must not be seen. */
import type { Source } from './source.ts'
import { lineBounds } from './source.ts'

export const REDACTED = '[redacted]'

/** From `start` up to, not including, `end`, as offsets into the text of a source. */
export type Range = { readonly start: number; readonly end: number }

export type MaskedLine = {
  readonly text: string
  /** Where a character of the line went; those of a masked part are where its mask begins. */
  columnOf(offset: number): number
}

const URL_PASSWORD = /(?<=:\/\/[^\s/:@]*:)[^\s/@]+(?=@)/g

/** The password in `https://user:password@host`, which may stand in any URL. */
export function maskUrls(text: string): string {
  return text.replace(URL_PASSWORD, REDACTED)
}

/** Masks what is in the ranges, and all texts wherever they stand. */
export function maskLine(source: Source, line: number, ranges: readonly Range[], texts: Iterable<string>): MaskedLine {
  const { start, end } = lineBounds(source, line)
  const whole = source.text.slice(start, end)
  const hidden = [
    ...ranges,
    ...urlPasswords(whole, start),
    ...[...texts].flatMap(text => occurrences(whole, text, start)),
  ]
    .map(range => ({ start: Math.max(start, range.start), end: Math.min(end, range.end) }))
    .filter(range => range.start < range.end)
    .sort((a, b) => a.start - b.start)
  const pieces: { from: number; column: number; isHidden: boolean }[] = []
  let text = ''
  let at = start
  for (const range of hidden) {
    if (range.start >= at) {
      pieces.push({ from: at, column: text.length + 1, isHidden: false })
      text += source.text.slice(at, range.start)
      pieces.push({ from: range.start, column: text.length + 1, isHidden: true })
      text += REDACTED
    }
    at = Math.max(at, range.end)
  }
  pieces.push({ from: at, column: text.length + 1, isHidden: false })
  text += source.text.slice(at, end)
  return {
    text,
    columnOf(offset) {
      const { from, column, isHidden } = pieces.findLast(piece => piece.from <= offset) ?? pieces[0]!
      return isHidden ? column : column + offset - from
    },
  }
}

function occurrences(line: string, text: string, start: number): Range[] {
  const found: Range[] = []
  for (let at = line.indexOf(text); at >= 0; at = line.indexOf(text, at + text.length))
    found.push({ start: start + at, end: start + at + text.length })
  return found
}

function urlPasswords(line: string, start: number): Range[] {
  return Array.from(line.matchAll(URL_PASSWORD), ({ index, 0: { length } }) => ({
    start: start + index,
    end: start + index + length,
  }))
}
