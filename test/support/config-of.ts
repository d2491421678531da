/** The config of a component as `create` gets it: checked by its schema, with defaults. */
import type { AnySchema, ConfigOf } from '../../pipeline/component.ts'
import type { Schema } from '../../pipeline/config/schema-walk.ts'
import { validatorFor } from '../../pipeline/config/validator.ts'

export function configOf<S extends AnySchema>(definition: { readonly config: S }, given: unknown): ConfigOf<S> {
  const config = structuredClone(given)
  const errors = validatorFor(definition.config as Schema)(config)
  const texts = errors.map(({ instancePath, message }) => `${instancePath} ${message}`)
  if (errors.length > 0) throw new Error(`the config of the test is wrong: ${texts.join('; ')}`)
  return config as ConfigOf<S>
}
