/** From a pod to all that it belongs to, with the way there. */
import { nodeOf } from './find-node.ts'
import { namespaceOf, ownerFinder } from './find-owner.ts'
import type { FoundPod, PodReader } from './find-pod.ts'
import { withGuess, type Guess } from './guess-owner.ts'
import { identify, type Identity, type IdentityRules } from './identity.ts'
import type { Around } from './look-up.ts'
import { followOwners, type OwnerChain, type OwnerRules } from './owner-chain.ts'
import { withScheduler } from './scheduler-identity.ts'

export type WorkloadRules = {
  readonly owners: OwnerRules
  readonly identity: IdentityRules
  /** In order, for owners that cannot be read; none where those are the workload. */
  readonly guesses: readonly Guess[]
}

export type PodIdentity = {
  readonly chain: OwnerChain
  readonly identity: Identity
  /** For what else is looked up. */
  readonly around: Around
}

export function identifyPod(reader: PodReader, { pod }: FoundPod, rules: WorkloadRules): PodIdentity {
  const chain = withGuess(pod, followOwners(pod, ownerFinder(reader), rules.owners), rules.guesses)
  const namespace = namespaceOf(reader, pod.namespace)
  const node = nodeOf(reader, pod.node)
  const marked = identify({ pod, namespace, node, chain }, rules.identity)
  const identity = withScheduler(reader, pod, chain, marked)
  return { chain, identity, around: { pod, namespace, node, owner: chain.workload?.object } }
}
