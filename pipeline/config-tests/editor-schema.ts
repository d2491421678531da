/** The JSON schema of test files for editors. */
import type { Registries } from '../component.ts'
import { editorSchema } from '../config/editor-schema.ts'
import { formats } from '../config/formats.ts'
import { mapSchemas, type Schema } from '../config/schema-walk.ts'
import { testSchema } from './test-schema.ts'

export function testEditorSchema(registries: Registries): object {
  const { properties: parts = {} } = editorSchema(registries) as Schema
  const { pattern: _, ...section } = parts['processors'] ?? {}
  const oneProcessor = { ...section, type: 'object', minProperties: 1, maxProperties: 1 }
  const { tests, ...file } = mapSchemas(testSchema as Schema, forEditors).properties!
  const withProcessors = (properties: Record<string, Schema>) => ({
    ...properties,
    processors: { ...properties['processors'], items: oneProcessor },
  })
  const test = tests!.items!
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    $comment: 'Generated from the code by `npm run generate`.',
    title: 'gpucol test file',
    ...testSchema,
    properties: {
      ...withProcessors(file),
      tests: { ...tests, items: { ...test, properties: withProcessors(test.properties!) } },
    },
  }
}

/** Editors do not know our formats, only what they look like. */
function forEditors({ format, ...schema }: Schema): Schema {
  if (format === undefined) return schema
  const { pattern, numbers } = formats[format]!
  return { ...schema, ...(pattern && { pattern }), ...(numbers && { type: ['string', 'integer'], ...numbers }) }
}
