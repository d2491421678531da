/** A Kubernetes object as series tell about it. */
import type { Source } from '../model/batch.ts'
import type { Labels } from '../model/labels.ts'

/** A Kubernetes object, and all that is told about it. */
export type SeenObject = {
  readonly kind: string
  readonly namespace: string | undefined
  readonly name: string
  /** A source may not tell it: kube-state-metrics before 2.1. */
  readonly uid: string | undefined
  readonly facts: readonly SeenFact[]
  /** Who tells it. */
  readonly source: Source
}
export type SeenFact = { readonly name: string; readonly labels: Labels; readonly value: number }

/** Two objects of one name are told apart by their uid, where that is known. */
export function objectKey(kind: string, namespace: string | undefined, name: string, uid: string | undefined): string {
  return `${kind}/${namespace ?? ''}/${name}/${uid ?? ''}`
}
