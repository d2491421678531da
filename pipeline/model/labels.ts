/**
 * Label sets: interned and shared, so that two equal label sets are one object and `===` compares them.
 *
 * As in Prometheus, a label with an empty value is a label that is not there. Names are sorted.
 */
import { createInternTable, hashString } from './intern.ts'

/** Never made by hand: only `labelsFrom` and its relatives make one. Position i holds the name and the value of label i. */
export type Labels = {
  readonly names: readonly string[]
  readonly values: readonly string[]
}

const labelSets = createInternTable<Labels>()
// Label sets of one exporter have the same names, so the list of names is shared, too.
const nameLists = createInternTable<readonly string[]>()

export const EMPTY_LABELS: Labels = intern([], [])

/** How many distinct label sets are alive, for tests and own telemetry. */
export function internedLabelSets(): number {
  return labelSets.size
}

/** The label set with these pairs. Of two pairs with one name the later counts. */
export function labelsFrom(pairs: Iterable<readonly [string, string]>): Labels {
  const byName = new Map(pairs)
  for (const [name, value] of byName) if (value === '') byName.delete(name)
  const names = [...byName.keys()].sort()
  return intern(
    names,
    names.map(name => byName.get(name)!),
  )
}

export function getLabel(labels: Labels, name: string): string | undefined {
  const index = labels.names.indexOf(name)
  return index < 0 ? undefined : labels.values[index]
}

/** These labels with some set, and those set to undefined or '' left out. The same object if nothing changes. */
export function withLabels(labels: Labels, changes: Iterable<readonly [string, string | undefined]>): Labels {
  const pairs = new Map(labelPairs(labels))
  for (const [name, value] of changes) pairs.set(name, value ?? '')
  return labelsFrom(pairs)
}

export function withoutLabels(labels: Labels, names: ReadonlySet<string>): Labels {
  return labelsFrom(labelPairs(labels).filter(([name]) => !names.has(name)))
}

export function labelPairs(labels: Labels): [string, string][] {
  return labels.names.map((name, i) => [name, labels.values[i]!])
}

function intern(names: readonly string[], values: readonly string[]): Labels {
  let namesHash = 0x811c9dc5
  for (const name of names) namesHash = hashString(name, namesHash)
  let hash = namesHash
  for (const value of values) hash = hashString(value, hash)
  return labelSets.intern(
    hash,
    known => equal(known.names, names) && equal(known.values, values),
    () => Object.freeze({ names: internNames(namesHash, names), values: Object.freeze(values) }),
  )
}

function internNames(hash: number, names: readonly string[]): readonly string[] {
  return nameLists.intern(
    hash,
    known => equal(known, names),
    () => Object.freeze(names),
  )
}

function equal(a: readonly string[], b: readonly string[]): boolean {
  if (a.length !== b.length) return false
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false
  return true
}
