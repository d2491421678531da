/** Takes a collection for each format that is asked for, and lets scrapers that come together share one. */
import type { Batch } from '../../pipeline/model/batch.ts'
import type { Clock } from '../../pipeline/component.ts'
import type { Escaping } from '../../pipeline/formats/render-names.ts'
import { Renderer, type RenderStyle, type Snapshot } from '../../pipeline/formats/render-snapshot.ts'
import { finishInTurns } from '../../pipeline/formats/render-work.ts'
import { Collection, PagePool } from './collection.ts'
import { Compressors } from './gzip.ts'
import type { HeldBatches } from './latest.ts'
import type { Format } from './negotiation.ts'

/** Who comes later than this gets fresh numbers, even if another scrape is not through. */
const SHARED_FOR_MS = 1000
/** What was made for an escaping that nobody asks for any more is let go. */
const RENDERER_KEPT_MS = 600_000

export type CollectionsOptions = {
  /** All but the escaping, which scrapers choose. */
  readonly style: Omit<RenderStyle, 'escaping'>
  readonly timestamps: boolean
  readonly clock: Clock
  /** The latest of each source. Each collection releases them when nobody asks it any more. */
  hold(): HeldBatches
  /** Which escaping writes for these what this one does. */
  escapingFor(asked: Escaping, batches: readonly Batch[]): Escaping
  /** Told of every snapshot. */
  taken(snapshot: Snapshot): void
}

type Kept = { readonly renderer: Renderer; usedMs: number; busy: Promise<unknown> }
type Shared = {
  readonly startedMs: number
  readonly collection: Promise<Collection>
  readonly release: () => void
  users: number
}

export class Collections {
  readonly #options: CollectionsOptions
  readonly #renderers = new Map<Escaping, Kept>()
  readonly #shared = new Map<string, Shared>()
  /** How many collections anybody reads, or waits for. */
  #underWay = 0
  readonly #pages = new PagePool()
  readonly #compressors = new Compressors()

  constructor(options: CollectionsOptions) {
    this.#options = options
  }

  async use(format: Format, run: (collection: Collection) => Promise<void>): Promise<void> {
    const nowMs = this.#options.clock.monotonic()
    const key = `${format.syntax} ${format.escaping}`
    let shared = this.#shared.get(key)
    if (shared === undefined || nowMs - shared.startedMs > SHARED_FOR_MS) {
      shared = this.#share(format, nowMs)
      this.#shared.set(key, shared)
    }
    shared.users++
    try {
      await run(await shared.collection)
    } finally {
      if (--shared.users === 0) {
        if (this.#shared.get(key) === shared) this.#shared.delete(key)
        shared.collection.then(
          collection => collection.end(),
          () => {},
        )
        shared.release()
        this.#underWay--
      }
    }
  }

  dropUnused(): void {
    this.#pages.dropUnused()
    const nowMs = this.#options.clock.monotonic()
    for (const [escaping, { usedMs }] of this.#renderers) {
      if (nowMs - usedMs > RENDERER_KEPT_MS) this.#renderers.delete(escaping)
    }
  }

  #share(format: Format, nowMs: number): Shared {
    const { batches, release } = this.#options.hold()
    this.#underWay++
    const collection = this.#take(batches, format, nowMs, () => shared.users > 1)
    const shared: Shared = { startedMs: nowMs, collection, release, users: 0 }
    return shared
  }

  async #take(
    batches: readonly Batch[],
    { syntax, escaping: asked }: Format,
    nowMs: number,
    isShared: () => boolean,
  ): Promise<Collection> {
    const { style, timestamps, taken } = this.#options
    const escaping = this.#options.escapingFor(asked, batches)
    let kept = this.#renderers.get(escaping)
    if (kept === undefined) {
      const renderer = new Renderer({ ...style, escaping })
      this.#renderers.set(escaping, (kept = { renderer, usedMs: nowMs, busy: Promise.resolve() }))
    }
    kept.usedMs = nowMs
    const { renderer, busy } = kept
    const next = busy.then(() =>
      finishInTurns(renderer.take(batches, { syntax, timestamps, isOnly: this.#underWay === 1 })),
    )
    kept.busy = next.then(
      // The next one waits for this one, and keeps nothing of it.
      () => {},
      // What a failure leaves behind is of no use.
      () => void this.#renderers.delete(escaping),
    )
    const snapshot = await next
    taken(snapshot)
    return new Collection(snapshot, this.#pages, this.#compressors, isShared)
  }
}
