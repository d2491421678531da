/**
 * Finds where the characters of a YAML scalar stand in its file. A scalar loses indentation and escapes and joins lines on its way, so
 * value and file are read side by side. What does not fit gives nothing, and then nothing is changed.
 */

/** As `yaml` calls the ways to write a scalar. */
type ScalarType = string

/** For each character of `value`, and for its end, the offset in `text`. */
export function alignScalar(
  value: string,
  text: string,
  start: number,
  end: number,
  type: ScalarType,
): readonly number[] | undefined {
  if (type === 'BLOCK_LITERAL') return alignLines(value, text, start, end)
  if (type === 'BLOCK_FOLDED') {
    const header = text.indexOf('\n', start) + 1
    const indent = /^\s*/.exec(text.slice(header, end))![0].length
    return alignFolded(value, text, header + indent, end, '')
  }
  const quote = type === 'QUOTE_DOUBLE' ? '"' : type === 'QUOTE_SINGLE' ? "'" : ''
  return alignFolded(value, text, start + quote.length, end - quote.length, quote)
}

/** In a literal block each line of the value is the end of a line of the file. */
function alignLines(value: string, text: string, start: number, end: number): readonly number[] | undefined {
  const origins: number[] = []
  let lineStart = text.indexOf('\n', start) + 1
  if (lineStart === 0) return undefined
  const lines = value.split('\n')
  for (const [i, line] of lines.entries()) {
    // The value ends with the last line break; what follows belongs to nobody.
    if (i === lines.length - 1 && line === '') break
    let lineEnd = text.indexOf('\n', lineStart)
    if (lineEnd < 0) lineEnd = text.length
    const contentEnd = text[lineEnd - 1] === '\r' ? lineEnd - 1 : lineEnd
    const contentStart = contentEnd - line.length
    if (contentStart < lineStart || !text.startsWith(line, contentStart)) return undefined
    for (let column = 0; column < line.length; column++) origins.push(contentStart + column)
    if (i < lines.length - 1) origins.push(contentEnd)
    lineStart = lineEnd + 1
  }
  const last = origins.at(-1)
  origins.push(last === undefined ? end : last + 1)
  return origins.length === value.length + 1 ? origins : undefined
}

/** Where lines may be joined: a blank of the value can be a line break of the file. */
function alignFolded(
  value: string,
  text: string,
  start: number,
  end: number,
  quote: string,
): readonly number[] | undefined {
  const origins: number[] = []
  let at = start
  let i = 0
  while (i < value.length) {
    const character = value[i]!
    if (quote === '"' && text[at] === '\\') {
      const escaped = readEscape(text, at)
      if (!value.startsWith(escaped.text, i)) return undefined
      for (let part = 0; part < escaped.text.length; part++) origins.push(at)
      i += escaped.text.length
      at = escaped.end
    } else if (quote === "'" && character === "'" && text.startsWith("''", at)) {
      origins.push(at)
      at += 2
      i++
    } else if (text[at] === character && character !== '\n') {
      origins.push(at)
      at++
      i++
    } else if (/\s/.test(text[at] ?? '')) {
      const blanks = /^\s+/.exec(text.slice(at, end))?.[0] ?? ''
      if (!blanks.includes('\n')) return undefined
      const breaks = /^(?: |\n+)/.exec(value.slice(i))?.[0] ?? ''
      for (let part = 0; part < breaks.length; part++) origins.push(at)
      i += breaks.length
      // A line that is indented further keeps that.
      const kept = breaks.startsWith('\n') ? /^ */.exec(value.slice(i))![0].length : 0
      at += Math.max(1, blanks.length - kept)
    } else {
      return undefined
    }
  }
  origins.push(at)
  return at <= end ? origins : undefined
}

const ESCAPES: Readonly<Record<string, string>> = {
  '0': '\0',
  a: '\x07',
  b: '\b',
  t: '\t',
  '\t': '\t',
  n: '\n',
  v: '\v',
  f: '\f',
  r: '\r',
  e: '\x1b',
  ' ': ' ',
  '"': '"',
  '/': '/',
  '\\': '\\',
  N: '\x85',
  _: '\xa0',
  L: '\u2028',
  P: '\u2029',
}

function readEscape(text: string, at: number): { text: string; end: number } {
  const kind = text[at + 1] ?? ''
  const simple = ESCAPES[kind]
  if (simple !== undefined) return { text: simple, end: at + 2 }
  const length = { x: 2, u: 4, U: 8 }[kind]
  if (length !== undefined) {
    const code = Number.parseInt(text.slice(at + 2, at + 2 + length), 16)
    return { text: code <= 0x10ffff ? String.fromCodePoint(code) : '', end: at + 2 + length }
  }
  // An escaped line break: the lines are joined without a blank.
  const blanks = /^\\[ \t]*\r?\n[ \t]*/.exec(text.slice(at, at + 1000))?.[0] ?? ''
  return { text: '', end: at + Math.max(2, blanks.length) }
}
