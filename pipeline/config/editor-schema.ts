/** The JSON schema of a whole config for editors, which complete keys by it, explain them and underline mistakes. */
import type { Registries } from '../component.ts'
import { configSchema } from './config-schema.ts'
import { formats } from './formats.ts'
import { closeMaps, mapSchemas, type Schema } from './schema-walk.ts'

/** A text with a reference in it may stand for anything, so editors must let it pass everywhere. */
const REFERENCE = '\\$\\{.+\\}'

export function editorSchema(registries: Registries): object {
  const whole = mapSchemas(closeMaps(configSchema(registries)), forEditors)
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    $comment: 'Generated from the definitions of the components by `npm run generate`.',
    title: 'gpucol config',
    ...whole,
    type: 'object',
  }
}

/**
 * What editors must know and our own validator does otherwise: a key without a value is an empty map, a reference may stand for
 * anything, sizes may be numbers. They know neither our formats nor our keywords.
 */
function forEditors(schema: Schema): Schema {
  const { secret: _, unsupported: __, format, ...rest } = schema
  if (rest.enum !== undefined) return withReference(rest)
  if (rest.type === 'string') return { ...rest, ...textRules(rest, format) }
  if (rest.type === undefined) return rest
  const types = typeof rest.type === 'string' ? [rest.type] : rest.type
  const nothing = types.includes('object') ? ['null'] : []
  // A pattern is a rule for texts only, so all others go by their own.
  const text = types.includes('string') ? {} : { pattern: REFERENCE }
  return { ...rest, type: [...new Set([...types, ...nothing, 'string'])], ...text }
}

function withReference({ description, default: value, ...rule }: Schema): Schema {
  return {
    ...(description !== undefined && { description }),
    ...(value !== undefined && { default: value }),
    anyOf: [rule, { type: 'string', pattern: REFERENCE }],
  }
}

function textRules({ pattern }: Schema, format: string | undefined): Schema {
  const known = format !== undefined && Object.hasOwn(formats, format) ? formats[format]! : undefined
  const own = pattern ?? known?.pattern
  return {
    ...(own !== undefined && { pattern: `${own}|${REFERENCE}` }),
    ...(known === undefined && format !== undefined && { format }),
    ...(known?.numbers && { type: ['string', 'integer'], ...known.numbers }),
  }
}
