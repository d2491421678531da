/** The newest batch of each source, held back until there is room for it again. */
import { pointCount, type Batch, type Source } from '../../pipeline/model/batch.ts'

export class Held {
  points = 0
  readonly #batches = new Map<Source, Batch>()

  /** Holds a batch instead of an older one of its source, and says how many points that had. */
  put(batch: Batch): number {
    const before = this.drop(batch.source)
    this.#batches.set(batch.source, batch)
    this.points += pointCount(batch)
    return before
  }

  has(source: Source): boolean {
    return this.#batches.has(source)
  }

  /** Forgets what is held of a source, and says how many points that were. */
  drop(source: Source): number {
    const batch = this.#batches.get(source)
    if (batch === undefined) return 0
    this.#batches.delete(source)
    this.points -= pointCount(batch)
    return pointCount(batch)
  }

  /** Gives batches away, the longest held first, for as long as `give` takes them. */
  release(give: (batch: Batch) => boolean): void {
    for (const [source, batch] of this.#batches) {
      if (!give(batch)) return
      this.drop(source)
    }
  }
}
