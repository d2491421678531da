/** Reads YAML, one document or several, into a tree that knows places. */
import {
  isAlias,
  isMap,
  isScalar,
  isSeq,
  parseAllDocuments,
  type Document,
  type ParsedNode,
  type Scalar,
  type YAMLMap,
} from 'yaml'
import { createSource } from '../config/source.ts'
import { syntaxFindings } from '../config/yaml-syntax.ts'
import { MAX_DEPTH, SyntaxProblem, type Spell, type TreeEntry, type TreeNode, type TreeText } from './document-tree.ts'
import { alignScalar } from './yaml-origins.ts'

const OPTIONS = { version: '1.2', schema: 'core', uniqueKeys: false, prettyErrors: false, logLevel: 'silent' } as const

type ToFile = (offset: number) => number | undefined

/**
 * The documents of a stream become the items of a list. `toFile` leads from places in `text` to places in the file, where the text itself
 * is one of another document.
 */
export function readYaml(text: string, toFile: ToFile = offset => offset, spellIn: Spell = inner => inner): TreeNode {
  const documents = parseDocuments(text)
  for (const document of documents) refuseErrors(text, document, toFile)
  const items = documents.map(document =>
    readNode(document.contents, { text, toFile, spellIn, document, known: new Map(), isInBrackets: false }, 0),
  )
  return items.length === 1 ? items[0]! : { kind: 'list', start: 0, items }
}

function parseDocuments(text: string): Document.Parsed[] {
  try {
    const documents = parseAllDocuments(text, OPTIONS)
    return 'empty' in documents ? [] : documents
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw new SyntaxProblem('nested too deeply', 0)
  }
}

function refuseErrors(text: string, document: Document.Parsed, toFile: ToFile): void {
  if (document.errors.length === 0) return
  // A tag that is not known is no obstacle here.
  document.warnings = []
  const [first] = syntaxFindings(createSource('', text), document)
  const offset = first?.place.start ?? document.errors[0]!.pos[0]
  throw new SyntaxProblem(`this is no YAML: ${first?.message ?? 'it cannot be read'}`, toFile(offset) ?? toFile(0) ?? 0)
}

type Whole = {
  readonly text: string
  readonly toFile: ToFile
  readonly spellIn: Spell
  readonly document: Document.Parsed
  /** A text that aliases stand for is one and the same wherever it is. */
  readonly known: Map<Scalar.Parsed, TreeText>
  /** In `[...]` or `{...}`, where texts without quotes end at commas and brackets. */
  readonly isInBrackets: boolean
}

function readNode(node: ParsedNode | null, around: Whole, depth: number): TreeNode {
  if (node === null) return { kind: 'other', start: 0 }
  if (isAlias(node)) {
    const meant = node.resolve(around.document)
    // What an alias stands for is in the tree where its anchor is; but for texts it is there once, as many may be nested.
    const text = isScalar(meant) ? around.known.get(meant as Scalar.Parsed) : undefined
    return text ?? { kind: 'other', start: 0 }
  }
  const hasBrackets = (isMap(node) || isSeq(node)) && node.flow === true
  const whole = hasBrackets ? { ...around, isInBrackets: true } : around
  const start = whole.toFile(node.range[0]) ?? 0
  if (depth > MAX_DEPTH) throw new SyntaxProblem(`nested more than ${MAX_DEPTH} levels deep`, start)
  if (isMap(node)) return { kind: 'map', start, entries: readEntries(node, whole, depth) }
  if (isSeq(node)) {
    return { kind: 'list', start, items: node.items.map(item => readNode(item as ParsedNode, whole, depth + 1)) }
  }
  return readScalar(node, whole) ?? { kind: 'other', start }
}

function readEntries(map: YAMLMap.Parsed, whole: Whole, depth: number): TreeEntry[] {
  const entries = map.items.flatMap(({ key, value }) => {
    const keyText = isScalar(key) ? readScalar(key as Scalar.Parsed, whole) : undefined
    return keyText === undefined ? [] : [{ key: keyText, value: readNode(value, whole, depth + 1) }]
  })
  return [...entries, ...mergedEntries(map, whole)]
}

/** What `<<: *anchor` brings: texts that the map does not have itself. The rest is where the anchor is. */
function mergedEntries(map: YAMLMap.Parsed, { document, known }: Whole): TreeEntry[] {
  const merged = map.items.find(({ key }) => isScalar(key) && key.value === '<<')?.value
  const meant = isAlias(merged) ? merged.resolve(document) : undefined
  if (!isMap(meant)) return []
  return meant.items.flatMap(({ key, value }) => {
    const [keyText, text] = [key, value].map(node => known.get(node as Scalar.Parsed))
    return keyText === undefined || text === undefined || map.has(keyText.text) ? [] : [{ key: keyText, value: text }]
  })
}

function readScalar(scalar: Scalar.Parsed, whole: Whole): TreeText | undefined {
  const text = whole.known.get(scalar) ?? textFrom(scalar, whole)
  if (text !== undefined) whole.known.set(scalar, text)
  return text
}

function textFrom(scalar: Scalar.Parsed, { text, toFile, spellIn, isInBrackets }: Whole): TreeText | undefined {
  const { value, range, type } = scalar
  if (typeof value !== 'string') return undefined
  let origins: readonly number[] | undefined
  let isAligned = false
  function originOf(index: number): number | undefined {
    if (!isAligned) origins = alignScalar(value as string, text, range[0], range[1], type ?? 'PLAIN')
    isAligned = true
    const origin = origins?.[index]
    return origin === undefined ? undefined : toFile(origin)
  }
  return {
    kind: 'text',
    start: toFile(range[0]) ?? 0,
    text: value,
    originOf,
    spell(added) {
      const spelling = spelled(added, type, isInBrackets)
      return spelling === undefined ? undefined : spellIn(spelling)
    },
  }
}

function spelled(text: string, type: string | undefined, isInBrackets: boolean): string | undefined {
  if (type === 'QUOTE_DOUBLE') return JSON.stringify(text).slice(1, -1)
  if (type === 'QUOTE_SINGLE') return text.replaceAll("'", "''")
  return type === 'PLAIN' && (isInBrackets ? /[,[\]{}]/ : /: | #/).test(text) ? undefined : text
}
