/** Attributes of a resource as labels of all its series, for those that the config wants so. */
import type { Source } from '../../pipeline/model/batch.ts'
import { EMPTY_LABELS, type Labels } from '../../pipeline/model/labels.ts'
import type { TranslationStrategy } from '../../pipeline/formats/prometheus-naming.ts'
import { attributeLabels, SERVICE_ATTRIBUTES } from '../../pipeline/formats/resource-labels.ts'

const names = { type: 'array', items: { type: 'string', minLength: 1 } } as const

export const resourceConversion = {
  type: 'object',
  properties: {
    enabled: { type: 'boolean', default: false, description: 'Do it. Either way `target_info` has all of them.' },
    include: {
      ...names,
      default: ['*'],
      description: 'Names of the attributes that become labels; `*` stands for any text, as in `k8s.*`.',
    },
    exclude: { ...names, default: [], description: 'Names of attributes that do not, written in the same way.' },
    exclude_service_attributes: {
      type: 'boolean',
      default: false,
      description: 'Leave out what `job` and `instance` are made of: `service.name` and its relatives.',
    },
  },
  default: {},
  additionalProperties: false,
  description:
    'Gives series that came by OTLP the attributes of their resource as labels. A label that a series has of its own stays.',
} as const

export type ResourceConversion = {
  readonly enabled: boolean
  readonly include: readonly string[]
  readonly exclude: readonly string[]
  readonly exclude_service_attributes: boolean
}

/** The labels that all series of a source get. */
export function convertResource(
  { enabled, include, exclude, exclude_service_attributes }: ResourceConversion,
  strategy: TranslationStrategy,
): (source: Source) => Labels {
  const isIncluded = matchAny(include)
  const isExcluded = matchAny(exclude)
  const isWanted = (name: string): boolean =>
    isIncluded(name) && !isExcluded(name) && !(exclude_service_attributes && SERVICE_ATTRIBUTES.has(name))
  return ({ origin }) =>
    enabled && origin !== undefined ? attributeLabels(origin.resource.attributes, strategy, isWanted) : EMPTY_LABELS
}

function matchAny(patterns: readonly string[]): (name: string) => boolean {
  const expressions = patterns.map(pattern => new RegExp(`^${pattern.split('*').map(RegExp.escape).join('.*')}$`, 's'))
  return name => expressions.some(expression => expression.test(name))
}
