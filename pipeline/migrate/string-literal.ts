/** Strings of PromQL, which are written as in Go. */

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', a: '\x07', b: '\b', f: '\f', v: '\v' }

/** Escapes by number: `\x5f`, `\u005f`, `\U0000005f`, `\137`. */
const ESCAPE = /\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{3})|(.))/gs

/** What a string in its quotes says. Escapes that are not known stand for themselves: nothing is decided by them. */
export function stringContent(literal: string): string {
  const inner = literal.slice(1, -1)
  return literal.startsWith('`') ? inner : unescaped(inner)
}

export function unescaped(text: string): string {
  return text.replace(ESCAPE, (_, ...groups: (string | undefined)[]) => {
    const [byte, short, long, octal, letter] = groups
    const hex = byte ?? short ?? long
    if (letter !== undefined) return ESCAPES[letter] ?? letter
    const code = hex === undefined ? Number.parseInt(octal!, 8) : Number.parseInt(hex, 16)
    return code <= 0x10ffff ? String.fromCodePoint(code) : ''
  })
}
