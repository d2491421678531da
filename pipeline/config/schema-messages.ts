/** The sentences for what a schema does not like. */
import type { ErrorObject } from 'ajv'
import { closest } from './closest.ts'
import { formats } from './formats.ts'
import type { Path } from './plain-value.ts'
import type { Schema } from './schema-walk.ts'

export type Words = {
  readonly message: string
  /** Whether it is about the key; otherwise about the value, or what is `below` it. */
  readonly isAboutKey?: boolean
  readonly below?: Path
  readonly suggestion?: string | undefined
}

const TYPES: Readonly<Record<string, string>> = {
  string: 'a text',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  object: 'a map',
  array: 'a list',
  null: 'nothing',
}

/** `subject` is what the value is called; a secret value is not quoted. */
export function wordsFor(error: ErrorObject, subject: string, isSecret: boolean): Words {
  const { keyword, data, schema } = error
  const params: Record<string, unknown> = error.params
  const parent = (error.parentSchema ?? {}) as Schema
  const but = isSecret ? '' : `, found ${found(data)}`
  switch (keyword) {
    case 'type':
    case 'format':
      return { message: `\`${subject}\` must be ${expected(parent, params['type'])}${but}${hint(parent, data)}` }
    case 'types':
      return { message: `\`${subject}\` must be ${oneOf(schema as string[])}${but}` }
    case 'enum': {
      // A number that may also be written as a text is one choice.
      const choices = [...new Set((schema as unknown[]).map(String))]
      return {
        message: `\`${subject}\` must be ${oneOf(choices)}${but}`,
        suggestion: typeof data === 'string' ? closest(data, choices) : undefined,
      }
    }
    case 'const':
      return { message: `\`${subject}\` must be ${String(schema)}${but}` }
    case 'minimum':
      return { message: `\`${subject}\` must be at least ${String(schema)}${but}` }
    case 'maximum':
      return { message: `\`${subject}\` must be at most ${String(schema)}${but}` }
    case 'exclusiveMinimum':
      return { message: `\`${subject}\` must be more than ${String(schema)}${but}` }
    case 'exclusiveMaximum':
      return { message: `\`${subject}\` must be less than ${String(schema)}${but}` }
    case 'multipleOf':
      return { message: `\`${subject}\` must be a multiple of ${String(schema)}${but}` }
    case 'minLength':
    case 'minItems':
    case 'minProperties':
      if (schema === 1) return { message: `\`${subject}\` must not be empty` }
      return { message: `\`${subject}\` must have at least ${String(schema)} ${UNITS[keyword]}` }
    case 'maxLength':
    case 'maxItems':
    case 'maxProperties':
      return { message: `\`${subject}\` must have at most ${String(schema)} ${UNITS[keyword]}` }
    case 'pattern':
      return { message: `\`${subject}\` must match ${String(schema)}${but}` }
    case 'uniqueItems': {
      const later = Math.max(Number(params['i']), Number(params['j']))
      const what = isSecret ? 'one entry' : found((data as unknown[])[later])
      return { message: `\`${subject}\` has ${what} twice`, below: [later] }
    }
    case 'dependencies':
      return {
        message: `\`${String(params['property'])}\` needs \`${String(params['missingProperty'])}\` beside it`,
        below: [String(params['property'])],
        isAboutKey: true,
      }
    case 'propertyNames':
      return {
        message: `\`${String(params['propertyName'])}\` cannot be a key of \`${subject}\``,
        below: [String(params['propertyName'])],
        isAboutKey: true,
      }
    case 'oneRequired':
      return { message: `one of ${oneOf(schema as string[], 'and')} is needed in \`${subject}\``, isAboutKey: true }
    case 'oneAllowed':
      return {
        message: `only one of ${oneOf(schema as string[], 'and')} may stand in \`${subject}\``,
        isAboutKey: true,
      }
    default:
      return { message: `\`${subject}\` is not as it should be: ${error.message ?? keyword}` }
  }
}

const UNITS: Readonly<Record<string, string>> = {
  minLength: 'characters',
  maxLength: 'characters',
  minItems: 'entries',
  maxItems: 'entries',
  minProperties: 'keys',
  maxProperties: 'keys',
}

function expected({ format }: Schema, type: unknown): string {
  if (format !== undefined && Object.hasOwn(formats, format)) return formats[format]!.expected
  return typeNames(Array.isArray(type) ? type : [type])
}

export function typeNames(types: readonly unknown[]): string {
  return oneOf(types.map(type => TYPES[String(type)] ?? String(type)))
}

function hint({ type, format }: Schema, data: unknown): string {
  if (format !== undefined && Object.hasOwn(formats, format)) {
    const isPlain = typeof data === 'string' || typeof data === 'number'
    const remark = isPlain ? formats[format]!.hint?.(String(data)) : undefined
    return remark === undefined ? '' : `; ${remark}`
  }
  const isPlain = typeof data === 'number' || typeof data === 'boolean'
  return type === 'string' && isPlain ? '; put it in quotes' : ''
}

export function oneOf(choices: readonly string[], word = 'or'): string {
  if (choices.length < 2) return choices.join('')
  return `${choices.slice(0, -1).join(', ')} ${word} ${choices.at(-1)}`
}

/** A value in a message. */
export function found(value: unknown): string {
  if (value === null || value === undefined) return 'nothing'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object') return 'a map'
  const text = typeof value === 'string' ? JSON.stringify(value) : String(value as number | boolean)
  return text.length > 80 ? `${text.slice(0, 79)}…` : text
}
