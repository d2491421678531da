/**
 * Of several alternatives in a schema (`anyOf`, `oneOf`) a value fits none, and Ajv tells what is wrong with each. People want to
 * hear about the one they meant.
 */
import type { ErrorObject } from 'ajv'
import { typesOf, type Schema } from './schema-walk.ts'
import { typeNames } from './schema-messages.ts'

/** The errors with those of all alternatives replaced by those of the one that was probably meant, or by one for all. */
export function chooseBranches(errors: readonly ErrorObject[]): readonly ErrorObject[] {
  // From the inside out, so that an alternative within an alternative is settled first.
  const alternatives = errors
    .filter(({ keyword }) => keyword === 'anyOf' || keyword === 'oneOf')
    .sort((a, b) => b.schemaPath.length - a.schemaPath.length)
  let left = [...errors]
  for (const alternative of alternatives) {
    const isInside = (error: ErrorObject) =>
      error !== alternative && error.schemaPath.startsWith(`${alternative.schemaPath}/`)
    const inside = left.filter(isInside)
    left = left.filter(error => error !== alternative && !isInside(error))
    left.push(...chosen(alternative, inside))
  }
  return left
}

function chosen(alternative: ErrorObject, inside: readonly ErrorObject[]): readonly ErrorObject[] {
  const branches = alternative.schema as readonly Schema[]
  const required = branches.map(({ required: keys }) => keys ?? [])
  if (required.every(keys => keys.length === 1)) {
    const keys = required.flat().map(key => `\`${key}\``)
    const isTooMany = Array.isArray((alternative.params as { passingSchemas?: unknown }).passingSchemas)
    return [{ ...alternative, keyword: isTooMany ? 'oneAllowed' : 'oneRequired', schema: keys }]
  }
  const byBranch = branches.map((_, index) =>
    inside.filter(error => error.schemaPath.startsWith(`${alternative.schemaPath}/${index}/`)),
  )
  const fitting = byBranch.filter(group => group.length > 0 && !group.some(error => isWrongType(error, alternative)))
  const best = fitting.sort((a, b) => a.length - b.length)[0]
  if (best !== undefined) return best
  const types = typesOf(branches)
  if (types === undefined) return [alternative]
  const names = [...types].map(type => typeNames([type]))
  return [{ ...alternative, keyword: 'types', schema: names }]
}

function isWrongType(error: ErrorObject, alternative: ErrorObject): boolean {
  return error.keyword === 'type' && error.instancePath === alternative.instancePath
}
