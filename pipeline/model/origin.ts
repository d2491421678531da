/** Who pushed data by OTLP: what labels cannot carry of a resource and a scope, so that it can leave as it came. */

/** A value of an attribute, in OTLP's types; integers that no number can hold exactly are bigints, bytes are Uint8Array. */
export type AttributeValue =
  | string
  | number
  | bigint
  | boolean
  | null
  | Uint8Array
  | readonly AttributeValue[]
  | { readonly [key: string]: AttributeValue }

export type Attributes = ReadonlyMap<string, AttributeValue>

/**
 * Series of such a source have, as labels, the attributes of their points by OTLP's names (`http.method`), `job` and `instance` made
 * from the resource, and `otel_scope_*` made from the scope. Who sends them on by OTLP takes those labels away again.
 */
export type Origin = {
  readonly resource: { readonly attributes: Attributes; readonly schemaUrl: string }
  readonly scope: {
    readonly name: string
    readonly version: string
    readonly attributes: Attributes
    readonly schemaUrl: string
  }
}
