/** Texts that a config is read from, and places in them. */

export type Source = {
  /** What problems call it: the path as it was given, or `--set a.b`. */
  readonly name: string
  readonly text: string
  /** The file's path, from which relative paths in it start. Without one they start at the current directory. */
  readonly path?: string
  /** False for what has no lines to speak of: an option of the command line, a file that could not be read. */
  readonly hasLines: boolean
  /** Offsets at which the lines of `text` begin. */
  readonly lineStarts: readonly number[]
}

/** From `start` up to, not including, `end`, as offsets into the text. */
export type Place = { readonly source: Source; readonly start: number; readonly end: number }

export function createSource(
  name: string,
  text: string,
  options: { readonly path?: string; readonly hasLines?: boolean } = {},
): Source {
  const lineStarts = [0]
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lineStarts.push(at + 1)
  return { name, text, hasLines: true, lineStarts, ...options }
}

/** Both count from 1. */
export function lineAndColumn(source: Source, offset: number): { line: number; column: number } {
  const { lineStarts } = source
  let low = 0
  let high = lineStarts.length - 1
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if (lineStarts[middle]! <= offset) low = middle
    else high = middle - 1
  }
  return { line: low + 1, column: offset - lineStarts[low]! + 1 }
}

/** The bounds of a line, counted from 1, without its line break. */
export function lineBounds(source: Source, line: number): { start: number; end: number } {
  const start = source.lineStarts[line - 1]!
  let end = source.lineStarts[line] === undefined ? source.text.length : source.lineStarts[line] - 1
  if (end > start && source.text[end - 1] === '\r') end--
  return { start, end }
}

export function startOf(source: Source): Place {
  return { source, start: 0, end: 0 }
}
