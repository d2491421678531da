/**
 * Comparisons of a metric with numbers when its unit changes by a factor that computers cannot apply exactly, such as 100: 0.29 * 100 is
 * less than 29. There the number is changed and the factor applied to what passes: `x > 29` becomes `(y > 0.29) * 100`.
 */
import type { Scale } from '../model/scale.ts'
import type { Edit } from './edits.ts'
import type { PromqlNode } from './promql-tree.ts'
import { TRANSPARENT } from './range-functions.ts'

export type Chain = {
  /** The comparison, or the last of several: `x >= 0 <= 100`. */
  readonly top: PromqlNode
  readonly edits: readonly Edit[]
  /** It gives 0 or 1, which have no unit. */
  readonly isBool: boolean
  /** Something was added up on the way, in which rounding may differ between units. */
  readonly isRounded: boolean
  /** Some comparison asks for more than which is larger, and not for zero, which is the same in every unit. */
  readonly wantsEqual: boolean
}

const ORDERED = new Set(['Gtr', 'Gte', 'Lss', 'Lte'])
const EQUAL = new Set(['Eql', 'EqlC', 'Neq'])

export function isComparison(node: PromqlNode): boolean {
  const operator = node.type === 'BinaryExpr' ? node.children[1]!.type : ''
  return ORDERED.has(operator) || EQUAL.has(operator)
}

/** The comparisons with numbers that a part of an expression is in, through whatever hands its unit on. */
export function chainAbove(
  place: PromqlNode,
  text: string,
  scale: Scale,
  nameOf: (node: PromqlNode) => string | undefined,
): Chain | undefined {
  let isRounded = false
  let node = place
  for (;;) {
    const { parent } = node
    if (parent === undefined) return undefined
    if (isComparison(parent)) break
    if (parent.type === 'FunctionCallBody') {
      const kind = TRANSPARENT[nameOf(parent.parent!) ?? '']
      if (kind === undefined) return undefined
      isRounded ||= kind === 'rounds'
      node = parent.parent!
    } else if (['ParenExpr', 'SubqueryExpr', 'OffsetExpr', 'StepInvariantExpr'].includes(parent.type)) {
      node = parent
    } else {
      return undefined
    }
  }
  return chainFrom(node, text, scale, isRounded)
}

function chainFrom(place: PromqlNode, text: string, scale: Scale, isRounded: boolean): Chain | undefined {
  const edits: Edit[] = []
  let top = place
  let isBool = false
  let wantsEqual = false
  while (!isBool && top.parent !== undefined && isComparison(top.parent)) {
    const comparison = top.parent
    const [left, right] = [comparison.children[0]!, comparison.children.at(-1)!]
    const number = left === top ? right : left
    const literal = text.slice(number.from, number.to)
    const scaled = number.type === 'NumberDurationLiteral' ? scaledDecimal(literal, scale) : undefined
    if (scaled === undefined) return undefined
    edits.push({ start: number.from, end: number.to, text: scaled })
    isBool = comparison.children.some(({ type }) => type === 'BoolModifier')
    wantsEqual ||= EQUAL.has(comparison.children[1]!.type) && literal !== '0'
    top = comparison
  }
  return { top, edits, isBool, isRounded, wantsEqual }
}

/** The number in the new unit; undefined unless it can be written out and leads back to the same text. */
function scaledDecimal(literal: string, { multiply, divide }: Scale): string | undefined {
  const there = times(literal, BigInt(multiply), BigInt(divide))
  return there !== undefined && times(there, BigInt(divide), BigInt(multiply)) === literal ? there : undefined
}

/** Longer numbers are no thresholds that anybody wrote. */
const MAX_DIGITS = 15

function times(literal: string, multiply: bigint, divide: bigint): string | undefined {
  const parts = /^(\d+)(?:\.(\d+))?$/.exec(literal)
  if (parts === null) return undefined
  const [, whole, fraction = ''] = parts
  // So many places that any division by 2 and 5 that fits comes out even.
  const places = fraction.length + MAX_DIGITS
  const product = BigInt(whole! + fraction) * multiply * 10n ** BigInt(MAX_DIGITS)
  if (product % divide !== 0n) return undefined
  const digits = String(product / divide).padStart(places + 1, '0')
  const text = `${digits.slice(0, -places)}.${digits.slice(-places)}`.replace(/\.?0+$/, '')
  return text.length <= MAX_DIGITS ? text : undefined
}
