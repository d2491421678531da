/** Reads JSON into a tree that knows places, which `JSON.parse` does not. */
import { MAX_DEPTH, SyntaxProblem, type Spell, type TreeEntry, type TreeNode, type TreeText } from './document-tree.ts'

const ESCAPES: Readonly<Record<string, string>> = {
  '"': '"',
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
}

const LITERAL = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?/y
const BLANKS = /[ \t\r\n]*/y
const PLAIN = /[^"\\\n\r]*/y

/**
 * `toFile` leads from places in `text` to places in the file, and `spellIn` tells how something is written there, where the text itself is
 * one of another document.
 */
export function readJson(
  text: string,
  toFile: (offset: number) => number | undefined = offset => offset,
  spellIn: Spell = inner => inner,
): TreeNode {
  let at = 0

  function fail(message: string, offset = at): never {
    throw new SyntaxProblem(message, toFile(offset) ?? toFile(0) ?? 0)
  }

  function skipBlanks(): void {
    BLANKS.lastIndex = at
    BLANKS.test(text)
    at = BLANKS.lastIndex
  }

  function found(): string {
    return at >= text.length ? 'the end of the text' : `"${text[at]}"`
  }

  function readValue(depth: number): TreeNode {
    skipBlanks()
    if (depth > MAX_DEPTH) fail(`nested more than ${MAX_DEPTH} levels deep`)
    const first = text[at]
    if (first === '{') return readMap(depth)
    if (first === '[') return readList(depth)
    if (first === '"') return readText()
    const start = at
    LITERAL.lastIndex = at
    if (!LITERAL.test(text)) fail(`this is no JSON: a value is expected, not ${found()}`)
    at = LITERAL.lastIndex
    return { kind: 'other', start: toFile(start) ?? 0 }
  }

  function readMap(depth: number): TreeNode {
    const start = at++
    const entries: TreeEntry[] = []
    skipBlanks()
    while (text[at] !== '}') {
      if (entries.length > 0) expect(',', '}')
      skipBlanks()
      if (text[at] !== '"') fail(`this is no JSON: a key in double quotes is expected, not ${found()}`)
      const key = readText()
      skipBlanks()
      expect(':')
      entries.push({ key, value: readValue(depth + 1) })
      skipBlanks()
    }
    at++
    return { kind: 'map', start: toFile(start) ?? 0, entries }
  }

  function readList(depth: number): TreeNode {
    const start = at++
    const items: TreeNode[] = []
    skipBlanks()
    while (text[at] !== ']') {
      if (items.length > 0) expect(',', ']')
      items.push(readValue(depth + 1))
      skipBlanks()
    }
    at++
    return { kind: 'list', start: toFile(start) ?? 0, items }
  }

  function expect(character: string, other?: string): void {
    const expected = other === undefined ? `"${character}"` : `"${character}" or "${other}"`
    if (text[at] !== character) fail(`this is no JSON: ${expected} is expected, not ${found()}`)
    at++
  }

  function readText(): TreeText {
    const start = ++at
    let value = ''
    for (;;) {
      PLAIN.lastIndex = at
      PLAIN.test(text)
      value += text.slice(at, PLAIN.lastIndex)
      at = PLAIN.lastIndex
      if (text[at] === '"') break
      if (text[at] !== '\\') fail('this is no JSON: a text in quotes is not closed in its line', Math.max(start - 1, 0))
      const escaped = unescape(at)
      value += escaped.text
      at = escaped.end
    }
    at++
    return { kind: 'text', start: toFile(start) ?? 0, text: value, originOf: originsIn(start), spell }
  }

  function unescape(offset: number): { text: string; end: number } {
    const kind = text[offset + 1] ?? ''
    const simple = ESCAPES[kind]
    if (simple !== undefined) return { text: simple, end: offset + 2 }
    const digits = text.slice(offset + 2, offset + 6)
    if (kind !== 'u' || !/^[0-9a-fA-F]{4}$/.test(digits)) fail(`this is no JSON: unknown escape "\\${kind}"`, offset)
    return { text: String.fromCharCode(Number.parseInt(digits, 16)), end: offset + 6 }
  }

  /** Most texts are never changed, so the way back is followed only when somebody asks for it. */
  function originsIn(start: number): (index: number) => number | undefined {
    return index => {
      let offset = start
      for (let i = 0; i < index; i++) offset = text[offset] === '\\' ? unescape(offset).end : offset + 1
      return toFile(offset)
    }
  }

  const spell: Spell = added => spellIn(JSON.stringify(added).slice(1, -1))
  const root = readValue(0)
  skipBlanks()
  if (at < text.length) fail(`this is no JSON: nothing is expected after the value, but there is ${found()}`)
  return root
}
