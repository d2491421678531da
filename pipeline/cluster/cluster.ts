/** What is known about the cluster: one table per kind of thing, whoever brought it. */
import type { Cluster } from '../component.ts'
import { createTracked, type Tracked } from '../model/tracked.ts'

export function createCluster(): Cluster {
  const tables = new Map<string, Tracked<unknown>>()
  return {
    table<V>(kind: string): Tracked<V> {
      let table = tables.get(kind)
      if (table === undefined) tables.set(kind, (table = createTracked<unknown>()))
      return table as Tracked<V>
    },
  }
}
