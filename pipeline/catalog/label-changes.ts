/** What becomes of the labels of a metric in another generation. */
import { IDS_OF_WORKLOADS } from './attributes.ts'
import { leadsTo, type Generation } from './generation.ts'

export type LabelChanges = {
  readonly renamed: readonly RenamedLabel[]
  /** Labels without a successor. */
  readonly removed: readonly string[]
  /** Labels that have to be looked up. */
  readonly added: readonly string[]
  /** Labels that the new name has and the old one implied. */
  readonly fixed: Readonly<Record<string, string>>
  /** Labels, with values, that a series must have to be meant; the new name implies them. */
  readonly match: Readonly<Record<string, string>>
}

/** One label in the place of another; where its value is another, too, that is looked up. */
export type RenamedLabel = {
  readonly from: string
  readonly to: string
  readonly sameValue: boolean
  /** Both are ids, so that series with different values of the one have different values of the other. */
  readonly areIds: boolean
}

/** `own` are labels that have other names on this metric alone, by the older of the two. */
export function labelChanges(
  from: readonly string[] | undefined,
  to: readonly string[] | undefined,
  source: Generation,
  target: Generation,
  own: Readonly<Record<string, string>>,
): Pick<LabelChanges, 'renamed' | 'removed' | 'added'> {
  const areKnown = from !== undefined && to !== undefined
  const isRenamed = (one: string, other: string): boolean =>
    !areKnown || (from.includes(one) && !to.includes(one) && to.includes(other) && !from.includes(other))
  const pairs = Object.entries(own).map(
    ([one, other]) => (leadsTo(source, target) ? [one, other] : [other, one]) as [string, string],
  )
  const renamed = [...labelPairs(source, target), ...pairs]
    .filter(([one, other]) => isRenamed(one, other))
    .map(([one, other]) => ({
      from: one,
      to: other,
      sameValue: source.attributes.get(one) === target.attributes.get(other),
      areIds: IDS_OF_WORKLOADS.has(source.attributes.get(one)) && IDS_OF_WORKLOADS.has(target.attributes.get(other)),
    }))
  if (!areKnown) return { renamed, removed: [], added: [] }
  const gone = new Set(renamed.map(change => change.from))
  const come = new Set(renamed.map(change => change.to))
  return {
    renamed,
    removed: from.filter(label => !to.includes(label) && !gone.has(label)),
    added: to.filter(label => !from.includes(label) && !come.has(label)),
  }
}

/** Labels of one generation with those that stand in their place in another. */
function labelPairs(source: Generation, target: Generation): [string, string][] {
  if (!leadsTo(source, target)) return labelPairs(target, source).map(([one, other]) => [other, one])
  const pairs = new Map<string, string>()
  for (let at = source; at.name !== target.name; at = at.next!) {
    for (const [one, other] of pairs) pairs.set(one, at.successors.get(other) ?? other)
    for (const [one, other] of at.successors) if (!pairs.has(one)) pairs.set(one, other)
  }
  return [...pairs]
}
