/** PromQL as a tree, by the grammar that Prometheus publishes for editors. */
import { parser } from '@prometheus-io/lezer-promql'
import type { SyntaxNode } from '@lezer/common'

export type PromqlNode = {
  /** As the grammar calls it: `VectorSelector`, `BinaryExpr`. */
  readonly type: string
  readonly from: number
  readonly to: number
  readonly children: readonly PromqlNode[]
  readonly parent: PromqlNode | undefined
}

/** What the grammar has under another name since Prometheus 3, and a name of the same length that it knows. */
const FORMER_FUNCTION = /\bholt_winters(?=\s*\()/g
const KNOWN_FUNCTION = 'day_of_month'

/** More would be too deep for what walks the tree. */
const MAX_DEPTH = 500

/** Or where the text stops to be PromQL. */
export function parsePromql(text: string): { readonly root: PromqlNode } | { readonly errorAt: number } {
  const modifiers = findModifiers(text)
  const tree = parser.parse(modifiers.textWithout.replaceAll(FORMER_FUNCTION, KNOWN_FUNCTION))
  const attached = new Set<number>()
  let errorAt: number | undefined

  function convert(node: SyntaxNode, parent: PromqlNode | undefined, depth: number): PromqlNode {
    const end = modifiers.ends.get(node.to)
    if (end !== undefined && MODIFIED.has(node.name)) return modified(node, end, parent, depth)
    return plain(node, ENDING_LATER.has(node.name) ? (end ?? node.to) : node.to, parent, depth)
  }

  function modified(node: SyntaxNode, to: number, parent: PromqlNode | undefined, depth: number): PromqlNode {
    const children: PromqlNode[] = []
    const around = { type: 'OffsetExpr', from: node.from, to, children, parent }
    attached.add(node.to)
    children.push(plain(node, node.to, around, depth))
    return around
  }

  function plain(node: SyntaxNode, to: number, parent: PromqlNode | undefined, depth: number): PromqlNode {
    const children: PromqlNode[] = []
    const converted = { type: node.name, from: node.from, to, children, parent }
    if (node.type.isError || depth > MAX_DEPTH) errorAt ??= node.from
    if (depth > MAX_DEPTH) return converted
    for (let child = node.firstChild; child !== null; child = child.nextSibling) {
      if (child.name !== 'LineComment') children.push(convert(child, converted, depth + 1))
    }
    return converted
  }

  const root = plain(tree.topNode, text.length, undefined, 0)
  for (const start of modifiers.ends.keys()) if (!attached.has(start)) errorAt ??= start
  if (errorAt !== undefined) return { errorAt }
  // The grammar takes nothing for an expression, and so a text of comments alone.
  return root.children.length === 1 ? { root: root.children[0]! } : { errorAt: 0 }
}

const MODIFIED = new Set(['VectorSelector', 'MatrixSelector', 'SubqueryExpr'])
const ENDING_LATER = new Set(['BinaryExpr', 'UnaryExpr'])

const BLANKS = String.raw`(?:\s|#[^\n]*\n)*`
const DURATION = String.raw`(?:-${BLANKS})?(?:\d[\w.]*|\([^()]*\))`
const INSTANT = String.raw`(?:[-+]?${BLANKS}[\d.][\w.]*|(?:start|end)${BLANKS}\(${BLANKS}\))`
const MODIFIERS = new RegExp(`(?:${BLANKS}(?:\\boffset\\b${BLANKS}${DURATION}|@${BLANKS}${INSTANT}))+`, 'iy')
const PASSED = /"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|`[^`]*`|#[^\n]*/sy

/**
 * `offset` and `@` belong to the selector before them. The grammar gives them all that stands before, as in `1 < x offset 5m`, and from
 * there on takes operators in a wrong order. So the parser does not see them, and what they modify is put together here.
 */
function findModifiers(text: string): { textWithout: string; ends: ReadonlyMap<number, number> } {
  const ends = new Map<number, number>()
  const parts: string[] = []
  let at = 0
  while (at < text.length) {
    PASSED.lastIndex = at
    const passed = PASSED.exec(text)
    MODIFIERS.lastIndex = at
    // A modifier cannot begin in the middle of a word.
    const found = passed === null && !/\w\w/.test(text.slice(at - 1, at + 1)) ? MODIFIERS.exec(text) : null
    const length = (passed ?? found)?.[0].length ?? 1
    if (found === null) parts.push(text.slice(at, at + length))
    else {
      ends.set(at, at + length)
      parts.push(found[0].replace(/[^\n]/g, ' '))
    }
    at += length
  }
  return { textWithout: parts.join(''), ends }
}

export function childOf(node: PromqlNode, type: string): PromqlNode | undefined {
  return node.children.find(child => child.type === type)
}
