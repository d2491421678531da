/**
 * What others told of Kubernetes objects before the API first did. It is handed on again then, without what the API tells, too: else it
 * would be there twice until the next scrape.
 */
import type { Batch, Source } from '../../pipeline/model/batch.ts'

export type EarlyPasses = {
  note(batch: Batch): void
  /** The last of each source; afterwards there is nothing to be noted. */
  take(): readonly Batch[]
}

export function createEarlyPasses(isPassed: (name: string) => boolean): EarlyPasses {
  let batches: Map<Source, Batch> | undefined = new Map()
  return {
    note(batch) {
      if (batches === undefined) return
      const isOfObjects = batch.outcome === 'ok' && batch.layout.metrics.some(({ name }) => isPassed(name))
      if (isOfObjects) batches.set(batch.source, batch)
      else batches.delete(batch.source)
    },
    take() {
      const taken = [...(batches?.values() ?? [])]
      batches = undefined
      return taken
    },
  }
}
