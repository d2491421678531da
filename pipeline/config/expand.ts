/**
 * Replaces references by what they stand for: `${env:NAME}`, `${env:NAME:-default}`, `${NAME}`, `${file:path}`.
 *
 * A value that is one reference and nothing else becomes what YAML makes of the text behind it (a number, a list, a map), and
 * remembers the text itself for places that want one: `0123` in a key for texts stays `0123`. In the middle of a text a
 * reference becomes the text. What is behind a reference may hold further ones.
 */
import { closest } from './closest.ts'
import type { Finding } from './finding.ts'
import type { Retrieved, Scheme } from './schemes.ts'
import { createSource, type Place } from './source.ts'
import { mayHaveReferences, onlyReference, parseTemplate, referenceParts, splitDefault } from './template.ts'
import type { Reference, Template } from './template.ts'
import { readYaml, relocate } from './yaml-source.ts'
import type { YamlEntry, YamlHole, YamlMap, YamlNode, YamlScalar } from './yaml-source.ts'

export type Expander = {
  /** The tree without references. What could not be worked out becomes a hole. */
  readonly expandAll: (node: YamlNode) => YamlNode
  /** A value that is one reference becomes what it stands for; every other stays as it is. */
  readonly expandWhole: (node: YamlNode) => YamlNode
}

/** Bounds for values that grow while they are expanded; no honest config comes near. */
const MAX_DEPTH = 50
const MAX_REFERENCES = 100_000
const MAX_CHARACTERS = 16 * 1024 * 1024

/** What is being expanded, from the inside out. */
type Chain = { readonly key: string; readonly label: string; readonly outer: Chain | undefined; readonly depth: number }

type Scope = {
  readonly chain: Chain | undefined
  readonly report: (finding: Finding) => void
  readonly locate: (reference: Reference) => Place
}

type Behind =
  | { readonly isDefault: true; readonly template: Template }
  | { readonly isDefault: false; readonly text: string; readonly root: YamlNode | undefined; readonly scope: Scope }

/** `schemes` are what may stand before the colon; where there is none, `env` is meant. */
export function createExpander(schemes: ReadonlyMap<string, Scheme>, report: (finding: Finding) => void): Expander {
  let references = 0
  let characters = 0
  let isSpent = false

  function expandAll(node: YamlNode): YamlNode {
    return expandTree(node, { chain: undefined, report, locate: () => node.place })
  }

  function expandWhole(node: YamlNode): YamlNode {
    return isScalarText(node) && onlyReference(parseTemplate(node.value)) !== undefined ? expandAll(node) : node
  }

  function expandTree(node: YamlNode, scope: Scope): YamlNode {
    if (node.kind === 'list') return { ...node, items: node.items.map(item => expandTree(item, scope)) }
    if (node.kind === 'map') return mapValues(node, value => expandTree(value, scope))
    if (!isScalarText(node) || !mayHaveReferences(node.value)) return node
    const chain = scope.chain ?? rootOf(node)
    return expandText(node.value, node.place, { ...scope, chain, locate: reference => placeIn(node, reference) })
  }

  function expandText(text: string, place: Place, scope: Scope): YamlNode {
    const template = parseTemplate(text)
    const reference = onlyReference(template)
    if (reference !== undefined) return nodeBehind(reference, scope)
    const value = textOf(template, scope)
    return value === undefined ? holeAt(place) : { kind: 'scalar', place, value, spelling: value, expanded: true }
  }

  /** Undefined if something in it cannot be worked out, which is reported then. */
  function textOf(template: Template, scope: Scope): string | undefined {
    const pieces = template.map(piece => (typeof piece === 'string' ? piece : textBehind(piece, scope)))
    return pieces.includes(undefined) ? undefined : pieces.join('')
  }

  function textBehind(reference: Reference, scope: Scope): string | undefined {
    const behind = lookBehind(reference, scope)
    if (behind === undefined) return undefined
    return behind.isDefault ? textOf(behind.template, scope) : textOf(parseTemplate(behind.text), behind.scope)
  }

  function nodeBehind(reference: Reference, scope: Scope): YamlNode {
    const place = scope.locate(reference)
    const behind = lookBehind(reference, scope)
    if (behind === undefined) return holeAt(place)
    if (behind.isDefault) return defaultNode(behind.template, place, scope)
    const { text, root = valueOf(text, place) } = behind
    if (isScalarText(root)) return expandText(text, place, behind.scope)
    const silent = { ...behind.scope, report: () => {} }
    return { ...expandTree(root, behind.scope), asText: () => textOf(parseTemplate(text), silent) }
  }

  function defaultNode(template: Template, place: Place, scope: Scope): YamlNode {
    const reference = onlyReference(template)
    if (reference !== undefined) return nodeBehind(reference, scope)
    const text = textOf(template, scope)
    if (text === undefined) return holeAt(place)
    // An empty default is an empty text, where an empty variable is nothing at all.
    if (text === '') return { kind: 'scalar', place, value: text, spelling: text, expanded: true }
    return { ...markExpanded(valueOf(text, place)), asText: () => text }
  }

  function lookBehind(reference: Reference, scope: Scope): Behind | undefined {
    if (isSpent) return undefined
    const place = scope.locate(reference)
    const fail = (message: string, suggestion?: string): undefined => {
      const { chain } = scope
      const isElsewhere = chain !== undefined && chain.key !== `file:${place.source.path}`
      scope.report({ place, message: isElsewhere ? `${message} (in ${chain.label})` : message, suggestion })
    }
    const body = typeof reference.body[0] === 'object' ? asTemplate(textOf(reference.body, scope)) : reference.body
    if (body === undefined) return undefined
    const { scheme: schemeName, isBare, rest } = referenceParts(body, schemes)
    const scheme = schemes.get(schemeName)
    if (scheme === undefined) {
      const known = [...schemes.keys()]
      return fail(`unknown source \`${schemeName}\`; there are ${known.join(' and ')}`, closest(schemeName, known))
    }
    const { name: nameTemplate, fallback } = scheme.takesDefault ? splitDefault(rest) : { name: rest }
    const name = textOf(nameTemplate, scope)
    if (name === undefined) return undefined
    const retrieved = scheme.retrieve(name, place)
    if ('text' in retrieved) return follow(retrieved, place, scope, fail)
    if (retrieved.isUnset && fallback !== undefined) return { isDefault: true, template: fallback }
    return fail(isBare ? `${retrieved.problem}; a capture is written \`$\${${name}}\`` : retrieved.problem)
  }

  function follow(
    { key, label, text, document }: Extract<Retrieved, { text: string }>,
    place: Place,
    scope: Scope,
    fail: (message: string) => undefined,
  ): Behind | undefined {
    const chain = { key, label, outer: scope.chain, depth: (scope.chain?.depth ?? 0) + 1 }
    const cycle = cycleOf(chain)
    if (cycle !== undefined) return fail(`${label} refers to itself: ${cycle}`)
    if (chain.depth > MAX_DEPTH) return fail(`references lead over more than ${MAX_DEPTH} steps from one to the next`)
    references++
    characters += text.length
    isSpent = references > MAX_REFERENCES || characters > MAX_CHARACTERS
    // Reported even where the text was wanted only in case: from here on nothing is expanded.
    if (isSpent) report({ place, message: 'references make far more text than a config needs' })
    for (const finding of document?.findings ?? []) scope.report(finding)
    if (isSpent || document?.broken) return undefined
    return { isDefault: false, text, root: document?.root, scope: { ...scope, chain, locate: () => place } }
  }

  return { expandAll, expandWhole }
}

