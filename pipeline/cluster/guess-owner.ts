/**
 * What is above an owner that cannot be read: labels of the pod that name it, and after these names that controllers make in a known
 * way. Only used where that is asked for, and marked as what it is.
 */
import { inAnySpelling } from './look-up.ts'
import type { KubernetesMetadata, OwnerReference } from './objects.ts'
import type { KindTest, OwnerChain, OwnerStep } from './owner-chain.ts'
import { parseKind, kindTest } from './workload-kinds.ts'

export type Guess = {
  /** The kinds above which it holds. */
  readonly from: KindTest
  readonly to: { readonly kind: string; readonly group: string | undefined }
  readonly how: 'label' | 'guess'
  /** The name of the owner, or undefined if nothing tells it. */
  readonly name: (pod: KubernetesMetadata, below: OwnerReference) => string | undefined
}

export type GuessRow = {
  readonly from: readonly string[]
  readonly to: string
  readonly label?: string
  readonly pattern?: string
}

/** `label` of the pod holds the name; `pattern` takes it, as its first group, from the name of what is owned. */
export function parseGuess({ from, to, label, pattern }: GuessRow): Guess {
  const kind = parseKind(to)!
  if (label !== undefined) {
    const find = inAnySpelling(label)
    return { from: kindTest(from), to: kind, how: 'label', name: pod => find(pod.labels) }
  }
  const expression = new RegExp(`^(?:${pattern})$`)
  return { from: kindTest(from), to: kind, how: 'guess', name: (_pod, { name }) => expression.exec(name)?.[1] }
}

/** The chain with what is guessed on top of it. A chain that does not end at something unreadable is as it is. */
export function withGuess(pod: KubernetesMetadata, chain: OwnerChain, guesses: readonly Guess[]): OwnerChain {
  const last = chain.steps.at(-1)
  if (chain.end !== 'unreadable' || last === undefined) return chain
  for (const { from, to, how, name: find } of guesses) {
    if (!from(last.reference)) continue
    const name = find(pod, last.reference)
    if (name === undefined || name === '') continue
    const reference = { group: to.group, kind: to.kind, name, uid: '', controller: true }
    const step: OwnerStep = { reference, how, object: undefined }
    return { ...chain, steps: [...chain.steps, step], workload: step }
  }
  return chain
}
