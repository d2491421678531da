/** Keys in the order in which etcd has them, so that a page of a long list is found by bisection. */

/** More changes at once than this are merged in one pass instead of one by one. */
const FEW = 16

/**
 * Object names are ASCII, and there JavaScript's order of strings is the order of bytes. Keys are `namespace/name`: a slash sorts
 * after a hyphen, so the namespace `a-b` comes before `a`, as in etcd.
 */
export class SortedKeys {
  #keys: string[] = []

  get length(): number {
    return this.#keys.length
  }

  at(index: number): string | undefined {
    return this.#keys[index]
  }

  /** Where a key is, or would be: the number of keys before it. */
  indexOf(key: string): number {
    let low = 0
    let high = this.#keys.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#keys[middle]! < key) low = middle + 1
      else high = middle
    }
    return low
  }

  has(key: string): boolean {
    return this.#keys[this.indexOf(key)] === key
  }

  /** No key is added that is there, none removed that is not, and none both added and removed. */
  change(added: readonly string[], removed: ReadonlySet<string>): void {
    if (added.length + removed.size <= FEW) {
      for (const key of removed) this.#keys.splice(this.indexOf(key), 1)
      for (const key of added) this.#keys.splice(this.indexOf(key), 0, key)
    } else {
      this.#keys = merge(this.#keys, added.toSorted(), removed)
    }
  }
}

function merge(keys: readonly string[], added: readonly string[], removed: ReadonlySet<string>): string[] {
  const merged: string[] = []
  let next = 0
  for (const key of keys) {
    while (next < added.length && added[next]! < key) merged.push(added[next++]!)
    if (!removed.has(key)) merged.push(key)
  }
  while (next < added.length) merged.push(added[next++]!)
  return merged
}
