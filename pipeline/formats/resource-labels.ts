/** What Prometheus sees of the resource of pushed data: `job`, `instance`, `target_info`, and attributes as labels. */
import { labelsFrom, withLabels, type Labels } from '../model/labels.ts'
import type { Attributes } from '../model/origin.ts'
import { attributeText } from './attribute-text.ts'
import { translateLabels, type TranslationStrategy } from './prometheus-naming.ts'

/** Those that `job` and `instance` are made of. */
export const SERVICE_ATTRIBUTES: ReadonlySet<string> = new Set([
  'service.name',
  'service.namespace',
  'service.instance.id',
])

/** `namespace/name` of the service and its instance; what is not known is left out. */
export function jobAndInstance(attributes: Attributes): Labels {
  const text = (name: string): string => attributeText(attributes.get(name) ?? null)
  const [name, namespace] = [text('service.name'), text('service.namespace')]
  return labelsFrom([
    ['job', name === '' || namespace === '' ? name : `${namespace}/${name}`],
    ['instance', text('service.instance.id')],
  ])
}

/** The attributes that are wanted, as labels. */
export function attributeLabels(
  attributes: Attributes,
  strategy: TranslationStrategy,
  isWanted: (name: string) => boolean,
): Labels {
  const pairs = Array.from(attributes, ([name, value]) => [name, attributeText(value)] as const)
  return translateLabels(labelsFrom(pairs.filter(([name]) => isWanted(name))), strategy)
}

/** The labels of `target_info`; undefined for a resource that nobody could tell from another, or that has nothing else to say. */
export function targetLabels(attributes: Attributes, strategy: TranslationStrategy): Labels | undefined {
  const identity = jobAndInstance(attributes)
  const others = attributeLabels(attributes, strategy, name => !SERVICE_ATTRIBUTES.has(name))
  if (identity.names.length === 0 || others.names.length === 0) return undefined
  return withLabels(
    others,
    identity.names.map((name, i) => [name, identity.values[i]] as const),
  )
}
