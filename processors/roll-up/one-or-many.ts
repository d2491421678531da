/**
 * Lists that mostly have one item, of which there are as many as GPUs: a list is seven times as much as what is in it, so one item
 * stands for itself.
 */
export type OneOrMany<T extends object> = T | readonly T[]

const NONE: readonly never[] = []

export function packed<T extends object>(list: readonly T[]): OneOrMany<T> {
  if (list.length === 1) return list[0]!
  // A list that grew has room for more, which a copy has not.
  return list.length === 0 ? NONE : list.slice()
}

export function unpacked<T extends object>(items: OneOrMany<T>): readonly T[] {
  return Array.isArray(items) ? (items as readonly T[]) : [items as T]
}
