/**
 * Gives labels the one spelling that they have on facts.
 *
 * `pod` on a row may be the workload or, where Prometheus stands in between, the exporter itself, with the workload in
 * `exported_pod`. A row of a GPU that nobody holds has only the plain label, so the row alone does not tell: it is decided for the
 * whole target, by the first spelling that any of its rows has ever had.
 */
import type { InputCatalog } from '../../pipeline/catalog/input-catalog.ts'
import { getLabel, labelPairs, labelsFrom, type Labels } from '../../pipeline/model/labels.ts'

/** For each label that is decided for the whole target, the place of its best spelling in the list of them. */
export type Shown = readonly number[]

type Spelt = {
  readonly name: string
  readonly spellings: readonly string[]
  readonly ofTarget: number
  readonly stripUntil: string | undefined
}

export type Speller = {
  /** What a target shows before any row was seen: the plain names. */
  readonly nothingShown: Shown
  /** What it shows with the label names of one more row: the same object as before, and as all who show the same have. */
  show(names: readonly string[], shown: Shown): Shown
  /** `target` are the labels of the source itself. */
  spell(labels: Labels, shown: Shown, target: Labels): Labels
}

export function createSpeller({ labels: rules, dropLabels, devices }: InputCatalog): Speller {
  const spelt: Spelt[] = []
  const decided: Spelt[] = []
  for (const [name, { from, of_target: isOfTarget, strip_until: stripUntil }] of Object.entries(rules)) {
    const one = { name, spellings: [...from, name], ofTarget: isOfTarget ? decided.length : -1, stripUntil }
    spelt.push(one)
    if (isOfTarget) decided.push(one)
  }
  const dropped = new Set(dropLabels)
  const changing = new Set([
    ...dropped,
    ...spelt.flatMap(({ name, spellings }) => spellings.filter(one => one !== name)),
  ])
  const plainLists = new WeakMap<readonly string[], boolean>()

  /** Whether no name of a list is to be changed. Lists are shared by many rows. */
  function isPlain(names: readonly string[]): boolean {
    let plain = plainLists.get(names)
    if (plain === undefined) plainLists.set(names, (plain = !names.some(name => changing.has(name))))
    return plain
  }

  const staysAsItIs = devices === undefined && spelt.every(({ stripUntil }) => stripUntil === undefined)
  const holderLabels = [devices?.pod, devices?.namespace, devices?.container, devices?.pod_uid]

  /** Whether the row names the exporter where it should name who holds the GPU. */
  function namesExporter(pairs: ReadonlyMap<string, string>, target: Labels): boolean {
    if (devices?.pod === undefined) return false
    const pod = pairs.get(devices.pod)
    if (pod !== undefined && pod === getLabel(target, devices.pod)) return true
    return Object.entries(devices.nobody).some(([label, values]) => values.includes(pairs.get(label) ?? ''))
  }

  /** There are as many as combinations of spellings. */
  const known = new Map<string, Shown>()

  function shared(shown: Shown): Shown {
    const key = shown.join(' ')
    if (!known.has(key)) known.set(key, shown)
    return known.get(key)!
  }

  return {
    nothingShown: shared(decided.map(({ spellings }) => spellings.length - 1)),
    show(names, shown) {
      const best = decided.map(({ spellings }, i) => {
        const place = spellings.findIndex(spelling => names.includes(spelling))
        return place < 0 ? shown[i]! : Math.min(place, shown[i]!)
      })
      return best.every((place, i) => place === shown[i]) ? shown : shared(best)
    },
    spell(labels, shown, target) {
      if (
        isPlain(labels.names) &&
        staysAsItIs &&
        decided.every(({ spellings }, i) => shown[i] === spellings.length - 1)
      ) {
        return labels
      }
      const pairs = new Map(labelPairs(labels))
      for (const { name, spellings, ofTarget, stripUntil } of spelt) {
        const usable = ofTarget < 0 ? spellings : spellings.slice(0, shown[ofTarget]! + 1)
        const found = usable.find(spelling => pairs.has(spelling))
        const value = found === undefined ? undefined : pairs.get(found)!
        for (const spelling of spellings) pairs.delete(spelling)
        if (value !== undefined) pairs.set(name, stripUntil === undefined ? value : stripped(value, stripUntil))
      }
      for (const name of dropped) pairs.delete(name)
      if (namesExporter(pairs, target)) for (const name of holderLabels) if (name !== undefined) pairs.delete(name)
      return labelsFrom(pairs)
    },
  }
}

function stripped(value: string, until: string): string {
  const at = value.lastIndexOf(until)
  return at < 0 ? value : value.slice(at + until.length)
}
