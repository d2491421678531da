/** Strings of PromQL, which are written as in Go. */

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', a: '\x07', b: '\b', f: '\f', v: '\v' }

/** What a string in its quotes says. Escapes that are not known stand for themselves: nothing is decided by them. */
export function stringContent(literal: string): string {
  const inner = literal.slice(1, -1)
  if (literal.startsWith('`')) return inner
  return inner.replace(/\\(.)/gs, (_, escaped: string) => ESCAPES[escaped] ?? escaped)
}
