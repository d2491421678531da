/**
 * Joins the last batch of a source once more: when the model of the cluster has become complete, and at the end of a step of a config
 * test. There all targets are scraped at one moment, in an order that means nothing, and kube-state-metrics may be the last.
 */
import { RefusedError, type Next } from '../../pipeline/component.ts'
import type { Batch, Source } from '../../pipeline/model/batch.ts'
import type { Layout } from '../../pipeline/model/layout.ts'

export type JoinedAgain = {
  /** Replaces `next`: what a batch has become already is not handed on a second time. */
  readonly next: Next
  keep(batch: Batch): void
  forget(source: Source): void
  /** Joins all that were kept. */
  run(join: (batch: Batch) => void): void
  clear(): void
}

export function createJoinedAgain(next: Next): JoinedAgain {
  const kept = new Map<Source, Batch>()
  const became = new WeakMap<Batch, Layout>()
  let current: Batch | undefined

  return {
    next(batch) {
      if (current === undefined) {
        const before = kept.get(batch.source)
        if (before !== undefined) became.set(before, batch.layout)
      } else if (became.get(current) === batch.layout) return
      else became.set(current, batch.layout)
      next(batch)
    },
    keep: batch => void kept.set(batch.source, batch),
    forget: source => void kept.delete(source),
    run(join) {
      for (const batch of kept.values()) {
        current = batch
        try {
          join(batch)
        } catch (error) {
          // Nobody waits for an answer any more: the next collection brings it again.
          if (!(error instanceof RefusedError)) throw error
        } finally {
          current = undefined
        }
      }
    },
    clear: () => kept.clear(),
  }
}
