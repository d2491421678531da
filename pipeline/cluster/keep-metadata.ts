/** What is kept of the metadata of an object that the Kubernetes API sent. */
import { createInternTable, hashString } from '../model/intern.ts'
import { labelsFrom, type Labels } from '../model/labels.ts'
import type { KubernetesMetadata, OwnerReference } from './objects.ts'

/** An object as the API sends it. What is in it is only hoped for. */
export type SentObject = { readonly metadata: SentMetadata; readonly [part: string]: unknown }
export type SentMetadata = {
  readonly name: string
  readonly namespace?: string
  readonly uid?: string
  readonly creationTimestamp?: string
  readonly deletionTimestamp?: string
  readonly labels?: unknown
  readonly annotations?: unknown
  readonly ownerReferences?: unknown
}

/** Lists do not say of what kind their items are: whoever asked for them knows. */
export type ObjectKind = { readonly group: string; readonly kind: string }

/**
 * Annotations that machines leave for themselves: long, or different for every pod, and nobody's project. Run:ai's and the device
 * plugins' annotations are short enough to stay.
 */
const NOISE =
  /^(kubectl\.kubernetes\.io\/last-applied-configuration|deployment\.kubernetes\.io\/revision-history|([a-z0-9-]+\.)*(cni\.(projectcalico\.org|cncf\.io)|ovn\.org)\/)/
const LONGEST_ANNOTATION = 512

export function keepMetadata({ metadata }: SentObject, { group, kind }: ObjectKind): KubernetesMetadata {
  const { name, namespace = '', uid = '' } = metadata
  return {
    group,
    kind,
    namespace: shareText(namespace),
    name,
    uid,
    labels: labelsFrom(textPairs(metadata.labels)),
    annotations: keepAnnotations(metadata.annotations),
    owners: keepOwners(metadata.ownerReferences),
  }
}

function keepAnnotations(annotations: unknown): Labels {
  return labelsFrom(
    textPairs(annotations).filter(([name, value]) => value.length <= LONGEST_ANNOTATION && !NOISE.test(name)),
  )
}

function textPairs(texts: unknown): [string, string][] {
  if (!isRecord(texts)) return []
  const pairs: [string, string][] = []
  for (const [name, value] of Object.entries(texts)) if (typeof value === 'string') pairs.push([name, shareText(value)])
  return pairs
}

const ownerLists = createInternTable<readonly OwnerReference[]>()
const NO_OWNERS: readonly OwnerReference[] = []

/** The pods of one workload have one list. */
function keepOwners(references: unknown): readonly OwnerReference[] {
  if (!Array.isArray(references) || references.length === 0) return NO_OWNERS
  const owners = references.filter(isRecord).map(readOwner)
  let hash = 0
  for (const { uid, kind, name } of owners) hash = hashString(uid, hashString(kind, hashString(name, hash)))
  return ownerLists.intern(
    hash,
    known => known.length === owners.length && known.every((owner, i) => isSameOwner(owner, owners[i]!)),
    () => owners,
  )
}

function readOwner({ apiVersion, kind, name, uid, controller }: Record<string, unknown>): OwnerReference {
  const [group, version] = textOf(apiVersion).split('/')
  return {
    group: version === undefined ? '' : shareText(group!),
    kind: shareText(textOf(kind)),
    name: textOf(name),
    uid: textOf(uid),
    controller: controller === true,
  }
}

function isSameOwner(one: OwnerReference, other: OwnerReference): boolean {
  return (
    one.uid === other.uid &&
    one.name === other.name &&
    one.kind === other.kind &&
    one.group === other.group &&
    one.controller === other.controller
  )
}

/** Labels and lists of owners are shared, so that the same is the same object. */
export function isSameMetadata(one: KubernetesMetadata, other: KubernetesMetadata): boolean {
  return (
    one.uid === other.uid &&
    one.labels === other.labels &&
    one.annotations === other.annotations &&
    one.owners === other.owners
  )
}

/** Milliseconds since 1970 of a time as Kubernetes writes it. */
export function readTime(text: unknown): number | undefined {
  const ms = typeof text === 'string' ? Date.parse(text) : NaN
  return Number.isNaN(ms) ? undefined : ms
}

const MOST_SHARED_TEXTS = 20_000
let sharedTexts = new Map<string, string>()

/** Every answer of the API brings its own copy of the name of a project: of equal texts one is kept. */
export function shareText(text: string): string {
  const known = sharedTexts.get(text)
  if (known !== undefined) return known
  // Texts that are different for every object must not fill the table for ever.
  if (sharedTexts.size >= MOST_SHARED_TEXTS) sharedTexts = new Map()
  sharedTexts.set(text, text)
  return text
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
