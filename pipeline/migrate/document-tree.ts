/** A file as a tree in which every text knows where each of its characters stands in the file. JSON and YAML give the same tree. */

export type TreeNode = TreeMap | TreeList | TreeText | TreeOther
export type TreeMap = { readonly kind: 'map'; readonly start: number; readonly entries: readonly TreeEntry[] }
export type TreeEntry = { readonly key: TreeText; readonly value: TreeNode }
export type TreeList = { readonly kind: 'list'; readonly start: number; readonly items: readonly TreeNode[] }
export type TreeText = {
  readonly kind: 'text'
  readonly start: number
  readonly text: string
  /**
   * Where in the file a character of the text begins; `text.length` gives where the text ends. Undefined where the way from the file
   * to the text is not known, so that nothing can be changed.
   */
  originOf(index: number): number | undefined
  spell: Spell
}
/** How something that is put into a text is written in the file; undefined where it cannot be. */
export type Spell = (text: string) => string | undefined
/** A number, `true`, `null`: nothing that anything is rewritten in. */
export type TreeOther = { readonly kind: 'other'; readonly start: number }

/** A text that is no JSON or YAML; `offset` is where that shows. */
export class SyntaxProblem extends Error {
  override name = 'SyntaxProblem'
  readonly offset: number

  constructor(message: string, offset: number) {
    super(message)
    this.offset = offset
  }
}

/** Deeper than anything that people write, and shallow enough for a walk that calls itself. */
export const MAX_DEPTH = 200

export function valueAt(node: TreeNode | undefined, key: string): TreeNode | undefined {
  return node?.kind === 'map' ? node.entries.find(entry => entry.key.text === key)?.value : undefined
}

export function textAt(node: TreeNode | undefined, key: string): TreeText | undefined {
  const value = valueAt(node, key)
  return value?.kind === 'text' ? value : undefined
}

export function itemsAt(node: TreeNode | undefined, key: string): readonly TreeNode[] {
  const value = valueAt(node, key)
  return value?.kind === 'list' ? value.items : []
}

/** All texts of a tree in the order of the file, keys included. */
export function textsOf(root: TreeNode): TreeText[] {
  const texts: TreeText[] = []
  function visit(node: TreeNode): void {
    if (node.kind === 'text') texts.push(node)
    else if (node.kind === 'list') node.items.forEach(visit)
    else if (node.kind === 'map') {
      for (const { key, value } of node.entries) {
        texts.push(key)
        visit(value)
      }
    }
  }
  visit(root)
  return texts
}
