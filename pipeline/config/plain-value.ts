/** Turns a tree into the plain value that components get, with the schema's help where a text is wanted. */
import { formats } from './formats.ts'
import { nearPath } from './near-path.ts'
import { setOwn } from './plain-object.ts'
import { allowsType, hasFormat, schemasBelow, typeOf, typesOf, type Schema } from './schema-walk.ts'
import type { YamlMap, YamlNode, YamlScalar } from './yaml-source.ts'

export type Path = readonly (string | number)[]

export type PlainOptions = {
  /** Called for what could not be worked out; null stands in for it. */
  readonly onHole?: (path: Path) => void
  /** Called for keys without a value. Without it they are null; with it they are left out, so that the default counts. */
  readonly onNothing?: (path: Path) => void
}

export function plainValue(
  node: YamlNode,
  schemas: readonly Schema[],
  options: PlainOptions = {},
  path: Path = [],
): unknown {
  if (node.kind === 'hole') {
    options.onHole?.(path)
    return null
  }
  const text = textWanted(node, schemas)
  if (text === undefined && node.kind === 'map') return plainMap(node, schemas, options, path)
  if (text === undefined && node.kind === 'list')
    return node.items.map((item, index) => plainValue(item, schemasBelow(schemas, index), options, [...path, index]))
  const value = text ?? (node as YamlScalar).value
  // A name has no extension: what has one is a file, which may stand beside the config.
  const isFile = typeof value === 'string' && /\.ya?ml$/.test(value) && hasFormat(schemas, 'catalog')
  return isFile ? nearPath(value, node.place) : value
}

function plainMap(
  node: YamlMap,
  schemas: readonly Schema[],
  options: PlainOptions,
  path: Path,
): Record<string, unknown> {
  const result = {}
  for (const [key, { value: child }] of node.entries) {
    const below = schemasBelow(schemas, key)
    const childPath = [...path, key]
    let value = plainValue(child, below, options, childPath)
    if (value === null && child.kind !== 'hole' && options.onNothing !== undefined) {
      const types = typesOf(below)
      // Nothing is an empty map where a map belongs, and otherwise as good as not mentioned.
      if (types?.has('object')) value = {}
      else if (types !== undefined && !types.has('null')) {
        options.onNothing(childPath)
        continue
      }
    }
    setOwn(result, key, value)
  }
  return result
}

/** The text to use instead of what YAML made of it. */
function textWanted(node: Exclude<YamlNode, { kind: 'hole' }>, schemas: readonly Schema[]): string | undefined {
  const types = typesOf(schemas)
  if (!types?.has('string')) return undefined
  const type = node.kind === 'map' ? 'object' : node.kind === 'list' ? 'array' : typeOf(node.value)
  if (allowsType(types, type)) return undefined
  return node.asText?.() ?? numberAsText(node, schemas)
}

/** Bytes may be a plain number, and a duration a plain 0; both are texts with a format, so that components see one type. */
function numberAsText(node: YamlNode, schemas: readonly Schema[]): string | undefined {
  if (node.kind !== 'scalar' || typeof node.value !== 'number' || !Number.isSafeInteger(node.value)) return undefined
  const { value } = node
  const isTaken = Object.entries(formats).some(([format, { numbers }]) => {
    if (numbers === undefined || !hasFormat(schemas, format)) return false
    return value >= numbers.minimum && value <= (numbers.maximum ?? value)
  })
  return isTaken ? String(value) : undefined
}