/** The file that holds a value is the first in the chain: it must not take itself in. */
function rootOf(node: YamlNode): Chain | undefined {
  const { path, name } = node.place.source
  return path === undefined ? undefined : { key: `file:${path}`, label: name, outer: undefined, depth: 0 }
}

function cycleOf(chain: Chain): string | undefined {
  const labels = [chain.label]
  for (let outer = chain.outer; outer !== undefined; outer = outer.outer) {
    labels.unshift(outer.label)
    if (outer.key === chain.key) return labels.join(' -> ')
  }
  return undefined
}

/** What YAML makes of a text. A text that is no YAML, or that YAML takes for a text, is taken letter by letter, quotes included. */
function valueOf(text: string, place: Place): YamlNode {
  const { root, findings } = readYaml(createSource('', text))
  if (findings.length > 0 || isScalarText(root)) return { kind: 'scalar', place, value: text, spelling: text }
  return relocate(root, () => place)
}

/** Marks texts as what they are: they came out of references and may look like some. */
function markExpanded(node: YamlNode): YamlNode {
  if (node.kind === 'scalar') return { ...node, expanded: true }
  if (node.kind === 'list') return { ...node, items: node.items.map(markExpanded) }
  return node.kind === 'map' ? mapValues(node, markExpanded) : node
}

function mapValues(node: YamlMap, change: (value: YamlNode) => YamlNode): YamlMap {
  const entries = new Map<string, YamlEntry>()
  for (const [key, { keyPlace, value }] of node.entries) entries.set(key, { keyPlace, value: change(value) })
  return { ...node, entries }
}

function asTemplate(text: string | undefined): Template | undefined {
  return text === undefined ? undefined : [text]
}

function isScalarText(node: YamlNode): node is YamlScalar & { value: string } {
  return node.kind === 'scalar' && typeof node.value === 'string' && !node.expanded
}

/** Where a reference stands in the file, as near as can be told: escapes in quoted texts move it. */
function placeIn(node: YamlScalar & { value: string }, reference: Reference): Place {
  const { source, start, end } = node.place
  const written = node.value.slice(reference.start, reference.end)
  const at = source.text.indexOf(written, start)
  return at < 0 || at + written.length > end ? node.place : { source, start: at, end: at + written.length }
}

function holeAt(place: Place): YamlHole {
  return { kind: 'hole', place }
}
