/** Which metric a vector selector names, and where. */
import { compileRegex } from '../relabel/regex.ts'
import type { VariableUse } from './grafana-variables.ts'
import { childOf, type PromqlNode } from './promql-tree.ts'
import { stringContent, unescaped } from './string-literal.ts'

export type MetricName =
  /** `start` and `end` are those of the name itself, without quotes. */
  | { readonly kind: 'named'; readonly name: string; readonly start: number; readonly end: number }
  /** Whatever `isPossible` says may be meant; `how` says why that is not known better. */
  | { readonly kind: 'open'; readonly how: string; readonly isPossible: (name: string) => boolean }
  /** A variable that holds a number. */
  | { readonly kind: 'number' }

export function metricNameOf(selector: PromqlNode, text: string, variables: readonly VariableUse[]): MetricName {
  const identifier = childOf(selector, 'Identifier')
  const matchers = childOf(selector, 'LabelMatchers')?.children ?? []
  const tests = matchers.filter(matcher => labelText(matcher, text) === '__name__').map(one => readMatcher(one, text))
  if (identifier !== undefined) {
    return alone(fromIdentifier(identifier, selector, text, variables), tests, variables)
  }
  const opaque = new Set(variables.filter(({ kind }) => kind === 'matchers').map(({ start }) => start))
  const quoted = matchers.find(({ type, from }) => type === 'QuotedLabelName' && !opaque.has(from))
  if (quoted !== undefined) return alone(named(text, quoted.from + 1, quoted.to - 1, variables), tests, variables)
  const exact = tests.find(({ operator }) => operator === '=')
  if (exact !== undefined) {
    const others = tests.filter(test => test !== exact)
    return alone(named(text, exact.start, exact.end, variables), others, variables)
  }
  return {
    kind: 'open',
    how: tests.length === 0 ? 'it names no metric' : 'the metric name is matched by a regular expression',
    isPossible: name => tests.every(test => passes(name, test, variables)),
  }
}

/** What else is asked of the name would not be true of another name. */
function alone(name: MetricName, others: readonly Matcher[], variables: readonly VariableUse[]): MetricName {
  if (others.length === 0 || name.kind === 'number') return name
  const isPossible = name.kind === 'open' ? name.isPossible : (one: string) => one === name.name
  return {
    kind: 'open',
    how: 'the metric name is matched more than once',
    isPossible: one => isPossible(one) && others.every(test => passes(one, test, variables)),
  }
}

function fromIdentifier(
  identifier: PromqlNode,
  selector: PromqlNode,
  text: string,
  variables: readonly VariableUse[],
): MetricName {
  const { from, to } = identifier
  const isVariable = variables.some(({ start, end }) => start === from && end === to)
  const isBare = isVariable && childOf(selector, 'LabelMatchers') === undefined
  if (isBare && isNumberExpected(selector, text)) return { kind: 'number' }
  return named(text, from, to, variables)
}

/** Beside an operator, or for a number that a function takes: there a variable by itself is a threshold or the like. */
function isNumberExpected(node: PromqlNode, text: string): boolean {
  const { parent } = node
  if (parent?.type === 'ParenExpr') return isNumberExpected(parent, text)
  if (parent?.type !== 'FunctionCallBody') return parent?.type === 'BinaryExpr'
  const [index, call] = [parent.children.indexOf(node), parent.parent!]
  if (call.type === 'AggregateExpr') return index < parent.children.length - 1
  const name = childOf(call, 'FunctionIdentifier')!
  const numbers = NUMBERS_FIRST[text.slice(name.from, name.to)]
  return numbers === undefined ? index > 0 : index < numbers
}

/** Functions that take numbers before their vector, and how many; the others take them after it. */
const NUMBERS_FIRST: Readonly<Record<string, number>> = {
  histogram_fraction: 2,
  histogram_quantile: 1,
  quantile_over_time: 1,
  vector: 1,
}

function named(text: string, start: number, end: number, variables: readonly VariableUse[]): MetricName {
  const inside = variables.filter(variable => variable.start >= start && variable.end <= end)
  const written = text.slice(start, end)
  if (inside.length === 0 && written.includes('\\')) {
    const meant = unescaped(written)
    return { kind: 'open', how: 'the metric name is written with escapes', isPossible: name => name === meant }
  }
  if (inside.length === 0) return { kind: 'named', name: written, start, end }
  let pattern = ''
  let at = start
  for (const variable of inside) {
    pattern += `${escapeRegex(text.slice(at, variable.start))}.*`
    at = variable.end
  }
  const matcher = new RegExp(`^${pattern}${escapeRegex(text.slice(at, end))}$`)
  return { kind: 'open', how: 'a variable is part of the metric name', isPossible: name => matcher.test(name) }
}

export type Matcher = {
  readonly operator: string
  readonly value: string
  readonly start: number
  readonly end: number
}

/** Of a node that compares a label with a text; the place is that of the text without quotes. */
export function readMatcher(matcher: PromqlNode, text: string): Matcher {
  const operator = childOf(matcher, 'MatchOp')!
  const literal = childOf(matcher, 'StringLiteral')!
  return {
    operator: text.slice(operator.from, operator.to),
    value: stringContent(text.slice(literal.from, literal.to)),
    start: literal.from + 1,
    end: literal.to - 1,
  }
}

/** The label of a matcher or of a grouping, without quotes and escapes. */
export function labelText(node: PromqlNode, text: string): string | undefined {
  const label = labelNode(node)
  return label === undefined ? undefined : unescaped(text.slice(label.start, label.end))
}

export function labelNode(node: PromqlNode): { readonly start: number; readonly end: number } | undefined {
  const label = [node, ...node.children].find(({ type }) => type === 'LabelName' || type === 'QuotedLabelName')
  if (label === undefined) return undefined
  const quote = label.type === 'QuotedLabelName' ? 1 : 0
  return { start: label.from + quote, end: label.to - quote }
}

function passes(name: string, { operator, value, start, end }: Matcher, variables: readonly VariableUse[]): boolean {
  // A variable can hold anything.
  if (variables.some(variable => variable.start >= start && variable.end <= end)) return true
  if (operator === '=') return name === value
  if (operator === '!=') return name !== value
  try {
    return compileRegex(value).matches(name) === (operator === '=~')
  } catch {
    // No regular expression: what it would select is not known.
    return true
  }
}

function escapeRegex(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')
}
