/** What a function looked at while it ran, and whether any of it has changed since. */
import type { Look } from './label-processor.ts'
import type { Entry } from './tracked.ts'

/** Versions only grow, so their sum is enough to see that one of them has. */
export type Dependencies = { readonly entries: readonly Entry<unknown>[]; readonly versions: number }

/** Runs a function with a `look` that takes note. */
export function recordLooks<T>(run: (look: Look) => T): { result: T; dependencies: Dependencies | undefined } {
  const entries: Entry<unknown>[] = []
  let versions = 0
  const result = run(entry => {
    entries.push(entry)
    versions += entry.version
    return entry.value
  })
  // A list that grew has room for more, which a copy has not.
  return {
    result,
    dependencies: entries.length === 0 ? undefined : { entries: entries.slice(), versions },
  }
}

export function haveChanged({ entries, versions }: Dependencies): boolean {
  // Whoever keeps much asks this of all of it when anything has changed.
  let sum = 0
  for (let i = 0; i < entries.length; i++) sum += entries[i]!.version
  return sum !== versions
}
