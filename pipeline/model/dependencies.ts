/** What a function looked at while it ran, and whether any of it has changed since. */
import type { Look } from './label-processor.ts'
import type { Entry } from './tracked.ts'

export type Dependencies = { readonly entries: readonly Entry<unknown>[]; readonly versions: readonly number[] }

/** Runs a function with a `look` that takes note. */
export function recordLooks<T>(run: (look: Look) => T): { result: T; dependencies: Dependencies | undefined } {
  const entries: Entry<unknown>[] = []
  const versions: number[] = []
  const result = run(entry => {
    entries.push(entry)
    versions.push(entry.version)
    return entry.value
  })
  // A list that grew has room for more, which a copy has not.
  return {
    result,
    dependencies: entries.length === 0 ? undefined : { entries: entries.slice(), versions: versions.slice() },
  }
}

export function haveChanged({ entries, versions }: Dependencies): boolean {
  // Whoever keeps much asks this of all of it when anything has changed.
  for (let i = 0; i < entries.length; i++) if (entries[i]!.version !== versions[i]) return true
  return false
}
