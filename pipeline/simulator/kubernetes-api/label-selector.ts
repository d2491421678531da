/**
 * Label selectors as the API server reads them.
 *
 *     selector    = [ requirement { "," requirement } ]
 *     requirement = [ "!" ] key | key operator value | key ( "in" | "notin" ) "(" [ value ] { "," [ value ] } ")"
 *     operator    = "=" | "==" | "!=" | ">" | "<"
 *
 * A missing value is the empty one. `in` and `notin` are keys and values where those are expected.
 */
import { badRequest } from './status.ts'

export type Labels = Readonly<Record<string, string>>

export type LabelSelector = {
  /** Selects everything. */
  readonly isEmpty: boolean
  matches(labels: Labels | undefined): boolean
}

type Requirement = (labels: Labels) => boolean

const NO_LABELS: Labels = {}
const TOKEN = /\s*(==|!=|[=!()<>,]|[^\s=!()<>,]+)/y
const NAME = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/
const PREFIX = /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/
const LONGEST_NAME = 63
const EXPECTED_OPERATORS = 'in, notin, =, ==, !=, gt, lt'

/** Throws the Status that a selector with a mistake is answered with. */
export function parseLabelSelector(text: string): LabelSelector {
  const tokens = tokensOf(text)
  const requirements: Requirement[] = []
  if (tokens.peek() !== undefined) {
    for (;;) {
      if (!isWord(tokens.peek()) && tokens.peek() !== '!') {
        const after = requirements.length === 0 ? `!, identifier, or 'end of string'` : `identifier after ','`
        throw badRequest(`found '${tokens.peek() ?? ''}', expected: ${after}`)
      }
      requirements.push(parseRequirement(tokens))
      const separator = tokens.next()
      if (separator === undefined) break
      if (separator !== ',') throw badRequest(`found '${separator}', expected: ',' or 'end of string'`)
    }
  }
  return {
    isEmpty: requirements.length === 0,
    matches: labels => requirements.every(requirement => requirement(labels ?? NO_LABELS)),
  }
}

type Tokens = { peek(): string | undefined; next(): string | undefined }

function tokensOf(text: string): Tokens {
  TOKEN.lastIndex = 0
  const tokens: string[] = []
  for (let match = TOKEN.exec(text); match !== null; match = TOKEN.exec(text)) tokens.push(match[1]!)
  let at = 0
  return { peek: () => tokens[at], next: () => tokens[at++] }
}

function isWord(token: string | undefined): token is string {
  return token !== undefined && !/^[=!()<>,]/.test(token)
}

function parseRequirement(tokens: Tokens): Requirement {
  const negated = tokens.peek() === '!'
  if (negated) tokens.next()
  const key = tokens.next()
  if (!isWord(key)) throw problem(`found '${key ?? ''}', expected: identifier`)
  checkKey(key)
  if (negated) return labels => !Object.hasOwn(labels, key)
  const following = tokens.peek()
  if (following === undefined || following === ',') return labels => Object.hasOwn(labels, key)

  const operator = tokens.next()!
  switch (operator) {
    case '=':
    case '==': {
      const [value] = checked(key, [parseValue(tokens)])
      return labels => Object.hasOwn(labels, key) && labels[key] === value
    }
    case '!=': {
      const [value] = checked(key, [parseValue(tokens)])
      return labels => !Object.hasOwn(labels, key) || labels[key] !== value
    }
    case 'in':
    case 'notin': {
      const values = new Set(checked(key, parseValues(tokens)))
      const wanted = operator === 'in'
      return labels => (Object.hasOwn(labels, key) ? values.has(labels[key]!) === wanted : !wanted)
    }
    case '>':
    case '<': {
      const value = parseValue(tokens)
      const limit = integerOf(value)
      if (limit === undefined) {
        throw problem(`values[0]: Invalid value: "${value}": for 'Gt', 'Lt' operators, the value must be an integer`)
      }
      return labels => {
        const number = integerOf(labels[key] ?? '')
        return number !== undefined && (operator === '>' ? number > limit : number < limit)
      }
    }
    default:
      throw problem(`found '${operator}', expected: ${EXPECTED_OPERATORS}`)
  }
}

function parseValue(tokens: Tokens): string {
  const token = tokens.peek()
  if (token === undefined || token === ',') return ''
  if (!isWord(token)) throw problem(`found '${tokens.peek()!}', expected: identifier`)
  tokens.next()
  return token
}

function parseValues(tokens: Tokens): string[] {
  const open = tokens.next()
  if (open !== '(') throw problem(`found '${open ?? ''}' expected: '('`)
  const values: string[] = []
  for (;;) {
    const token = tokens.peek()
    if (isWord(token)) tokens.next()
    values.push(isWord(token) ? token : '')
    const separator = tokens.next()
    if (separator === ')') return values
    if (separator !== ',') {
      const expected = isWord(token) ? `',' or ')'` : `',', ')' or identifier`
      throw problem(`found '${separator ?? ''}', expected: ${expected}`)
    }
  }
}

function checkKey(key: string): void {
  const [name, prefix, ...more] = key.split('/').toReversed() as [string, ...string[]]
  const isValid = NAME.test(name) && name.length <= LONGEST_NAME && more.length === 0
  if (isValid && (prefix === undefined || PREFIX.test(prefix))) return
  throw problem(`<nil>: Invalid value: ${JSON.stringify(key)}: not a valid label key`)
}

function checked(key: string, values: readonly string[]): readonly string[] {
  values.forEach((value, i) => {
    if (value === '' || (NAME.test(value) && value.length <= LONGEST_NAME)) return
    throw problem(`values[${i}][${key}]: Invalid value: ${JSON.stringify(value)}: not a valid label value`)
  })
  return values
}

function integerOf(text: string): bigint | undefined {
  return /^[-+]?\d+$/.test(text) ? BigInt(text.replace(/^\+/, '')) : undefined
}

function problem(message: string): Error {
  return badRequest(`unable to parse requirement: ${message}`)
}
