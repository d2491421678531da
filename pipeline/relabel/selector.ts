/**
 * Selectors of series, written as in PromQL: `name{label="value",other=~"regex"}`.
 *
 *   selector = name [ "{" [ matchers ] "}" ] | "{" matchers "}"
 *   matchers = matcher { "," matcher } [","]
 *   matcher  = ( label | quoted ) ( "=" | "!=" | "=~" | "!~" ) quoted | quoted
 *
 * A lone quoted text in the braces is the name. Regular expressions match whole values; a label that is not there is empty. Other
 * than in PromQL, a backslash before a character that needs none stays, so that `=~"a\.b"` is the regular expression it looks like.
 */
import { getLabel, type Labels } from '../model/labels.ts'
import { matchWhole } from './regex.ts'

export type Selector = {
  readonly text: string
  readonly conditions: readonly Condition[]
  /** Says for a name whether a series of that name can be selected at all. */
  mayName(name: string): boolean
  matches(name: string, labels: Labels): boolean
  /** The conditions that a series does not meet. */
  unmet(name: string, labels: Labels): readonly Condition[]
}

export type Condition = {
  readonly label: string
  /** As the selector has it. */
  readonly text: string
  /** Whether it is met by every value but some: `!=` and `!~`. */
  readonly isNegative: boolean
  accepts(value: string): boolean
}

export const NAME = '__name__'

/** Throws an Error that says what is wrong, and where in the text. */
export function parseSelector(text: string): Selector {
  const conditions = new Parser(text).parse()
  const value = (label: string, name: string, labels: Labels): string =>
    label === NAME ? name : (getLabel(labels, label) ?? '')
  const onName = conditions.filter(({ label }) => label === NAME)
  return {
    text,
    conditions,
    mayName: name => onName.every(condition => condition.accepts(name)),
    matches: (name, labels) => conditions.every(({ label, accepts }) => accepts(value(label, name, labels))),
    unmet: (name, labels) => conditions.filter(({ label, accepts }) => !accepts(value(label, name, labels))),
  }
}

const OPERATORS: Readonly<Record<string, (value: string) => Condition['accepts']>> = {
  '=': value => text => text === value,
  '!=': value => text => text !== value,
  '=~': matchWhole,
  '!~'(value) {
    const matches = matchWhole(value)
    return text => !matches(text)
  },
}

const METRIC_NAME = /[a-zA-Z_:][a-zA-Z0-9_:]*/y
const LABEL_NAME = /[a-zA-Z_][a-zA-Z0-9_]*/y
const QUOTED = /"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`[^`]*`/y
const OPERATOR = /=~|!~|!=|=/y

class Parser {
  #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  parse(): Condition[] {
    const conditions: Condition[] = []
    const name = this.#take(METRIC_NAME)
    if (name !== undefined) conditions.push(nameIs(name))
    if (this.#skip('{')) {
      while (!this.#skip('}')) {
        conditions.push(this.#matcher())
        if (this.#skip(',')) continue
        if (this.#skip('}')) break
        this.#fail('`,` or `}` is expected')
      }
    } else if (name === undefined) this.#fail('a metric name or `{` is expected')
    this.#skipBlanks()
    if (this.#at < this.#text.length) this.#fail('nothing more is expected')
    if (conditions.length === 0) this.#fail('this selects everything; a name or a label is needed')
    return conditions
  }

  #matcher(): Condition {
    const start = this.#skipBlanks()
    const quoted = this.#quoted()
    const label = quoted ?? this.#take(LABEL_NAME)
    if (label === undefined) return this.#fail('a label name is expected')
    const operator = this.#take(OPERATOR)
    if (operator === undefined) {
      if (quoted !== undefined) return nameIs(quoted)
      return this.#fail('one of = != =~ !~ is expected')
    }
    this.#skipBlanks()
    const valueAt = this.#at
    const value = this.#quoted()
    if (value === undefined) return this.#fail('a value in quotes is expected')
    try {
      const text = this.#text.slice(start, this.#at)
      return { label, text, isNegative: operator.startsWith('!'), accepts: OPERATORS[operator]!(value) }
    } catch (error) {
      this.#at = valueAt
      return this.#fail((error as Error).message)
    }
  }

  #quoted(): string | undefined {
    const quoted = this.#take(QUOTED)
    const inner = quoted?.slice(1, -1)
    return quoted?.startsWith('`') ? inner : inner?.replaceAll(/\\./g, escape => ESCAPES[escape] ?? escape)
  }

  #take(token: RegExp): string | undefined {
    this.#skipBlanks()
    token.lastIndex = this.#at
    const [found] = token.exec(this.#text) ?? []
    if (found !== undefined) this.#at += found.length
    return found
  }

  #skip(character: string): boolean {
    this.#skipBlanks()
    if (this.#text[this.#at] !== character) return false
    this.#at++
    return true
  }

  #skipBlanks(): number {
    while (/\s/.test(this.#text[this.#at] ?? '')) this.#at++
    return this.#at
  }

  #fail(what: string): never {
    throw new Error(`${what} (at character ${this.#at + 1} of the selector)`)
  }
}

const ESCAPES: Readonly<Record<string, string>> = {
  '\\n': '\n',
  '\\t': '\t',
  '\\r': '\r',
  '\\\\': '\\',
  '\\"': '"',
  "\\'": "'",
}

function nameIs(name: string): Condition {
  return { label: NAME, text: name, isNegative: false, accepts: text => text === name }
}
