/**
 * Grafana's variables in PromQL: `$var`, `${var:format}`, `[[var]]`. The grammar does not know them, so for parsing each gives way to
 * something of the same kind and of the same length: then every place in the tree is one in the text as it was written.
 */

export type VariableUse = {
  readonly name: string
  readonly start: number
  readonly end: number
  /** What it stands for there: `matchers` is a part of `{...}` that may be anything, together with the word that it is joined to. */
  readonly kind: 'duration' | 'number' | 'text' | 'name' | 'function' | 'aggregation' | 'matchers' | 'in_text'
}

export type Prepared = {
  /** As long as the text was, and for the parser. */
  readonly text: string
  readonly variables: readonly VariableUse[]
}

const VARIABLE = /\$([A-Za-z_]\w*)|\$\{([A-Za-z_][\w.]*)(?::[^}]*)?\}|\[\[([A-Za-z_][\w.]*)(?::\w+)?\]\]/y
/** Strings and comments are passed over as a whole. */
const PASSED = /"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|`[^`]*`|#[^\n]*/sy
const NUMBERS = /^__(from|to|interval_ms|range_ms|range_s)$/
const WORD = /[\w:]/

export function withoutVariables(text: string): Prepared {
  const variables: VariableUse[] = []
  const parts: string[] = []
  /** The brackets that are open, for the kind of what stands in them. */
  const open: string[] = []
  let at = 0
  while (at < text.length) {
    const passed = matchAt(PASSED, text, at)
    if (passed !== undefined) {
      if (!passed[0].startsWith('#')) variables.push(...variablesInText(passed[0], at))
      parts.push(passed[0])
      at += passed[0].length
      continue
    }
    const variable = matchAt(VARIABLE, text, at)
    if (variable !== undefined) {
      const name = (variable[1] ?? variable[2] ?? variable[3])!
      let end = at + variable[0].length
      const kind = kindOf({ text, start: at, end, name, bracket: open.at(-1) })
      const isWhole = kind === 'function' || kind === 'aggregation' || kind === 'matchers'
      while (isWhole && WORD.test(text[end] ?? '')) end++
      const start = kind === 'matchers' ? at - takeWord(parts) : at
      const use = { name, start, end, kind }
      variables.push(use)
      replaceVariable(parts, text, use)
      at = end
      continue
    }
    const character = text[at]!
    if ('([{'.includes(character)) open.push(character)
    if (')]}'.includes(character)) open.pop()
    parts.push(character)
    at++
  }
  return { text: parts.join(''), variables }
}

/** Variables in something that is no PromQL, or in a string of it. */
function variablesInText(text: string, offset = 0): VariableUse[] {
  const uses: VariableUse[] = []
  for (let at = 0; at < text.length; at++) {
    const match = matchAt(VARIABLE, text, at)
    if (match === undefined) continue
    const name = (match[1] ?? match[2] ?? match[3])!
    uses.push({ name, start: offset + at, end: offset + at + match[0].length, kind: 'in_text' })
    at += match[0].length - 1
  }
  return uses
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | undefined {
  pattern.lastIndex = at
  return pattern.exec(text) ?? undefined
}

type Context = {
  readonly text: string
  readonly start: number
  readonly end: number
  readonly name: string
  readonly bracket: string | undefined
}

function kindOf({ text, start, end, name, bracket }: Context): VariableUse['kind'] {
  const before = text.slice(0, start).trimEnd()
  const after = text.slice(end)
  if (bracket === '[' || /\boffset\s*-?$/i.test(before)) return 'duration'
  if (before.endsWith('@')) return 'number'
  if (bracket === '{') {
    if (/(=|!=|=~|!~)$/.test(before)) return 'text'
    return /^\w*\s*(=|!)/.test(after) ? 'name' : 'matchers'
  }
  if (NUMBERS.test(name)) return 'number'
  const call = /^\w*\s*\(/.exec(after)?.[0]
  if (call !== undefined) return isAggregation(after, call.length) ? 'aggregation' : 'function'
  if (/^\w*\s*(by|without)\s*\(/i.test(after)) return 'aggregation'
  return 'name'
}

/** Whether what follows the arguments groups them, which functions cannot. `at` is behind the opening parenthesis. */
function isAggregation(text: string, at: number): boolean {
  let depth = 1
  let end = at
  while (depth > 0 && end < text.length) {
    const passed = matchAt(PASSED, text, end)
    if (text[end] === '(') depth++
    if (text[end] === ')') depth--
    end += passed?.[0].length ?? 1
  }
  return depth === 0 && /^\s*(by|without)\s*\(/i.test(text.slice(end))
}

/** Puts the same number of characters that the parser takes for the kind. What was joined to a name stays joined to it. */
function replaceVariable(parts: string[], text: string, { start, end, kind }: VariableUse): void {
  const length = end - start
  if (kind === 'duration') {
    const hasUnit = /^(ms|[smhdwy])/.test(text.slice(end))
    parts.push(hasUnit ? '1'.repeat(length) : `${'1'.repeat(length - 1)}s`)
  } else if (kind === 'number') {
    parts.push('1'.repeat(length))
  } else if (kind === 'text' || kind === 'matchers') {
    parts.push(`"${'v'.repeat(length - 2)}"`)
  } else if (kind === 'function' || kind === 'aggregation') {
    replaceCall(parts, end - start, kind)
  } else {
    parts.push('v'.repeat(length))
  }
}

/** Any function will do; the whole word that holds the variable gives way to it. */
function replaceCall(parts: string[], length: number, kind: 'function' | 'aggregation'): void {
  const word = length + takeWord(parts)
  const stand = kind === 'aggregation' ? 'sum' : word < 3 ? 'ln' : 'abs'
  parts.push(stand.padEnd(word))
}

/** Takes away the word that the parts end with, and says how long it was. */
function takeWord(parts: string[]): number {
  let length = 0
  while (/^[\w:]$/.test(parts.at(-1) ?? '')) {
    parts.pop()
    length++
  }
  return length
}
