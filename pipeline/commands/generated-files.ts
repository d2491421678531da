/** The files in `configs/` that are made from the definitions of the components. */
import {
  inputEditorSchema,
  legacyEditorSchema,
  vendorEditorSchema,
  outputEditorSchema,
} from '../catalog/editor-schema.ts'
import type { Registries } from '../component.ts'
import { testEditorSchema } from '../config-tests/editor-schema.ts'
import { editorSchema } from '../config/editor-schema.ts'
import { referencePage } from '../config/reference.ts'
import { renderOwnMetricsPage } from '../telemetry/own-metrics-page.ts'
import { catalogPages } from './catalog-pages.ts'
import { exampleManifest } from './rbac.ts'

/** What each file holds, by its name. */
export async function generatedFiles(registries: Registries): Promise<ReadonlyMap<string, string>> {
  return new Map([
    ['schema.json', schemaText(registries)],
    ['test-schema.json', jsonText(testEditorSchema(registries))],
    ['catalogs/input-catalog.schema.json', jsonText(inputEditorSchema())],
    ['catalogs/output-catalog.schema.json', jsonText(outputEditorSchema())],
    ['catalogs/legacy-catalog.schema.json', jsonText(legacyEditorSchema())],
    ['vendors/vendor.schema.json', jsonText(vendorEditorSchema())],
    ['reference.md', referencePage(registries)],
    ['own-metrics.md', renderOwnMetricsPage()],
    ['kubernetes/rbac.yaml', exampleManifest(registries)],
    ...(await catalogPages(registries)),
  ])
}

/** The schema of a config, for editors. */
export function schemaText(registries: Registries): string {
  return jsonText(editorSchema(registries))
}

function jsonText(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`
}
