/** The pages of all output and legacy catalogs, the former with example lines from a cluster that is run for them. */
import { readdirSync } from 'node:fs'
import { basename } from 'node:path'
import type { Catalog } from '../catalog/catalog-file.ts'
import { catalogPage } from '../catalog/catalog-page.ts'
import { createCatalogs } from '../catalog/catalogs.ts'
import { legacyPage } from '../catalog/legacy-page.ts'
import { loadTranslation } from '../catalog/translation.ts'
import type { Registries } from '../component.ts'
import { ConfigError } from '../config/config-error.ts'
import { loadSuites } from '../config-tests/run-suites.ts'
import { runTest } from '../config-tests/run-test.ts'
import { renderText } from '../formats/render-text.ts'
import { packageFile } from '../package-files.ts'

const CLUSTER = packageFile('configs', 'reference/cluster.test.yaml')

/** By file name in `configs/`. */
export async function catalogPages(registries: Registries): Promise<Map<string, string>> {
  const directory = packageFile('configs', 'catalogs')
  const catalogs = createCatalogs(directory)
  const lines = await exampleLines(registries)
  const rollUp = registries.processors.find(({ type }) => type === 'roll_up')
  const options: Readonly<Record<string, { readonly description?: string }>> = rollUp?.config.properties ?? {}
  const pages = new Map<string, string>()
  for (const file of readdirSync(directory).sort()) {
    if (!file.endsWith('.yaml')) continue
    const name = basename(file, '.yaml')
    const catalog = catalogs.load(name) as Catalog
    if (catalog.kind === 'legacy' && catalog.successor !== undefined) {
      pages.set(`reference/${name}.md`, legacyPage(catalog, loadTranslation(catalogs, name, catalog.successor)))
    }
    if (catalog.kind !== 'output') continue
    const page = catalogPage(catalog, {
      name,
      exampleOf: metric => lines.find(line => isOf(line, metric)),
      describe: option => options[option]?.description ?? '',
    })
    pages.set(`reference/${name}.md`, page)
  }
  return pages
}

/** A histogram is there as its buckets. */
function isOf(line: string, metric: string): boolean {
  const name = /^[^{ ]*/.exec(line)![0]
  return name === metric || name === `${metric}_bucket`
}

/** What the exporters have at the end of the test. */
async function exampleLines(registries: Registries): Promise<readonly string[]> {
  const { tests, problems } = await loadSuites([CLUSTER], { registries, env: {} })
  const [loaded] = tests
  if (loaded?.subject === undefined) throw new ConfigError(problems)
  let text = ''
  await runTest(loaded.test, loaded.subject, {
    version: '',
    onStep(_, { batches }) {
      text = Array.from(batches.values(), latest => renderText(latest.values())).join('')
    },
  })
  return text
    .split('\n')
    .filter(line => line !== '' && !line.startsWith('#'))
    .sort()
}
