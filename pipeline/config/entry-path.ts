/** Finds places in a tree by path. */
import type { Path } from './plain-value.ts'
import type { Place } from './source.ts'
import type { YamlEntry, YamlNode } from './yaml-source.ts'

/** Where a key stands. A path that leads nowhere, as that of a default does, is at the last key that exists. */
export function placeOfKey(entry: YamlEntry, path: Path): Place {
  return follow(entry, path).entry.keyPlace
}

/** Where a value stands; where it has none, its key. */
export function placeOfValue(entry: YamlEntry, path: Path): Place {
  const { entry: last, isWhole } = follow(entry, path)
  const { place } = last.value
  return isWhole && place.end > place.start ? place : last.keyPlace
}

export function nodeAt(entry: YamlEntry, path: Path): YamlNode | undefined {
  const { entry: last, isWhole } = follow(entry, path)
  return isWhole ? last.value : undefined
}

function follow(entry: YamlEntry, path: Path): { entry: YamlEntry; isWhole: boolean } {
  let at = entry
  for (const key of path) {
    const next = below(at.value, key)
    if (next === undefined) return { entry: at, isWhole: false }
    at = next
  }
  return { entry: at, isWhole: true }
}

function below(node: YamlNode, key: string | number): YamlEntry | undefined {
  if (node.kind === 'map') return node.entries.get(String(key))
  if (node.kind !== 'list' || typeof key !== 'number') return undefined
  const item = node.items[key]
  return item && { keyPlace: item.place, value: item }
}

/** The path with numbers where lists are, which a JSON pointer does not tell. */
export function typedPath(entry: YamlEntry, parts: readonly string[]): Path {
  const path: (string | number)[] = []
  let node: YamlNode | undefined = entry.value
  for (const part of parts) {
    const key: string | number = node?.kind === 'list' ? Number(part) : part
    path.push(key)
    node = node && below(node, key)?.value
  }
  return path
}

/** As people write it: `rules[2].action`. */
export function formatPath(path: Path): string {
  return path.map((key, index) => (typeof key === 'number' ? `[${key}]` : index === 0 ? key : `.${key}`)).join('')
}
