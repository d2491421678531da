/** A YAML map whose values know where they stand, so that a mistake can be pointed at. */
import {
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  parseDocument,
  type Document,
  type Node,
  type Pair,
  type YAMLMap,
} from 'yaml'

/** Readers of values throw an Error with `file:line:column` if a value is of another type. A null is a value that is not there. */
export type PlacedMap = {
  readonly file: string
  /** Where a value stands, or the map itself: `file:line:column`. */
  place(key?: string): string
  /** Undefined also where the text is empty. */
  text(key: string): string | undefined
  flag(key: string): boolean
  map(key: string): PlacedMap | undefined
  maps(key: string): readonly PlacedMap[]
  texts(key: string): readonly string[]
  /** Whatever it is. */
  plain(key: string): unknown
}

/** Undefined if the text says nothing at all. Throws an Error with the place of the first mistake, and without the text around it. */
export function readPlacedMap(file: string, text: string): PlacedMap | undefined {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: false })
  const at = (offset: number): string => {
    const { line, col } = lines.linePos(offset)
    return `${file}:${line}:${col}`
  }
  const [problem] = document.errors
  if (problem !== undefined) throw new Error(`${at(problem.pos[0])}: ${lowerCaseFirst(problem.message)}`)
  const { contents } = document
  if (contents === null || (isScalar(contents) && contents.value === null)) return undefined
  const source: Source = { file, document, at }
  if (!isMap(contents)) throw mistake(source, contents, `expected a map`)
  return placedMap(source, contents)
}

type Source = { readonly file: string; readonly document: Document.Parsed; at(offset: number): string }

function placedMap(source: Source, map: YAMLMap): PlacedMap {
  function find(key: string): Node | undefined {
    const pair = (map.items as Pair<Node, Node | null>[]).findLast(item => isScalar(item.key) && item.key.value === key)
    const value = resolved(source, pair?.value)
    return value === undefined || (isScalar(value) && value.value === null) ? undefined : value
  }

  function list(key: string): readonly Node[] {
    const node = find(key)
    if (node === undefined) return []
    if (!isSeq(node)) throw mistake(source, node, `"${key}" must be a list`)
    return node.items.flatMap(item => resolved(source, item as Node) ?? [])
  }

  return {
    file: source.file,
    place: key => source.at(((key === undefined ? undefined : find(key)) ?? map).range?.[0] ?? 0),
    text(key) {
      const node = find(key)
      if (node === undefined) return undefined
      if (isScalar(node) && typeof node.value === 'string') return node.value === '' ? undefined : node.value
      throw mistake(source, node, `"${key}" must be a text`)
    },
    flag(key) {
      const node = find(key)
      if (node === undefined) return false
      if (isScalar(node) && typeof node.value === 'boolean') return node.value
      throw mistake(source, node, `"${key}" must be true or false`)
    },
    map(key) {
      const node = find(key)
      if (node === undefined) return undefined
      if (isMap(node)) return placedMap(source, node)
      throw mistake(source, node, `"${key}" must be a map`)
    },
    maps: key =>
      list(key).map(node => {
        if (isMap(node)) return placedMap(source, node)
        throw mistake(source, node, `an item of "${key}" must be a map`)
      }),
    texts: key =>
      list(key).map(node => {
        if (isScalar(node) && typeof node.value === 'string') return node.value
        throw mistake(source, node, `an item of "${key}" must be a text`)
      }),
    plain: key => find(key)?.toJS(source.document) as unknown,
  }
}

function resolved({ document }: Source, node: Node | null | undefined): Node | undefined {
  if (node === null || node === undefined) return undefined
  return isAlias(node) ? node.resolve(document) : node
}

function mistake(source: Source, node: Node, message: string): Error {
  return new Error(`${source.at(node.range?.[0] ?? 0)}: ${message}`)
}

function lowerCaseFirst(text: string): string {
  return text.slice(0, 1).toLowerCase() + text.slice(1)
}
