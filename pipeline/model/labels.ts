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

/** More labels than a label set mostly has. */
const MOST_INSERTED = 64

/** A call may have some ten thousand; whoever wants to do harm sends more labels than that. */
const MOST_ARGUMENTS = 1000

/**
 * Of label sets there are more than of anything else, so one is a single object: the list of its values, which has the names beside it.
 * Whoever asks for its values gets the set itself, as a list.
 */
class LabelSet extends Array<string> {
  readonly names: readonly string[]

  /** What is made of a label set, as by `map`, is none. */
  static override get [Symbol.species](): ArrayConstructor {
    return Array
  }

  constructor(names: readonly string[], values: readonly string[]) {
    super(...(values.length <= MOST_ARGUMENTS ? values : values.slice(0, MOST_ARGUMENTS)))
    for (let i = MOST_ARGUMENTS; i < values.length; i++) this.push(values[i]!)
    this.names = names
    Object.freeze(this)
  }
}

// Every array has a method of that name.
Object.defineProperty(LabelSet.prototype, 'values', {
  get(this: LabelSet): readonly string[] {
    return this
  },
})

const labelSets = createInternTable<Labels>()
// Label sets of one exporter have the same names, so the list of names is shared, too.
const nameLists = createInternTable<readonly string[]>()

/** How many distinct label sets are alive, for tests and own telemetry. */
export function internedLabelSets(): number {
  return labelSets.size
}

/** The label set with these pairs. Of two pairs with one name the later counts. */
export function labelsFrom(pairs: Iterable<readonly [string, string]>): Labels {
  const byName: ReadonlyMap<string, string> = pairs instanceof Map ? pairs : new Map(pairs)
  if (byName.size > MOST_INSERTED) return manyLabels(byName)
  const names: string[] = []
  const values: string[] = []
  for (const [name, value] of byName) if (value !== '') insert(names, values, name, value)
  return intern(names, values)
}

/** Of many, putting each in its place would take as long as somebody likes who sends them the other way round. */
function manyLabels(byName: ReadonlyMap<string, string>): Labels {
  const pairs = Array.from(byName).filter(([, value]) => value !== '')
  pairs.sort(([a], [b]) => (a < b ? -1 : 1))
  return intern(
    pairs.map(([name]) => name),
    pairs.map(([, value]) => value),
  )
}

/** Keeps both lists in the order of names. Label sets are small and mostly come in order. */
function insert(names: string[], values: string[], name: string, value: string): void {
  let at = names.length
  names.push(name)
  values.push(value)
  for (; at > 0 && names[at - 1]! > name; at--) {
    names[at] = names[at - 1]!
    values[at] = values[at - 1]!
  }
  names[at] = name
  values[at] = value
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

// Most label sets have the names of the one before, and comparing is cheaper than hashing.
let lastNames: readonly string[] = internNames(hashAll([]), [])
let lastNamesHash = hashAll([])

function intern(names: readonly string[], values: readonly string[]): Labels {
  if (!equal(names, lastNames)) {
    lastNamesHash = hashAll(names)
    lastNames = internNames(lastNamesHash, names)
  }
  const shared = lastNames
  let hash = lastNamesHash
  for (const value of values) hash = hashString(value, hash)
  return labelSets.intern(
    hash,
    known => known.names === shared && equal(known.values, values),
    () => new LabelSet(shared, values.map(recentText)) as unknown as Labels,
  )
}

/** Values of late: GPUs of a node, and nodes of one kind, have many in common, and each was read, or cut out of another, by itself. */
const recentTexts = Array.from({ length: 4096 }, () => '')
const LONGEST_RECENT = 128

function recentText(text: string): string {
  if (text.length > LONGEST_RECENT) return text
  const place = hashString(text) & (recentTexts.length - 1)
  const recent = recentTexts[place]!
  return recent === text ? recent : (recentTexts[place] = text)
}

function internNames(hash: number, names: readonly string[]): readonly string[] {
  return nameLists.intern(
    hash,
    known => equal(known, names),
    () => Object.freeze(names.slice()),
  )
}

export const EMPTY_LABELS: Labels = intern([], [])

/** The same for equal sets. Worked out each time: there are more sets than tables that find things by them. */
export function hashLabels({ values }: Labels): number {
  return hashAll(values)
}

function hashAll(texts: readonly string[]): number {
  let hash = 0x811c9dc5
  for (const text of texts) hash = hashString(text, hash)
  return hash
}

function equal(a: readonly string[], b: readonly string[]): boolean {
  if (a.length !== b.length) return false
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false
  return true
}
