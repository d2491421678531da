/** Which series of a source have a name already that others would get. */
import type { Translation } from '../../pipeline/catalog/translation.ts'
import type { Labels } from '../../pipeline/model/labels.ts'
import { labelsAt, metricAt, type Layout } from '../../pipeline/model/layout.ts'

/** By name of a metric the label sets that it has. */
export type NamesTaken = ReadonlyMap<string, ReadonlySet<Labels>>

/** One object, so that nothing is asked again where names cannot meet. */
const NOTHING_TAKEN: NamesTaken = new Map()

export function namesTaken(layout: Layout, { metrics }: Translation): NamesTaken {
  const names = new Set(layout.metrics.map(({ name }) => name))
  const wanted = new Set<string>()
  for (const name of names) {
    for (const { to } of metrics.get(name) ?? []) if (to !== undefined && to !== name && names.has(to)) wanted.add(to)
  }
  if (wanted.size === 0) return NOTHING_TAKEN
  const taken = new Map(Array.from(wanted, name => [name, new Set<Labels>()]))
  for (let column = 0; column < layout.metricOf.length; column++) {
    taken.get(metricAt(layout, column).name)?.add(labelsAt(layout, column))
  }
  return taken
}
