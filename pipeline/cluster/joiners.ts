/** Who adds to series what their pods belong to, and by which rules: so that `gpucol explain` can say what happens to a pod. */
import type { Cluster, Host } from '../component.ts'
import type { AssignmentRules } from './assignment-rules.ts'
import type { LookUp } from './look-up.ts'
import type { WorkloadRules } from './pod-identity.ts'

export type Joiner = {
  /** Of the component. In several pipelines there are several of one id, with the same rules. */
  readonly id: string
  readonly pipeline: string | undefined
  readonly workload: WorkloadRules
  readonly assignment: AssignmentRules
  /** What is joined, with the name that it goes out by. */
  readonly names: ReadonlyMap<string, string>
  /** Labels that are added beside, with their look-ups in order. */
  readonly add: ReadonlyMap<string, readonly LookUp[]>
  /** Whether series of pods are held back now, because the cluster is still being read. */
  isHolding(): boolean
}

const known = new WeakMap<Cluster, Set<Joiner>>()

/** All that run now: who starts adds itself, who stops takes itself out. */
export function joinersOf(cluster: Cluster): Set<Joiner> {
  let joiners = known.get(cluster)
  if (joiners === undefined) known.set(cluster, (joiners = new Set()))
  return joiners
}

/** Whose rules count in a pipeline: those of its own, else of any other. */
export function joinerNear({ cluster, pipeline }: Pick<Host, 'cluster' | 'pipeline'>): Joiner | undefined {
  const joiners = [...joinersOf(cluster)]
  return joiners.find(joiner => joiner.pipeline === pipeline) ?? joiners[0]
}
