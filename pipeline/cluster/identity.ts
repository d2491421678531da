/** What a pod belongs to, in the words of dashboards: workload, project, department, user, queue, node pool. */
import type { Around, LookUp } from './look-up.ts'
import { parseLookUp } from './look-up.ts'
import type { KubernetesMetadata } from './objects.ts'
import type { OwnerChain, OwnerStep } from './owner-chain.ts'

/** Labels that `join_workload` adds and roll-ups group by. */
export const IDENTITY_LABELS = [
  'workload_id',
  'workload_name',
  'workload_kind',
  'workload_type',
  'project',
  'department',
  'user',
  'queue',
  'nodepool',
] as const
export type IdentityLabel = (typeof IDENTITY_LABELS)[number]

/** A value and what decided it, for `gpucol explain`. */
export type Decided = { readonly value: string; readonly because: string }
export type Identity = Readonly<Partial<Record<IdentityLabel, Decided>>>

/** Look-ups in order; the first that finds something decides. */
export type IdentityRules = {
  readonly lookUps: Readonly<Partial<Record<IdentityLabel, readonly LookUp[]>>>
  /** The type of workload that a kind is. */
  readonly typeOf: (kind: string, group: string | undefined) => string | undefined
}

export function parseIdentityRules(
  lookUps: Readonly<Partial<Record<IdentityLabel, readonly string[]>>>,
  typeOf: IdentityRules['typeOf'],
): IdentityRules {
  return {
    lookUps: Object.fromEntries(Object.entries(lookUps).map(([label, texts]) => [label, texts.map(parseLookUp)])),
    typeOf,
  }
}

export type Surroundings = Omit<Around, 'owner' | 'pod'> & {
  readonly pod: KubernetesMetadata
  readonly chain: OwnerChain
}

export function identify({ pod, namespace, node, chain }: Surroundings, rules: IdentityRules): Identity {
  const around: Around = { pod, namespace, node, owner: chain.workload?.object }
  const identity: Partial<Record<IdentityLabel, Decided>> = {}
  for (const label of IDENTITY_LABELS) {
    const found = firstFound(rules.lookUps[label] ?? [], around, chain.end === 'waiting')
    const decided = found === undefined ? byOwner(label, pod, chain, rules, identity) : found
    if (decided !== undefined && decided !== 'waiting') identity[label] = decided
  }
  return identity
}

/**
 * While the owner is not known yet, what comes after a look-up at it is not decided either: a label that is there for a moment and
 * then another is worse than none.
 */
function firstFound(lookUps: readonly LookUp[], around: Around, isWaiting: boolean): Decided | 'waiting' | undefined {
  for (const { text, object, find } of lookUps) {
    if (isWaiting && object === 'owner') return 'waiting'
    const value = find(around)
    if (value !== undefined) return { value, because: text }
  }
  return undefined
}

/** What no mark decides is what the owner chain says; a pod without owner is its own workload. */
function byOwner(
  label: IdentityLabel,
  pod: KubernetesMetadata,
  { workload, end }: OwnerChain,
  rules: IdentityRules,
  known: Identity,
): Decided | undefined {
  if (end === 'waiting') return label === 'workload_type' ? typeOfMark(known, rules) : undefined
  const { kind, name, uid } = workload?.reference ?? pod
  const group = (workload?.object ?? workload?.reference ?? pod).group
  const because = workload === undefined ? 'the pod itself' : becauseOf(workload, end)
  switch (label) {
    case 'workload_id':
      return { value: uid === '' ? `${pod.namespace}/${kind}/${name}` : uid, because }
    case 'workload_name':
      return { value: name, because }
    case 'workload_kind':
      return { value: kind, because }
    case 'workload_type':
      return typeByKind(known.workload_kind?.value ?? kind, kind, group, rules)
    default:
      return undefined
  }
}

function becauseOf({ how }: OwnerStep, end: OwnerChain['end']): string {
  if (how === 'label') return 'a label of the pod, above an owner that cannot be read'
  if (how === 'guess') return 'a guess from the name of an owner that cannot be read'
  return `the owner chain, which ends at: ${end}`
}

function typeOfMark({ workload_kind: kind }: Identity, rules: IdentityRules): Decided | undefined {
  return kind && typeByKind(kind.value, '', undefined, rules)
}

/** A kind that a mark gives has no group. */
function typeByKind(known: string, kind: string, group: string | undefined, rules: IdentityRules): Decided | undefined {
  const value = rules.typeOf(known, known === kind ? group : undefined)
  return value === undefined ? undefined : { value, because: `the kind ${known}` }
}
