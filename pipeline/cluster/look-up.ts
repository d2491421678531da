/**
 * Look-ups: where a value that belongs to a pod is written. `pod.label.project`, `owner.annotation.user`, `namespace.name`.
 *
 * Names of labels and annotations are those of the objects. Where kube-state-metrics is the source, names come in its spelling,
 * and are found all the same.
 */
import { getLabel, type Labels } from '../model/labels.ts'
import type { KubernetesMetadata } from './objects.ts'

/** What a value may be taken from; `owner` is the workload. */
export type Around = {
  /** Undefined for a device that no pod holds: then only its node is known. */
  readonly pod: KubernetesMetadata | undefined
  readonly owner: KubernetesMetadata | undefined
  readonly namespace: KubernetesMetadata | undefined
  readonly node: KubernetesMetadata | undefined
}

export type LookUp = {
  /** As the config has it. */
  readonly text: string
  readonly object: keyof Around
  /** Undefined where nothing, or an empty text, is written there. */
  find(around: Around): string | undefined
}

const OBJECTS = ['pod', 'owner', 'namespace', 'node'] as const
const FORM = /^(pod|owner|namespace|node)\.(?:(name)|(label|annotation)\.(.+))$/

/** Throws an Error that says what a look-up looks like. */
export function parseLookUp(text: string): LookUp {
  const found = FORM.exec(text)
  if (found === null) {
    throw new Error(`"${text}" is no look-up; write ${OBJECTS.join(', ')} with .name, .label.NAME or .annotation.NAME`)
  }
  const object = found[1] as (typeof OBJECTS)[number]
  const [, , isName, kind, key = ''] = found
  if (isName !== undefined) return { text, object, find: around => nameOf(around, object) }
  const find = inAnySpelling(key)
  return {
    text,
    object,
    find(around) {
      const labels = kind === 'label' ? around[object]?.labels : around[object]?.annotations
      return labels && find(labels)
    },
  }
}

const lookUps = new Map<string, LookUp | undefined>()

/** The look-up that a text is, if it is one; each is read once. */
export function lookUpOrNothing(text: string): LookUp | undefined {
  if (!text.includes('.')) return undefined
  if (!lookUps.has(text)) lookUps.set(text, FORM.test(text) ? parseLookUp(text) : undefined)
  return lookUps.get(text)
}

/** The namespace of a pod has a name also where nothing else is known of it. */
function nameOf(around: Around, object: (typeof OBJECTS)[number]): string | undefined {
  const name = object === 'namespace' ? around.pod?.namespace : around[object]?.name
  return name === '' ? undefined : name
}

/** Finds a label or annotation by the name that the object has for it, whoever told of the object. */
export function inAnySpelling(name: string): (labels: Labels) => string | undefined {
  const inMetrics = metricSpelling(name)
  return labels => getLabel(labels, name) ?? getLabel(labels, inMetrics)
}

/** How kube-state-metrics writes the name of a label, without its prefix: `run.ai/topOwner` becomes `run_ai_top_owner`. */
export function metricSpelling(name: string): string {
  return name
    .replaceAll(/[^a-zA-Z0-9_]/g, '_')
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
}
