/** The JSON schema of an input catalog, for editors. */
import { closeMaps, mapSchemas, type Schema } from '../config/schema-walk.ts'
import { inputSchema } from './input-schema.ts'

export function inputEditorSchema(): object {
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    $comment: 'Generated from pipeline/catalog/input-schema.ts by `npm run generate`.',
    title: 'gpucol input catalog',
    ...mapSchemas(closeMaps(inputSchema), nothingIsAMap),
    type: 'object',
  }
}

/** A key without a value is an empty map: `from: { one_name, another_name }`. */
function nothingIsAMap(schema: Schema): Schema {
  return schema.type === 'object' ? { ...schema, type: ['object', 'null'] } : schema
}
