/**
 * Reads YAML into a tree in which every key and value knows its place, for anything that users write and that must be able to
 * say `file:line:column`. Knows nothing of what the YAML is about.
 *
 * The dialect is the OpenTelemetry Collector's: YAML 1.2 with merge keys (`<<`) and with `0123` read as octal. Keys are texts,
 * unique in their map. Aliases are resolved, as long as that does not make a small file large.
 */
import {
  isAlias,
  isMap,
  isScalar,
  isSeq,
  parseDocument,
  type Alias,
  type Pair,
  type ParsedNode,
  type Scalar,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml'
import type { Finding } from './finding.ts'
import { lineAndColumn, type Place, type Source } from './source.ts'
import { syntaxFindings } from './yaml-syntax.ts'
import { YAML_OPTIONS } from './yaml-dialect.ts'

export type YamlNode = YamlMap | YamlList | YamlScalar | YamlHole
type YamlPart = {
  readonly place: Place
  /** The text to take where a text is wanted. Only what came out of a variable or a file has one, and not all of that. */
  readonly asText?: () => string | undefined
}
export type YamlMap = YamlPart & { readonly kind: 'map'; readonly entries: ReadonlyMap<string, YamlEntry> }
export type YamlEntry = { readonly keyPlace: Place; readonly value: YamlNode }
export type YamlList = YamlPart & { readonly kind: 'list'; readonly items: readonly YamlNode[] }
export type YamlScalar = YamlPart & {
  readonly kind: 'scalar'
  readonly value: YamlValue
  /** How it is written; `value` may have lost that (`0123`, `1e3`). */
  readonly spelling: string
  /** Holds no reference any more, even where it looks like one. */
  readonly expanded?: true
}
export type YamlValue = string | number | boolean | null
/** Something was here and could not be worked out; the finding exists already. */
export type YamlHole = YamlPart & { readonly kind: 'hole' }

export type YamlDocument = {
  readonly root: YamlNode
  readonly findings: readonly Finding[]
  /** The text is no YAML, or too much of it, so the tree holds only a part of what is meant. */
  readonly broken: boolean
}

/** What aliases may add to a document: enough for any honest use, and nothing for a bomb. */
const MAX_ALIASED_NODES = 20_000
const MAX_DEPTH = 100

export function readYaml(source: Source): YamlDocument {
  const document = parseDocument(source.text, YAML_OPTIONS)
  const syntax = syntaxFindings(source, document)
  const reader = createReader(source)
  const root = reader.read(document.contents, 0)
  if (syntax.length > 0) return { root, findings: syntax, broken: true }
  return { root, findings: reader.findings, broken: reader.isBomb() }
}

function createReader(source: Source) {
  const findings: Finding[] = []
  const anchors = new Map<string, YamlNode | undefined>()
  const weights = new WeakMap<YamlNode, number>()
  let aliased = 0

  function placeOf(node: { range?: readonly [number, number, number] | null | undefined }): Place {
    const [start, end] = node.range ?? [0, 0]
    return { source, start, end }
  }

  function report(place: Place, message: string): YamlHole {
    findings.push({ place, message, isAboutYaml: true })
    return { kind: 'hole', place }
  }

  function read(node: ParsedNode | null, depth: number): YamlNode {
    if (node === null) return nothingAt({ source, start: 0, end: 0 })
    if (isAlias(node)) return readAlias(node)
    // An alias inside of its own anchor finds undefined.
    if (node.anchor !== undefined) anchors.set(node.anchor, undefined)
    const result = readContent(node, depth)
    if (node.anchor !== undefined) anchors.set(node.anchor, result)
    weights.set(result, weightOf(result))
    return result
  }

  function readContent(node: Exclude<ParsedNode, Alias.Parsed>, depth: number): YamlNode {
    if (depth > MAX_DEPTH) return report(placeOf(node), `nested more than ${MAX_DEPTH} levels deep`)
    if (isMap(node)) return readMap(node, depth)
    if (isSeq(node)) return readList(node, depth)
    return readScalar(node)
  }

  function readScalar(node: Scalar.Parsed): YamlNode {
    const place = placeOf(node)
    const { value } = node
    const spelling = source.text.slice(place.start, place.end)
    if (value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
      return { kind: 'scalar', place, value, spelling }
    return report(place, 'this kind of value is not known')
  }

  function readList(node: YAMLSeq.Parsed, depth: number): YamlList {
    return { kind: 'list', place: placeOf(node), items: node.items.map(item => read(item as ParsedNode, depth + 1)) }
  }

  function readMap(node: YAMLMap.Parsed, depth: number): YamlMap {
    const entries = new Map<string, YamlEntry>()
    const merged: YamlEntry[] = []
    for (const pair of node.items as Pair<ParsedNode, ParsedNode | null>[]) {
      if (!isScalar(pair.key)) {
        report(placeOf(pair.key), 'a key must be a text')
        continue
      }
      const key = String(pair.key.value)
      const keyPlace = placeOf(pair.key)
      const value =
        pair.value === null
          ? nothingAt({ source, start: keyPlace.end, end: keyPlace.end })
          : read(pair.value, depth + 1)
      const first = entries.get(key)
      if (key === '<<' && pair.key.type === 'PLAIN') merged.push({ keyPlace, value })
      else if (key === '') report(keyPlace, 'a key is empty')
      else if (first === undefined) entries.set(key, { keyPlace, value })
      else
        report(keyPlace, `duplicate key \`${key}\`, first in line ${lineAndColumn(source, first.keyPlace.start).line}`)
    }
    for (const entry of merged) mergeInto(entries, entry)
    return { kind: 'map', place: placeOf(node), entries }
  }

  /** What a map says itself wins over what `<<` brings, and an earlier map of `<<` over a later one. */
  function mergeInto(entries: Map<string, YamlEntry>, { keyPlace, value }: YamlEntry): void {
    const maps = value.kind === 'list' ? value.items : [value]
    for (const map of maps) {
      if (map.kind === 'map') {
        for (const [key, entry] of map.entries) if (!entries.has(key)) entries.set(key, entry)
      } else if (map.kind !== 'hole') report(keyPlace, '`<<` takes a map, or a list of maps')
    }
  }

  function readAlias(node: Alias.Parsed): YamlNode {
    const place = placeOf(node)
    if (!anchors.has(node.source)) return report(place, `no anchor \`&${node.source}\` stands before this alias`)
    const target = anchors.get(node.source)
    if (target === undefined) return report(place, `\`*${node.source}\` refers to itself`)
    const before = aliased
    aliased += weights.get(target)!
    if (aliased <= MAX_ALIASED_NODES) return target
    // Once is enough: a bomb has many of them.
    if (before > MAX_ALIASED_NODES) return { kind: 'hole', place }
    return report(place, `aliases make more than ${MAX_ALIASED_NODES} values of this file`)
  }

  function weightOf(node: YamlNode): number {
    let weight = 1
    if (node.kind === 'list') for (const item of node.items) weight += weights.get(item) ?? 1
    if (node.kind === 'map') for (const { value } of node.entries.values()) weight += weights.get(value) ?? 1
    return weight
  }

  return { findings, read, isBomb: () => aliased > MAX_ALIASED_NODES }
}

/** The same tree at other places. */
export function relocate(node: YamlNode, move: (place: Place) => Place): YamlNode {
  const place = move(node.place)
  if (node.kind === 'list') return { ...node, place, items: node.items.map(item => relocate(item, move)) }
  if (node.kind !== 'map') return { ...node, place }
  const entries = new Map<string, YamlEntry>()
  for (const [key, { keyPlace, value }] of node.entries)
    entries.set(key, { keyPlace: move(keyPlace), value: relocate(value, move) })
  return { ...node, place, entries }
}

function nothingAt(place: Place): YamlScalar {
  return { kind: 'scalar', place, value: null, spelling: '' }
}
