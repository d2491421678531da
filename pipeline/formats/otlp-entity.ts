/** From labels to a resource, a scope, and what is left for the point. */
import type { Source } from '../model/batch.ts'
import { getLabel, labelPairs, type Labels } from '../model/labels.ts'
import type { AttributeValue, Origin } from '../model/origin.ts'
import { attributeKey, cut, distinct, type NameRules } from './otlp-names.ts'

export type Attribute = readonly [key: string, value: AttributeValue]

export type Scope = {
  readonly name: string
  readonly version: string
  readonly attributes: readonly Attribute[]
  readonly schemaUrl: string
}

export type Entity = {
  readonly resource: readonly Attribute[]
  readonly resourceSchemaUrl: string
  readonly scope: Scope
  readonly point: readonly Attribute[]
}

export type EntityOptions = {
  /** Attributes of the resource, by label; of several labels for one attribute the first in this order counts. */
  readonly resourceTable: ReadonlyMap<string, string>
  /** What a resource gets that has no such attribute. */
  readonly resourceDefaults: ReadonlyMap<string, string>
  readonly names: NameRules
}

const SCOPE_LABEL = 'otel_scope_'
/** Whoever made OTLP of data that has no scope names itself. */
const OWN_SCOPE = 'gpucol'

/** What becomes of labels with certain names: `at` is the place of the label. */
type Split = {
  readonly resource: readonly { readonly at: number; readonly key: string }[]
  readonly point: readonly { readonly at: number; readonly key: string }[]
  readonly scope: readonly { readonly at: number; readonly part: string }[]
}

export type SplitEntity = (source: Source, labels: Labels) => Entity

export function createSplit(options: EntityOptions): SplitEntity {
  // Label sets of one exporter share the list of their names, so that names are looked at once for all of them.
  const splits = new WeakMap<readonly string[], Split>()

  function splitOf({ names }: Labels): Split {
    let split = splits.get(names)
    if (split === undefined) splits.set(names, (split = splitNames(names, options)))
    return split
  }

  return (source, labels) => {
    if (source.origin !== undefined) return ofOrigin(source, source.origin, labels, options)
    const { resource, point, scope } = splitOf(labels)
    const text = (at: number) => cut(labels.values[at]!, options.names.attributeValueLength)
    return {
      resource: withDefaults(
        resource.map(({ at, key }) => [key, text(at)] as const),
        source,
        options,
      ),
      resourceSchemaUrl: '',
      scope: scopeFrom(scope.map(({ at, part }) => [part, text(at)])),
      point: point.map(({ at, key }) => [key, text(at)]),
    }
  }
}

function splitNames(names: readonly string[], { resourceTable, names: rules }: EntityOptions): Split {
  const taken = new Map<string, number>()
  for (const [label, attribute] of resourceTable) {
    const at = names.indexOf(label)
    if (at >= 0 && !taken.has(attribute)) taken.set(attribute, at)
  }
  const resource = Array.from(taken, ([key, at]) => ({ at, key: attributeKey(key, rules) }))
  const ofResource = new Set(taken.values())
  const rest = names.map((name, at) => ({ at, name })).filter(({ at }) => !ofResource.has(at))
  const ofPoint = rest.filter(({ name }) => !name.startsWith(SCOPE_LABEL))
  const keys = distinct(
    ofPoint.map(({ name }) => attributeKey(name, rules)),
    rules,
  )
  return {
    resource,
    point: ofPoint.map(({ at }, i) => ({ at, key: keys[i]! })),
    scope: rest
      .filter(({ name }) => name.startsWith(SCOPE_LABEL))
      .map(({ at, name }) => ({ at, part: name.slice(SCOPE_LABEL.length) })),
  }
}

function scopeFrom(parts: readonly (readonly [part: string, value: string])[]): Scope {
  if (parts.length === 0) return { name: OWN_SCOPE, version: '', attributes: [], schemaUrl: '' }
  const { name = '', version = '', schema_url: schemaUrl = '', ...attributes } = Object.fromEntries(parts)
  return { name, version, schemaUrl, attributes: Object.entries(attributes) }
}

/** What was pushed leaves with the resource and scope that it came with, and without the labels that were made from them. */
function ofOrigin(source: Source, origin: Origin, labels: Labels, options: EntityOptions): Entity {
  const { names } = options
  const made = labelsOfResource(origin)
  const rest = labelPairs(labels).filter(([name, value]) => !name.startsWith(SCOPE_LABEL) && made.get(name) !== value)
  const keys = distinct(
    rest.map(([name]) => attributeKey(name, names)),
    names,
  )
  return {
    resource: withDefaults(attributesFrom(origin.resource.attributes, names), source, options),
    resourceSchemaUrl: origin.resource.schemaUrl,
    scope: { ...origin.scope, attributes: attributesFrom(origin.scope.attributes, names) },
    point: rest.map(([, value], i) => [keys[i]!, cut(value, names.attributeValueLength)]),
  }
}

function labelsOfResource({ resource: { attributes } }: Origin): ReadonlyMap<string, string> {
  const text = (key: string) => {
    const value = attributes.get(key)
    return typeof value === 'string' ? value : ''
  }
  const namespace = text('service.namespace')
  return new Map([
    ['job', namespace === '' ? text('service.name') : `${namespace}/${text('service.name')}`],
    ['instance', text('service.instance.id')],
  ])
}

function attributesFrom(attributes: Iterable<Attribute>, rules: NameRules): Attribute[] {
  const all = [...attributes]
  const keys = distinct(
    all.map(([key]) => attributeKey(key, rules)),
    rules,
  )
  return all.map(([, value], i) => [
    keys[i]!,
    typeof value === 'string' ? cut(value, rules.attributeValueLength) : value,
  ])
}

/** A resource always says which service it is: by the labels of its target, or else by the component that made the data. */
function withDefaults(resource: readonly Attribute[], source: Source, options: EntityOptions): Attribute[] {
  const { resourceDefaults, names } = options
  const all = new Map<string, AttributeValue>(resource)
  const fill = (key: string, value: string) => {
    const allowed = attributeKey(key, names)
    if (!all.has(allowed)) all.set(allowed, cut(value, names.attributeValueLength))
  }
  const { origin } = source
  const target = origin === undefined ? source.labels : undefined
  for (const [key, value] of resourceDefaults) fill(key, value)
  fill('service.name', (target && getLabel(target, 'job')) ?? OWN_SCOPE)
  fill('service.instance.id', (target && getLabel(target, 'instance')) ?? source.component)
  return [...all]
}
