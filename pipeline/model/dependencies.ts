/** What a function looked at while it ran, and whether any of it has changed since. */
import type { Look } from './label-processor.ts'
import type { Entry } from './tracked.ts'

/** Versions only grow, so their sum is enough to see that one of them has. */
export type Dependencies = { readonly entries: readonly Entry<unknown>[]; readonly versions: number }

/** What one GPU of a pod looks at all others do, and they come one after the other: the list is shared. */
let last: Dependencies = { entries: [], versions: 0 }

/** Runs a function with a `look` that takes note. */
export function recordLooks<T>(run: (look: Look) => T): { result: T; dependencies: Dependencies | undefined } {
  const entries: Entry<unknown>[] = []
  let versions = 0
  const result = run(entry => {
    entries.push(entry)
    versions += entry.version
    return entry.value
  })
  if (entries.length === 0) return { result, dependencies: undefined }
  // A list that grew has room for more, which a copy has not.
  if (!isLast(entries, versions)) last = { entries: entries.slice(), versions }
  return { result, dependencies: last }
}

function isLast(entries: readonly Entry<unknown>[], versions: number): boolean {
  if (last.versions !== versions || last.entries.length !== entries.length) return false
  for (let i = 0; i < entries.length; i++) if (entries[i] !== last.entries[i]) return false
  return true
}

export function haveChanged({ entries, versions }: Dependencies): boolean {
  // Whoever keeps much asks this of all of it when anything has changed.
  let sum = 0
  for (let i = 0; i < entries.length; i++) sum += entries[i]!.version
  return sum !== versions
}
