/**
 * Which labels data that was pushed has, as Prometheus makes them of OTLP: the attributes of the point, `job` and `instance` of the
 * resource, and `otel_scope_*` of a scope that has a name. Names are OTLP's own; who serves them to Prometheus translates them.
 */
import { attributeText } from '../../pipeline/formats/attribute-text.ts'
import { readAttributes } from '../../pipeline/formats/otlp-attributes.ts'
import type { ResourceParts, ScopeParts } from '../../pipeline/formats/otlp-points.ts'
import { jobAndInstance } from '../../pipeline/formats/resource-labels.ts'
import { labelsFrom, type Labels } from '../../pipeline/model/labels.ts'
import type { Attributes, Origin } from '../../pipeline/model/origin.ts'

export function originOf(resource: ResourceParts, { name, version, attributes, schemaUrl }: ScopeParts): Origin {
  return {
    resource: { attributes: readAttributes(resource.attributes), schemaUrl: resource.schemaUrl },
    scope: { name, version, attributes: readAttributes(attributes), schemaUrl },
  }
}

/** The labels that all series of a source have; they win over attributes of the same name. */
export function commonLabels(origin: Origin): Map<string, string> {
  const { name, version, attributes, schemaUrl } = origin.scope
  const labels = new Map<string, string>()
  if (name !== '') {
    for (const [key, value] of attributes) labels.set(`otel_scope_${key}`, attributeText(value))
    labels.set('otel_scope_name', name)
    labels.set('otel_scope_version', version)
    labels.set('otel_scope_schema_url', schemaUrl)
  }
  const target = jobAndInstance(origin.resource.attributes)
  target.names.forEach((label, i) => labels.set(label, target.values[i]!))
  return labels
}

export function pointLabels(attributes: Attributes, common: ReadonlyMap<string, string>): Labels {
  const labels = new Map<string, string>()
  for (const [key, value] of attributes) if (key !== '' && key !== '__name__') labels.set(key, attributeText(value))
  for (const [name, value] of common) if (value !== '') labels.set(name, value)
  return labelsFrom(labels)
}

/** What an operator sees: `shop/checkout cart-0, scope http`. */
export function sourceName({ resource, scope }: Origin): string {
  const target = jobAndInstance(resource.attributes).values.toReversed().join(' ')
  const what = target === '' ? `a resource of ${resource.attributes.size} attributes` : target
  return scope.name === '' ? what : `${what}, scope ${scope.name}`
}

/** Equal for origins that are, whatever the order of their attributes. */
export function originKey({ resource, scope }: Origin): string {
  return JSON.stringify([
    resource.schemaUrl,
    typedPairs(resource.attributes),
    scope.name,
    scope.version,
    scope.schemaUrl,
    typedPairs(scope.attributes),
  ])
}

/** With their types: the text "1" is another value than the number. */
function typedPairs(attributes: Attributes): string[][] {
  return Array.from(attributes, ([key, value]) => [
    key,
    value === null ? 'null' : typeof value,
    attributeText(value),
  ]).sort(([a], [b]) => (a! < b! ? -1 : 1))
}
