/**
 * Finds where the characters of a YAML scalar stand in its file. On its way a scalar loses indentation, joins lines and reads escapes,
 * but what is no blank comes in the same order. So value and file are read side by side, and blanks are passed over in both. What does
 * not fit gives nothing, and then nothing is changed.
 */

/** As `yaml` calls the ways to write a scalar. */
type ScalarType = string

/** For each character of `value`, and for its end, the offset in `text`. A blank is where the character before it ends. */
export function alignScalar(
  value: string,
  text: string,
  start: number,
  end: number,
  type: ScalarType,
): readonly number[] | undefined {
  if (type.startsWith('BLOCK_')) {
    const header = text.indexOf('\n', start) + 1
    return header === 0 ? undefined : alignFrom(value, text, header, end, '')
  }
  const quote = type === 'QUOTE_DOUBLE' ? '"' : type === 'QUOTE_SINGLE' ? "'" : ''
  return alignFrom(value, text, start + quote.length, end - quote.length, quote)
}

function alignFrom(
  value: string,
  text: string,
  start: number,
  end: number,
  quote: string,
): readonly number[] | undefined {
  const origins: number[] = []
  let at = start
  while (origins.length < value.length) {
    if (isBlank(value[origins.length]!)) {
      origins.push(at)
      continue
    }
    const part = nextPart(text, at, end, quote)
    if (part === undefined || !value.startsWith(part.text, origins.length)) return undefined
    for (let i = 0; i < part.text.length; i++) origins.push(part.start)
    at = part.end
  }
  origins.push(at)
  return nextPart(text, at, end, quote) === undefined ? origins : undefined
}

type Part = { readonly text: string; readonly start: number; readonly end: number }

/**
 * The next character that is no blank, or what an escape stands for. Lines that are joined by an escape belong to what comes then: a blank
 * that is put there stands at the end of a line, and not at the beginning of the next, where it would be lost.
 */
function nextPart(text: string, from: number, end: number, quote: string): Part | undefined {
  let [start, at] = [from, from]
  while (at < end) {
    const part = partAt(text, at, quote)
    if (!isBlank(part.text)) return { ...part, start }
    at = part.end
    if (part.text !== '') start = at
  }
  return undefined
}

function partAt(text: string, start: number, quote: string): Part {
  if (quote === '"' && text[start] === '\\') return { start, ...readEscape(text, start) }
  const isDoubled = quote === "'" && text.startsWith("''", start)
  return { text: text[start]!, start, end: start + (isDoubled ? 2 : 1) }
}

function isBlank(text: string): boolean {
  return text.trim() === ''
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
