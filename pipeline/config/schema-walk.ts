/** Walks JSON schemas beside the values they describe: which schemas hold for a key, which types they allow, what is secret. */

/** The part of JSON schema that configs are described with. */
export type Schema = {
  readonly type?: string | readonly string[]
  readonly description?: string
  readonly default?: unknown
  readonly examples?: readonly unknown[]
  readonly secret?: boolean
  readonly unsupported?: Readonly<Record<string, string>>
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly format?: string
  readonly minLength?: number
  readonly pattern?: string
  readonly required?: readonly string[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly patternProperties?: Readonly<Record<string, Schema>>
  readonly additionalProperties?: boolean | Schema
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly allOf?: readonly Schema[]
}

/** All schemas that say something about a value: these and their alternatives. */
export function withBranches(schemas: readonly Schema[]): readonly Schema[] {
  return schemas.flatMap(schema => {
    const { anyOf = [], oneOf = [], allOf = [] } = schema
    return [schema, ...withBranches([...anyOf, ...oneOf, ...allOf])]
  })
}

/** The schemas of what stands under a key of a map, or at a position of a list. None means that nothing is known about it. */
export function schemasBelow(schemas: readonly Schema[], key: string | number): readonly Schema[] {
  return withBranches(schemas).flatMap(schema =>
    typeof key === 'number' ? itemSchema(schema) : propertySchemas(schema, key),
  )
}

function itemSchema({ items }: Schema): readonly Schema[] {
  return items === undefined ? [] : [items]
}

function propertySchemas(schema: Schema, key: string): readonly Schema[] {
  const { properties = {}, patternProperties = {}, additionalProperties } = schema
  const own = Object.hasOwn(properties, key) ? [properties[key]!] : []
  const byPattern = Object.entries(patternProperties)
    .filter(([pattern]) => new RegExp(pattern, 'u').test(key))
    .map(([, found]) => found)
  if (own.length + byPattern.length > 0) return [...own, ...byPattern]
  return typeof additionalProperties === 'object' ? [additionalProperties] : []
}

/** The JSON types that are allowed; undefined if any is. */
export function typesOf(schemas: readonly Schema[]): ReadonlySet<string> | undefined {
  if (schemas.length === 0) return undefined
  const types = new Set<string>()
  for (const schema of schemas) {
    const own = ownTypes(schema) ?? typesOf(schema.anyOf ?? schema.oneOf ?? [])
    if (own === undefined) return undefined
    for (const type of own) types.add(type)
  }
  return types
}

function ownTypes({ type, enum: choices }: Schema): Iterable<string> | undefined {
  if (type !== undefined) return typeof type === 'string' ? [type] : type
  return choices === undefined ? undefined : choices.map(typeOf)
}

export function typeOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number'
  return typeof value
}

export function allowsType(types: ReadonlySet<string>, type: string): boolean {
  return types.has(type) || (type === 'integer' && types.has('number'))
}

/** Itself, or all that it holds. */
export function isSecret(schemas: readonly Schema[]): boolean {
  return withBranches(schemas).some(
    ({ secret, additionalProperties, items }) =>
      secret === true ||
      (typeof additionalProperties === 'object' && additionalProperties.secret === true) ||
      items?.secret === true,
  )
}

export function hasFormat(schemas: readonly Schema[], format: string): boolean {
  return withBranches(schemas).some(schema => schema.format === format)
}

/** Unknown keys are mistakes: maps whose keys are listed take no others, unless the schema says so itself. */
export function closeMaps(schema: Schema): Schema {
  const closed = mapSchemas(schema, child =>
    child.type === 'object' && child.properties !== undefined && child.additionalProperties === undefined
      ? { ...child, additionalProperties: false }
      : child,
  )
  return closed.additionalProperties === undefined ? { ...closed, additionalProperties: false } : closed
}

/** The schema with a change made to it and to all schemas in it, from the inside out. */
export function mapSchemas(schema: Schema, change: (schema: Schema) => Schema): Schema {
  const below = (child: Schema) => mapSchemas(child, change)
  const { properties, patternProperties, additionalProperties, items, anyOf, oneOf, allOf } = schema
  return change({
    ...schema,
    ...(properties && { properties: mapValues(properties, below) }),
    ...(patternProperties && { patternProperties: mapValues(patternProperties, below) }),
    ...(typeof additionalProperties === 'object' && { additionalProperties: below(additionalProperties) }),
    ...(items && { items: below(items) }),
    ...(anyOf && { anyOf: anyOf.map(below) }),
    ...(oneOf && { oneOf: oneOf.map(below) }),
    ...(allOf && { allOf: allOf.map(below) }),
  })
}

function mapValues(
  object: Readonly<Record<string, Schema>>,
  change: (value: Schema) => Schema,
): Record<string, Schema> {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value)]))
}
