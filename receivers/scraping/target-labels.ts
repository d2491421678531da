/** How the labels of a target and those of its samples become one label set, as Prometheus does it. */
import { labelsFrom, type Labels } from '../../pipeline/model/labels.ts'

const EXPORTED = 'exported_'

/**
 * With `honorLabels` a label of the sample stands, and an empty one keeps the target's away. Without it the target's stand, and
 * what the sample said is kept under a name with `exported_` in front, as often as it takes to find one that is free.
 */
export function withTargetLabels(
  sample: ReadonlyMap<string, string>,
  target: readonly (readonly [string, string])[],
  honorLabels: boolean,
): Labels {
  const merged = new Map(sample)
  if (honorLabels) {
    for (const [name, value] of target) if (!merged.has(name)) merged.set(name, value)
    return labelsFrom(merged)
  }
  const displaced: [string, string][] = []
  for (const [name, value] of target) {
    const exposed = merged.get(name) ?? ''
    if (exposed !== '') displaced.push([name, exposed])
    merged.set(name, value)
  }
  // Shorter names first, so that the result does not depend on the order of labels.
  displaced.sort(([a], [b]) => a.length - b.length)
  for (const [name, value] of displaced) {
    let free = EXPORTED + name
    while ((merged.get(free) ?? '') !== '') free = EXPORTED + free
    merged.set(free, value)
  }
  return labelsFrom(merged)
}
