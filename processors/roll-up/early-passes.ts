/**
 * What others told of Kubernetes objects before the API first did. It is handed on again then, without what the API tells, too: else it
 * would be there twice until the next scrape.
 */
import type { Batch, Source } from '../../pipeline/model/batch.ts'
import type { Layout } from '../../pipeline/model/layout.ts'
import type { Metric } from '../../pipeline/model/series.ts'

export type EarlyPasses = {
  note(batch: Batch): void
  /** Whether batches with this layout are noted. */
  isNoted(layout: Layout): boolean
  /** The last of each source; afterwards there is nothing to be noted. */
  take(): readonly Batch[]
}

export function createEarlyPasses(isPassed: (name: string) => boolean): EarlyPasses {
  let batches: Map<Source, Batch> | undefined = new Map()
  // Targets of one kind share the list of their metrics.
  const known = new WeakMap<readonly Metric[], boolean>()

  function isOfObjects({ metrics }: Layout): boolean {
    let is = known.get(metrics)
    if (is === undefined) known.set(metrics, (is = metrics.some(({ name }) => isPassed(name))))
    return is
  }

  return {
    note(batch) {
      if (batches === undefined) return
      if (batch.outcome === 'ok' && isOfObjects(batch.layout)) batches.set(batch.source, batch)
      else if (batches.size > 0) batches.delete(batch.source)
    },
    isNoted: layout => batches !== undefined && isOfObjects(layout),
    take() {
      const taken = [...(batches?.values() ?? [])]
      batches = undefined
      return taken
    },
  }
}
