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
  return { result, dependencies: entries.length === 0 ? undefined : { entries, versions } }
}

export function haveChanged({ entries, versions }: Dependencies): boolean {
  return entries.some((entry, i) => entry.version !== versions[i])
}
