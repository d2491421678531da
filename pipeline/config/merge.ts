/** Puts several configs together: maps merge deeply, everything else is replaced, and nothing (`key:`) equals an empty map. */
import type { YamlEntry, YamlMap, YamlNode } from './yaml-source.ts'

/**
 * `over` wins. References are followed (by `expandWhole`) only where they decide how to merge, so that a variable that is not
 * set does no harm in a value that is replaced.
 */
export function mergeNodes(base: YamlNode, over: YamlNode, expandWhole: (node: YamlNode) => YamlNode): YamlNode {
  const winner = expandWhole(over)
  const isNothing = winner.kind === 'scalar' && winner.value === null
  if (winner.kind !== 'map' && !isNothing) return winner
  const loser = expandWhole(base)
  if (loser.kind !== 'map') return winner
  return winner.kind === 'map' ? mergeMaps(loser, winner, expandWhole) : loser
}

function mergeMaps(base: YamlMap, over: YamlMap, expandWhole: (node: YamlNode) => YamlNode): YamlMap {
  const entries = new Map<string, YamlEntry>(base.entries)
  for (const [key, entry] of over.entries) {
    const below = base.entries.get(key)
    if (below === undefined) {
      entries.set(key, entry)
      continue
    }
    const value = mergeNodes(below.value, entry.value, expandWhole)
    // A map that several files contribute to is defined by the first of them.
    const keyPlace = value.kind === 'map' ? below.keyPlace : entry.keyPlace
    entries.set(key, { keyPlace, value })
  }
  return { kind: 'map', place: base.place, entries }
}
