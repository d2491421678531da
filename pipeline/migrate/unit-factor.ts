/**
 * Gives a selector whose unit changes its old numbers back, by a factor beside it: `x` becomes `y * 1048576`. Where the text already
 * has the factor that the way back would write, that factor is taken away instead, so that there and back is the original text.
 */
import type { Edit } from './edits.ts'
import { childOf, type PromqlNode } from './promql-tree.ts'
import { BLIND_TO_PRODUCTS, BLIND_TO_VALUES, DEGREE_OF_RANGE_FUNCTION, JUMPS, ROUNDING } from './range-functions.ts'
import { chainAbove, isComparison } from './scaled-comparison.ts'
import { inverse, type Scale } from '../model/scale.ts'

type Factor =
  /** `isWritten`: the factor stands beside the selector now, for the way back to see. */
  { readonly edits: readonly Edit[]; readonly isWritten?: true; readonly note?: string } | { readonly problem: string }
type NameOf = (node: PromqlNode) => string | undefined

/**
 * What is done about a factor. `write` always writes it, `take` always takes away the one that is there: where two old names are one new
 * name, only the factor tells the way back which of them was meant. `fit` does what gives the shorter text.
 */
export type FactorMode = 'fit' | 'write' | 'take'

const LIKE_TIMES = new Set(['Mul', 'Div', 'Mod', 'Atan2'])

/** `selector` is the node of a vector selector in `text`. */
export function correctUnit(selector: PromqlNode, text: string, scale: Scale, mode: FactorMode): Factor {
  const nameOf = (node: PromqlNode) => callName(node, text)
  const place = placeOfFactor(selector, nameOf, mode)
  if (place === undefined) return { edits: [] }
  if (typeof place === 'string') return { problem: place }
  if (isPowerOfTwo(scale)) return beside(place, text, scale, mode)
  const chain = chainAbove(place, text, scale, nameOf)
  if (chain === undefined) return besideOthers(place, text, scale, nameOf, mode)
  const isRounded = chain.isRounded || ROUNDING.has(nameOf(place) ?? '')
  if (chain.wantsEqual && isRounded) return { problem: 'whether two sums are equal depends on their unit' }
  const isFree = chain.isBool || isBlind(callAround(climb(chain.top, ['ParenExpr'])), nameOf)
  const jump = isFree ? undefined : jumpAbove(chain.top, nameOf)
  if (jump !== undefined && jump !== 'order') return { problem: seesRounding(jump) }
  if (!isFree && followsBareGroup(chain.top, text)) return { problem: IN_GROUP }
  const edits = isFree ? chain.edits : [...chain.edits, ...factorOfChain(chain.top, text, scale)]
  return isRounded || jump === 'order' ? { edits, note: NEARLY } : { edits }
}

const NEARLY = 'where both sides of a comparison are all but equal, rounding in the new unit may decide'

function besideOthers(place: PromqlNode, text: string, scale: Scale, nameOf: NameOf, mode: FactorMode): Factor {
  const factor = beside(place, text, scale, mode)
  const jump = jumpAbove(place, nameOf)
  if (jump === undefined || 'problem' in factor) return factor
  return jump === 'order' ? { ...factor, note: NEARLY } : { problem: seesRounding(jump) }
}

function seesRounding(jump: string): string {
  return `${jump} may see rounding errors of a factor`
}

function beside(place: PromqlNode, text: string, scale: Scale, mode: FactorMode): Factor {
  const edits = mode === 'write' ? undefined : cancelled(place, text, scale, mode)
  if (edits !== undefined) return mode === 'fit' && isUndone(place, text, scale) ? { problem: UNDONE } : { edits }
  if (!needsParens(place) || !followsBareGroup(place, text)) return { edits: inserted(place, scale), isWritten: true }
  return { problem: IN_GROUP }
}

const UNDONE = 'the factor beside it is undone by the next one, so that the way back would leave out both'

