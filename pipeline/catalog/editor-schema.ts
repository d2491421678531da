/** The JSON schemas of catalogs, for editors. */
import { closeMaps, mapSchemas, type Schema } from '../config/schema-walk.ts'
import { inputSchema } from './input-schema.ts'
import { legacySchema } from './legacy-schema.ts'
import { outputSchema } from './output-schema.ts'
import { vendorSchema } from './vendor-schema.ts'

export function inputEditorSchema(): object {
  return editorSchemaOf('input', inputSchema)
}

export function outputEditorSchema(): object {
  return editorSchemaOf('output', outputSchema)
}

export function legacyEditorSchema(): object {
  return editorSchemaOf('legacy', legacySchema)
}

export function vendorEditorSchema(): object {
  return editorSchemaOf('vendor', vendorSchema, 'gpucol preset of a vendor')
}

function editorSchemaOf(kind: string, schema: Schema, title = `gpucol ${kind} catalog`): object {
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    $comment: `Generated from pipeline/catalog/${kind}-schema.ts by \`npm run generate\`.`,
    title,
    ...mapSchemas(closeMaps(schema), nothingIsAMap),
    type: 'object',
  }
}

/** A key without a value is an empty map: `from: { one_name, another_name }`. */
function nothingIsAMap(schema: Schema): Schema {
  return schema.type === 'object' ? { ...schema, type: ['object', 'null'] } : schema
}
