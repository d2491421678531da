/** What a function looked at while it ran, and whether any of it has changed since. */
import type { Look } from './label-processor.ts'
import type { Entry } from './tracked.ts'

/**
 * First the sum of the versions, which is enough to see that one of them has changed, because they only grow; then the entries. One list,
 * for there are several of each pod.
 */
export type Dependencies = readonly [versions: number, ...entries: Entry<unknown>[]]

/** What one GPU of a pod looks at all others do, and they come one after the other: the list is shared. */
let last: Dependencies = [0]

/** What is looked at twice is noted once, unless there is so much that looking for it would take longer than noting it again. */
const MOST_COMPARED = 64

/** Runs a function with a `look` that takes note. */
export function recordLooks<T>(run: (look: Look) => T): { result: T; dependencies: Dependencies | undefined } {
  const looked: [number, ...Entry<unknown>[]] = [0]
  const result = run(entry => {
    if (looked.length <= MOST_COMPARED && looked.includes(entry)) return entry.value
    looked[0] += entry.version
    looked.push(entry)
    return entry.value
  })
  if (looked.length === 1) return { result, dependencies: undefined }
  // A list that grew has room for more, which a copy has not.
  if (!isLast(looked)) last = looked.slice() as typeof looked
  return { result, dependencies: last }
}

function isLast(looked: Dependencies): boolean {
  if (last.length !== looked.length) return false
  for (let i = 0; i < looked.length; i++) if (looked[i] !== last[i]) return false
  return true
}

export function haveChanged(dependencies: Dependencies): boolean {
  // Whoever keeps much asks this of all of it when anything has changed.
  let sum = 0
  for (let i = 1; i < dependencies.length; i++) sum += (dependencies[i] as Entry<unknown>).version
  return sum !== dependencies[0]
}

/** All of several lists as one. Undefined if any of it has changed since. */
export function allOf(lists: Iterable<Dependencies>): Dependencies | undefined {
  const entries = new Set<Entry<unknown>>()
  const known = new Set<Dependencies>()
  for (const list of lists) {
    if (known.has(list)) continue
    if (haveChanged(list)) return undefined
    known.add(list)
    for (let i = 1; i < list.length; i++) entries.add(list[i] as Entry<unknown>)
  }
  if (entries.size === 0) return NOTHING_LOOKED_AT
  if (known.size === 1) return known.values().next().value
  let versions = 0
  for (const { version } of entries) versions += version
  const all: [number, ...Entry<unknown>[]] = [versions, ...entries]
  // A list that grew has room for more, which a copy has not.
  return all.slice() as typeof all
}

const NOTHING_LOOKED_AT: Dependencies = [0]
