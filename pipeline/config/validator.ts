/** Checks values against schemas, and fills in defaults: one Ajv for everything. */
import { Ajv, type ErrorObject } from 'ajv'
import { formats } from './formats.ts'
import { closeMaps, type Schema } from './schema-walk.ts'

/** Fills in defaults, in place, and gives what is wrong. */
export type Validator = (value: unknown) => readonly ErrorObject[]

const validators = new WeakMap<Schema, Validator>()
let ajv: Ajv | undefined

/** Schemas are compiled when they are first needed: each takes some milliseconds, and most components are not in the config. */
export function validatorFor(schema: Schema): Validator {
  const known = validators.get(schema)
  if (known !== undefined) return known
  ajv ??= createAjv()
  const validate = ajv.compile(closeMaps(schema))
  const validator: Validator = value => (validate(value) ? [] : [...(validate.errors ?? [])])
  validators.set(schema, validator)
  return validator
}

function createAjv(): Ajv {
  const created = new Ajv({
    allErrors: true,
    useDefaults: true,
    strict: true,
    // Alternatives may say which keys they need without repeating what these are.
    strictRequired: false,
    allowUnionTypes: true,
    verbose: true,
    // Making the code of a validator shorter takes longer than running it: it runs once.
    code: { optimize: false },
    formats: Object.fromEntries(Object.entries(formats).map(([name, { isValid }]) => [name, isValid])),
  })
  created.addKeyword({ keyword: 'secret', schemaType: 'boolean' })
  created.addKeyword({ keyword: 'unsupported', schemaType: 'object' })
  return created
}
