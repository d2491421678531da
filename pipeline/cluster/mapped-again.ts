/**
 * Maps the last batch of a source once more by what is known of the cluster: when its model has become complete, and at the end of a step
 * of a config test. There all targets are scraped at one moment, in an order that means nothing, and kube-state-metrics may be the last.
 */
import { RefusedError, type Next } from '../component.ts'
import type { Batch, Source } from '../model/batch.ts'
import type { Layout } from '../model/layout.ts'

export type MappedAgain = {
  /** Replaces `next`: what a batch has become already is not handed on a second time. */
  readonly next: Next
  keep(batch: Batch): void
  /** Keeps a batch that becomes one with this layout without `next`. */
  keepMapped(batch: Batch, layout: Layout): void
  forget(source: Source): void
  /** Maps all that are kept, and goes on keeping them. */
  run(map: (batch: Batch) => void): void
  /** Maps all that are kept, and keeps none of them any longer than that. */
  drain(map: (batch: Batch) => void): void
  clear(): void
}

export function createMappedAgain(next: Next): MappedAgain {
  const kept = new Map<Source, Batch>()
  const became = new WeakMap<Batch, Layout>()
  let current: Batch | undefined

  function mapOne(map: (batch: Batch) => void, batch: Batch): void {
    current = batch
    try {
      map(batch)
    } catch (error) {
      // Nobody waits for an answer any more: the next collection brings it again.
      if (!(error instanceof RefusedError)) throw error
    } finally {
      current = undefined
    }
  }

  return {
    next(batch) {
      if (current === undefined) {
        const before = kept.size === 0 ? undefined : kept.get(batch.source)
        if (before !== undefined) became.set(before, batch.layout)
      } else if (became.get(current) === batch.layout) return
      else became.set(current, batch.layout)
      next(batch)
    },
    keep: batch => void kept.set(batch.source, batch),
    keepMapped(batch, layout) {
      kept.set(batch.source, batch)
      became.set(batch, layout)
    },
    forget(source) {
      if (kept.size > 0) kept.delete(source)
    },
    run(map) {
      for (const batch of kept.values()) mapOne(map, batch)
    },
    drain(map) {
      for (const [source, batch] of kept) {
        kept.delete(source)
        mapOne(map, batch)
      }
    },
    clear: () => kept.clear(),
  }
}
