/**
 * Gives a selector whose unit changes its old numbers back, by a factor beside it: `x` becomes `y * 1048576`. Where the text already
 * has the factor that the way back would write, that factor is taken away instead, so that there and back is the original text.
 */
import type { Edit } from './edits.ts'
import { childOf, type PromqlNode } from './promql-tree.ts'
import { BLIND_TO_VALUES, DEGREE_OF_RANGE_FUNCTION, JUMPS } from './range-functions.ts'
import type { Scale } from '../model/scale.ts'

type Factor = { readonly edits: readonly Edit[] } | { readonly problem: string }

const COMPARISONS = new Set(['Eql', 'EqlC', 'EqlSingle', 'Neq', 'Gtr', 'Gte', 'Lss', 'Lte'])
const LIKE_TIMES = new Set(['Mul', 'Div', 'Mod', 'Atan2'])

/** `selector` is the node of a vector selector in `text`. */
export function correctUnit(selector: PromqlNode, text: string, scale: Scale): Factor {
  const nameOf = (node: PromqlNode) => callName(node, text)
  const place = placeOfFactor(selector, nameOf)
  if (place === undefined) return { edits: [] }
  if (typeof place === 'string') return { problem: place }
  const jump = isInexact(scale) ? jumpAbove(place, nameOf) : undefined
  if (jump !== undefined) {
    return { problem: `${jump} may see rounding errors of the factor${factorText(scale)} that brings the old unit back` }
  }
  return { edits: cancelled(place, text, scale) ?? inserted(place, scale) }
}

/** The factor from the new unit back to the old one. */
function factorText({ multiply, divide }: Scale): string {
  return `${divide === 1 ? '' : ` * ${divide}`}${multiply === 1 ? '' : ` / ${multiply}`}`
}

/** The expression to multiply; undefined where the numbers do not matter, a sentence where it cannot be done. */
function placeOfFactor(
  selector: PromqlNode,
  nameOf: (node: PromqlNode) => string | undefined,
): PromqlNode | string | undefined {
  const modified = climb(selector, ['OffsetExpr', 'StepInvariantExpr'])
  const inParens = climb(modified, ['OffsetExpr', 'StepInvariantExpr', 'ParenExpr'])
  if (modified.parent?.type !== 'MatrixSelector') {
    const call = callAround(inParens)
    if (call?.type === 'FunctionCall' && /^[$[]/.test(nameOf(call) ?? '')) {
      return 'a function that is a variable may not follow the unit by a plain factor'
    }
    return call !== undefined && BLIND_TO_VALUES.has(nameOf(call) ?? '') ? undefined : modified
  }
  const range = climb(modified.parent, ['OffsetExpr', 'StepInvariantExpr', 'ParenExpr'])
  const call = callAround(range)
  const name = call === undefined ? undefined : nameOf(call)
  if (call === undefined || name === undefined) return 'a range outside of a function has no place for a factor'
  const degree = DEGREE_OF_RANGE_FUNCTION[name]
  if (degree === undefined) return `\`${name}\` does not follow the unit by a plain factor`
  return degree === 0 ? undefined : call
}

function climb(node: PromqlNode, through: readonly string[]): PromqlNode {
  let top = node
  while (top.parent !== undefined && through.includes(top.parent.type) && top.parent.children[0] === top) {
    top = top.parent
  }
  return top
}

/** The call or aggregation that a node is an argument of. */
function callAround({ parent }: PromqlNode): PromqlNode | undefined {
  return parent?.type === 'FunctionCallBody' ? parent.parent : undefined
}

function callName(call: PromqlNode, text: string): string | undefined {
  const name = childOf(call, 'FunctionIdentifier') ?? childOf(call, 'AggregateOp')
  return name === undefined ? undefined : text.slice(name.from, name.to).toLowerCase()
}

/** Bytes and MiB differ by a power of two, and whole numbers divided by what they were multiplied with are whole again. */
function isInexact({ divide }: Scale): boolean {
  return !Number.isInteger(Math.log2(divide))
}

function jumpAbove(place: PromqlNode, nameOf: (node: PromqlNode) => string | undefined): string | undefined {
  for (let node = place.parent; node !== undefined; node = node.parent) {
    if (node.type === 'BinaryExpr') {
      const operator = node.children[1]!.type
      if (COMPARISONS.has(operator)) return 'a comparison'
      if (operator === 'Mod') return '`%`'
    }
    const name = node.type === 'FunctionCall' || node.type === 'AggregateExpr' ? (nameOf(node) ?? '') : ''
    if (JUMPS.has(name) || name.startsWith('histogram_')) return `\`${name}\``
  }
  return undefined
}

function inserted(place: PromqlNode, scale: Scale): Edit[] {
  const factor = factorText(scale)
  if (!needsParens(place)) return [{ start: place.to, end: place.to, text: factor }]
  return [
    { start: place.from, end: place.from, text: '(' },
    { start: place.to, end: place.to, text: `${factor})` },
  ]
}

/** Takes away what `inserted` would write on the way back, and nothing else. */
function cancelled(place: PromqlNode, text: string, scale: Scale): Edit[] | undefined {
  const written = factorText({ multiply: scale.divide, divide: scale.multiply })
  const product = place.parent
  if (product?.type !== 'BinaryExpr' || product.children[0] !== place) return undefined
  if (text.slice(place.to, product.to) !== written) return undefined
  const factor = { start: place.to, end: product.to, text: '' }
  const parens = product.parent
  const isTight = parens?.type === 'ParenExpr' && parens.from === product.from - 1 && parens.to === product.to + 1
  if (isTight && needsParens(parens)) {
    return [
      { start: parens.from, end: parens.from + 1, text: '' },
      { ...factor, end: parens.to },
    ]
  }
  return needsParens(product) ? undefined : [factor]
}

/** Whether a product would have to stand in parentheses there. */
function needsParens(node: PromqlNode): boolean {
  const { parent } = node
  if (parent === undefined) return false
  if (parent.type === 'BinaryExpr') {
    const operator = parent.children[1]!.type
    return operator === 'Pow' || (LIKE_TIMES.has(operator) && parent.children[0] !== node)
  }
  return ['UnaryExpr', 'SubqueryExpr', 'MatrixSelector', 'OffsetExpr', 'StepInvariantExpr'].includes(parent.type)
}
