/**
 * From a pod to its workload: up the owner references, through any kind, to the one that people think of.
 *
 * A reference tells kind, name and uid, so an owner that is referenced and cannot be read is the workload, and the walk ends
 * there. An object of the same name with another uid is another object.
 */
import type { KubernetesMetadata, OwnerReference } from './objects.ts'

/** What is known of an owner: the object; that it cannot be had (forbidden, gone, no such kind); or nothing yet. */
export type Found = KubernetesMetadata | 'unreadable' | undefined
export type FindOwner = (reference: OwnerReference, namespace: string) => Found

export type OwnerRules = {
  /** Kinds that only wrap another one: the workload is what they wrap. */
  readonly wraps: KindTest
  /** Kinds at which the walk ends although they have owners. */
  readonly stopAt: KindTest
  readonly maxDepth: number
}
/** Whether a kind is meant. Where the group is not known, the name of the kind decides. */
export type KindTest = (kind: { readonly group: string | undefined; readonly kind: string }) => boolean

/** One object on the way up, and why the walk went there. */
export type OwnerStep = {
  readonly reference: OwnerReference
  readonly how: 'controller' | 'only owner' | 'first of several owners' | 'label' | 'guess'
  /** The object itself, where it could be read. */
  readonly object: KubernetesMetadata | undefined
}

export type OwnerChain = {
  /** From the pod's owner upwards. */
  readonly steps: readonly OwnerStep[]
  /** The step that is the workload; undefined if the pod is its own. */
  readonly workload: OwnerStep | undefined
  /** Why the walk ended where it did. */
  readonly end: 'top' | 'unreadable' | 'stop' | 'node' | 'cycle' | 'depth' | 'waiting'
}

export function followOwners(pod: KubernetesMetadata, find: FindOwner, rules: OwnerRules): OwnerChain {
  const steps: OwnerStep[] = []
  const seen = new Set([idOf(pod)])
  let object = pod
  for (;;) {
    const next = ownerOf(object)
    if (next === undefined) return finish(steps, 'top', rules)
    const { reference } = next
    // A static pod is owned by its node, which is no workload.
    if (reference.kind === 'Node' && (reference.group ?? '') === '') return finish(steps, 'node', rules)
    if (seen.has(idOf(reference))) return finish(steps, 'cycle', rules)
    if (steps.length >= rules.maxDepth) return finish(steps, 'depth', rules)
    seen.add(idOf(reference))
    const found = find(reference, pod.namespace)
    const isReadable =
      typeof found === 'object' && (reference.uid === '' || found.uid === '' || found.uid === reference.uid)
    steps.push({ ...next, object: isReadable ? found : undefined })
    if (found === undefined) return finish(steps, 'waiting', rules)
    if (!isReadable) return finish(steps, 'unreadable', rules)
    if (rules.stopAt(reference)) return finish(steps, 'stop', rules)
    object = found as KubernetesMetadata
  }
}

/** All objects of a chain are in one namespace, or in none. */
function idOf({ uid, kind, name }: Pick<OwnerReference, 'uid' | 'kind' | 'name'>): string {
  return uid === '' ? `${kind}/${name}` : uid
}

/** The controller is preferred; without one the first owner is as good as any. */
function ownerOf({ owners }: KubernetesMetadata): Pick<OwnerStep, 'reference' | 'how'> | undefined {
  const controller = owners.find(owner => owner.controller)
  if (controller !== undefined) return { reference: controller, how: 'controller' }
  if (owners[0] === undefined) return undefined
  return { reference: owners[0], how: owners.length === 1 ? 'only owner' : 'first of several owners' }
}

/** The workload is the topmost step that is no wrapper; where all are, the topmost. */
function finish(steps: readonly OwnerStep[], end: OwnerChain['end'], rules: OwnerRules): OwnerChain {
  const workload = steps.findLast(({ reference }) => !rules.wraps(reference)) ?? steps.at(-1)
  return { steps, workload, end }
}
