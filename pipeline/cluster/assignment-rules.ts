/** What an operator may decide about who has which GPU. */
import type { Pod } from './objects.ts'

export type AssignmentRules = {
  /** Whose pods only hold a GPU for others. */
  readonly reservationNamespaces: ReadonlySet<string>
  /** As how many GPUs an instance of a board counts: as its slices, as one, or as the part of the board that it is. */
  readonly migCounts: 'slices' | 'instances' | 'share'
}

/** Those of Run:ai and of KAI. */
export const RESERVATION_NAMESPACES: readonly string[] = ['runai-reservation', 'kai-resource-reservation']

/** As a config has them; what it does not say is as usual. */
export function assignmentRules(
  options: {
    readonly reservation_namespaces?: readonly string[]
    readonly mig_counts?: AssignmentRules['migCounts']
  } = {},
): AssignmentRules {
  return {
    reservationNamespaces: new Set(options.reservation_namespaces ?? RESERVATION_NAMESPACES),
    migCounts: options.mig_counts ?? 'slices',
  }
}

/** A pod that only holds a GPU for others is no workload, and what it asks for counts nowhere. */
export function isReservation({ namespace }: Pick<Pod, 'namespace'>, rules: AssignmentRules): boolean {
  return rules.reservationNamespaces.has(namespace)
}
