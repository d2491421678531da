/**
 * The sources of what a roll-up hands on. One that takes the place of another at a reload goes on with those of the other: to whoever is
 * behind, series that both have go on without a gap, and those that only the first had end with the first results of the second.
 */
import type { Cluster } from '../../pipeline/component.ts'
import type { Source } from '../../pipeline/model/batch.ts'
import { EMPTY_LABELS } from '../../pipeline/model/labels.ts'

export type OwnSources = {
  /** `key` tells apart those of one name. */
  of(name: string, key: string): Source
  /** Those of the one before that are not asked for any more. */
  takeLeft(): readonly Source[]
}

const known = new WeakMap<Cluster, Map<string, Map<string, Source>>>()

export function ownSources(cluster: Cluster, component: string, pipeline: string | undefined): OwnSources {
  const sources = sourcesOf(cluster, [component, pipeline ?? ''].join(' '))
  const asked = new Set<string>()
  return {
    of(name, key) {
      asked.add(key)
      let source = sources.get(key)
      if (source === undefined) sources.set(key, (source = { component, name, labels: EMPTY_LABELS }))
      return source
    },
    takeLeft() {
      const left = [...sources].filter(([key]) => !asked.has(key))
      for (const [key] of left) sources.delete(key)
      return left.map(([, source]) => source)
    },
  }
}

function sourcesOf(cluster: Cluster, key: string): Map<string, Source> {
  let all = known.get(cluster)
  if (all === undefined) known.set(cluster, (all = new Map()))
  let sources = all.get(key)
  if (sources === undefined) all.set(key, (sources = new Map()))
  return sources
}