/** Whether the factor beside it is followed by one that the way back would take away. */
function isUndone({ parent: product }: PromqlNode, text: string, scale: Scale): boolean {
  const next = product?.parent
  if (next?.type !== 'BinaryExpr' || text.slice(product!.to, next.to) !== factorText(scale)) return false
  return isFactorOfWayBack(next, text, inverse(scale), 'fit')
}

const IN_GROUP = 'a parenthesis after `group_left` without one of its own would be taken for its labels'

/** Whether it comes after `group_left` or `group_right` that stands there without labels. */
function followsBareGroup({ from }: PromqlNode, text: string): boolean {
  return /\bgroup_(left|right)(\s|#[^\n]*\n)*$/i.test(text.slice(0, from))
}

/** What passed a comparison gets its old unit back; or loses the factor that the way back would give it. */
function factorOfChain(top: PromqlNode, text: string, scale: Scale): Edit[] {
  const written = factorText(inverse(scale))
  const parens = top.parent
  const product = parens?.type === 'ParenExpr' ? parens.parent : undefined
  if (
    parens !== undefined &&
    product?.type === 'BinaryExpr' &&
    text.slice(parens.from, product.to) === `(${text.slice(top.from, top.to)})${written}` &&
    takesComparison(product.parent) &&
    !isBlind(callAround(climb(product, ['ParenExpr'])), node => callName(node, text))
  ) {
    return [
      { start: parens.from, end: parens.from + 1, text: '' },
      { start: top.to, end: product.to, text: '' },
    ]
  }
  return [
    { start: top.from, end: top.from, text: '(' },
    { start: top.to, end: top.to, text: `)${factorText(scale)}` },
  ]
}

/** Whether a comparison can stand there without parentheses. */
function takesComparison(parent: PromqlNode | undefined): boolean {
  if (parent === undefined || parent.type === 'PromQL') return true
  if (parent.type === 'BinaryExpr') return ['And', 'Or', 'Unless'].includes(parent.children[1]!.type)
  return ['ParenExpr', 'FunctionCallBody'].includes(parent.type)
}

/** Whether the text has beside the selector the factor that the way back would have written. */
export function hasFactorOf(selector: PromqlNode, text: string, scale: Scale): boolean {
  const place = placeOfFactor(selector, node => callName(node, text), 'take')
  return typeof place === 'object' && cancelled(place, text, scale, 'take') !== undefined
}

/** The factor from the new unit back to the old one. */
function factorText({ multiply, divide }: Scale): string {
  return `${divide === 1 ? '' : ` * ${divide}`}${multiply === 1 ? '' : ` / ${multiply}`}`
}

/** The expression to multiply; undefined where the numbers do not matter, a sentence where it cannot be done. */
function placeOfFactor(selector: PromqlNode, nameOf: NameOf, mode: FactorMode): PromqlNode | string | undefined {
  const modified = climb(selector, ['OffsetExpr', 'StepInvariantExpr'])
  const inParens = climb(modified, ['OffsetExpr', 'StepInvariantExpr', 'ParenExpr'])
  if (modified.parent?.type !== 'MatrixSelector') {
    const call = callAround(inParens)
    if (isVariable(call, nameOf)) {
      return 'a function that is a variable may not follow the unit by a plain factor'
    }
    return isBlind(call, nameOf, mode) ? undefined : modified
  }
  const range = climb(modified.parent, ['OffsetExpr', 'StepInvariantExpr', 'ParenExpr'])
  const call = callAround(range)
  const name = call === undefined ? undefined : nameOf(call)
  if (call === undefined || name === undefined) return 'a range outside of a function has no place for a factor'
  const degree = DEGREE_OF_RANGE_FUNCTION[name]
  if (degree === undefined) return `\`${name}\` does not follow the unit by a plain factor`
  if (degree === 0 || isBlind(callAround(climb(call, ['ParenExpr'])), nameOf, mode)) return undefined
  return call
}

/** Where a factor has to stand or go it may as well be one that only does no harm. */
function isBlind(call: PromqlNode | undefined, nameOf: NameOf, mode: FactorMode = 'fit'): boolean {
  const name = call === undefined ? undefined : nameOf(call)
  return name !== undefined && (mode === 'fit' ? BLIND_TO_VALUES : BLIND_TO_PRODUCTS).has(name)
}

function isVariable(call: PromqlNode | undefined, nameOf: NameOf): boolean {
  return call?.type === 'FunctionCall' && /^[$[]/.test(nameOf(call) ?? '')
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

/** Computers multiply by those without rounding. Bytes and MiB differ so. */
function isPowerOfTwo({ multiply, divide }: Scale): boolean {
  return Number.isInteger(Math.log2(multiply)) && Number.isInteger(Math.log2(divide))
}

/** What a rounding error may matter to: an order, or something that it may make a step of. */
function jumpAbove(place: PromqlNode, nameOf: NameOf): string | undefined {
  let isOrdered = false
  for (let node = place.parent; node !== undefined; node = node.parent) {
    const operator = node.type === 'BinaryExpr' ? node.children[1]!.type : ''
    if (operator === 'Mod') return '`%`'
    if (isComparison(node)) {
      if (/^(Eql|EqlC|Neq)$/.test(operator)) return 'a comparison'
      isOrdered = true
    }
    const name = node.type === 'FunctionCall' || node.type === 'AggregateExpr' ? (nameOf(node) ?? '') : ''
    if (JUMPS.has(name) || name.startsWith('histogram_')) return `\`${name}\``
    // What is above does not see the numbers any more.
    if (BLIND_TO_VALUES.has(name) || DEGREE_OF_RANGE_FUNCTION[name] === 0) break
  }
  return isOrdered ? 'order' : undefined
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
function cancelled(place: PromqlNode, text: string, scale: Scale, mode: FactorMode): Edit[] | undefined {
  const written = factorText(inverse(scale))
  const product = place.parent
  if (product?.type !== 'BinaryExpr' || product.children[0] !== place) return undefined
  if (text.slice(place.to, product.to) !== written) return undefined
  if (!isFactorOfWayBack(product, text, scale, mode)) return undefined
  const factor = { start: place.to, end: product.to, text: '' }
  const parens = product.parent
  if (parens !== undefined && isTight(product) && needsParens(parens)) {
    return [
      { start: parens.from, end: parens.from + 1, text: '' },
      { ...factor, end: parens.to },
    ]
  }
  return needsParens(product) ? undefined : [factor]
}

/** Whether the way back would write the factor of a product there. */
function isFactorOfWayBack(product: PromqlNode, text: string, scale: Scale, mode: FactorMode): boolean {
  const nameOf = (node: PromqlNode) => callName(node, text)
  // Without the factor the comparison would be one of those that change their numbers instead.
  if (!isPowerOfTwo(scale) && chainAbove(product, text, inverse(scale), nameOf) !== undefined) return false
  // Nor where the numbers do not matter, or where it cannot know.
  const call = callAround(climb(product, ['ParenExpr']))
  return !isBlind(call, nameOf, mode) && (product.children[0]!.type === 'FunctionCall' || !isVariable(call, nameOf))
}

/** Whether it fills parentheses. */
function isTight({ parent, from, to }: PromqlNode): boolean {
  return parent?.type === 'ParenExpr' && parent.from === from - 1 && parent.to === to + 1
}

/**
 * Whether a product would have to stand in parentheses there. Those that are there already are not seen, so that the way back knows
 * which of them came with the factor.
 */
function needsParens(node: PromqlNode): boolean {
  const { parent } = node
  if (parent === undefined) return false
  if (isTight(node)) return needsParens(parent)
  if (parent.type === 'BinaryExpr') {
    const operator = parent.children[1]!.type
    return operator === 'Pow' || (LIKE_TIMES.has(operator) && parent.children[0] !== node)
  }
  return ['UnaryExpr', 'SubqueryExpr', 'MatrixSelector', 'OffsetExpr', 'StepInvariantExpr'].includes(parent.type)
}
