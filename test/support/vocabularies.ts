/** The vocabularies of the shipped catalogs, as `gpucol migrate` uses them. */
import { createCatalogs } from '../../pipeline/catalog/catalogs.ts'
import { loadTranslation } from '../../pipeline/catalog/translation.ts'
import { vocabularyOf } from '../../pipeline/migrate/translated-vocabulary.ts'
import type { Vocabulary } from '../../pipeline/migrate/vocabulary.ts'
import { packageFile } from '../../pipeline/package-files.ts'

export function vocabularyBetween(from: string, to: string): Vocabulary {
  const catalogs = createCatalogs(packageFile('configs', 'catalogs'))
  return vocabularyOf(loadTranslation(catalogs, from, to), loadTranslation(catalogs, to, from))
}
