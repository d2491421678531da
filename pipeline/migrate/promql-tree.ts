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

/** More would be too deep for what walks the tree. */
const MAX_DEPTH = 500

/** Or where the text stops to be PromQL. */
export function parsePromql(text: string): { readonly root: PromqlNode } | { readonly errorAt: number } {
  if (text.trim() === '') return { errorAt: 0 }
  const tree = parser.parse(text)
  let errorAt: number | undefined

  function convert(node: SyntaxNode, parent: PromqlNode | undefined, depth: number): PromqlNode {
    const children: PromqlNode[] = []
    const converted = { type: node.name, from: node.from, to: node.to, children, parent }
    if (node.type.isError || depth > MAX_DEPTH) errorAt ??= node.from
    if (depth > MAX_DEPTH) return converted
    for (let child = node.firstChild; child !== null; child = child.nextSibling) {
      if (child.name !== 'LineComment') children.push(convert(child, converted, depth + 1))
    }
    return converted
  }

  const root = convert(tree.topNode, undefined, 0)
  if (errorAt !== undefined) return { errorAt }
  // The grammar takes nothing for an expression, and so a text of comments alone.
  return root.children.length === 1 ? { root: root.children[0]! } : { errorAt: 0 }
}

export function childOf(node: PromqlNode, type: string): PromqlNode | undefined {
  return node.children.find(child => child.type === type)
}
