/** What is wrong with translations that configs ask for. */
import type { Problem } from '../component.ts'
import { closest } from '../config/closest.ts'
import { packageFile } from '../package-files.ts'
import { createCatalogs, messagesOf } from './catalogs.ts'
import { generationOf } from './generations.ts'
import { loadTranslation, olderMetrics, type Translation } from './translation.ts'

/** Each mistake is at the option that is to blame. */
export function translationProblems(
  from: string,
  to: string,
  variant: string | undefined,
): { readonly translation: Translation | undefined; readonly problems: readonly Problem[] } {
  const catalogs = createCatalogs(packageFile('configs', 'catalogs'))
  const problems: Problem[] = []
  const attempt = <T>(option: string, load: () => T): T | undefined => {
    try {
      return load()
    } catch (error) {
      problems.push(...messagesOf(error as Error).map(message => ({ path: [option], message })))
      return undefined
    }
  }
  attempt('from', () => generationOf(catalogs, from))
  attempt('to', () => generationOf(catalogs, to))
  if (problems.length > 0) return { translation: undefined, problems }
  const usual = attempt('to', () => loadTranslation(catalogs, from, to))
  const translation = usual && attempt('variant', () => loadTranslation(catalogs, from, to, variant))
  return { translation, problems }
}

/** Of older names. */
export function olderNameProblems(names: readonly string[], translation: Translation): Problem[] {
  const known = new Set(olderMetrics(translation).map(({ name }) => name))
  return names.flatMap(name => {
    if (known.has(name)) return []
    const { from, to, older } = translation
    const meant = closest(name, known)
    const hint = meant === undefined ? '' : `; did you mean \`${meant}\`?`
    const message = `${(older === 'from' ? from : to).name} has no \`${name}\` that would be another in ${(older === 'from' ? to : from).name}${hint}`
    return [{ path: [name], message }]
  })
}
