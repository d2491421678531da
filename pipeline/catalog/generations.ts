/** Finds generations by the names of their catalogs. */
import type { Catalogs } from '../component.ts'
import type { Catalog } from './catalog-file.ts'
import { generationOfLegacy, generationOfOutput, type Generation } from './generation.ts'

/** Throws if there is no such catalog, it is not right, or it has no generations. */
export function generationOf(catalogs: Catalogs, nameOrPath: string): Generation {
  const catalog = catalogs.load(nameOrPath) as Catalog
  if (catalog.kind === 'output') return generationOfOutput(nameOrPath, catalog)
  if (catalog.kind !== 'legacy') {
    throw new Error(`catalog "${nameOrPath}" has no older or newer names: it is one of ${catalog.kind}`)
  }
  const { successor } = catalog
  return generationOfLegacy(
    nameOrPath,
    catalog,
    successor === undefined ? undefined : generationOf(catalogs, successor),
  )
}
