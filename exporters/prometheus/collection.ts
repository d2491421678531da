/**
 * One moment, written out for whoever asked at that moment. Each scraper reads at its own speed; pieces that another one has
 * just had are not written a second time, and a slow one holds up nobody.
 */
import { createPage, renderPiece, type Cursor, type Page } from '../../pipeline/formats/render-chunks.ts'
import type { Snapshot } from '../../pipeline/formats/render-snapshot.ts'
import type { Compressors } from './gzip.ts'

/** A piece, for as long as somebody holds it. */
export type SharedPiece = {
  readonly bytes: Buffer
  readonly next: Cursor | undefined
  /** Compressed when somebody first asks. */
  deflated(): Promise<Buffer>
  /** Once for each `piece` that gave it; its page is then written over. */
  release(): void
}

/** So much of what was written last is kept for those who are a little behind, where there are several. */
const KEPT_PIECES = 16

export class Collection {
  readonly snapshot: Snapshot
  readonly #pages: PagePool
  readonly #compressors: Compressors
  readonly #isShared: () => boolean
  readonly #kept = new Map<number, SharedPiece & { hold(): void }>()

  /** `isShared` says whether anybody else has it at the moment. */
  constructor(snapshot: Snapshot, pages: PagePool, compressors: Compressors, isShared: () => boolean) {
    this.snapshot = snapshot
    this.#pages = pages
    this.#compressors = compressors
    this.#isShared = isShared
  }

  /** Piece number `number`, which begins at `cursor`. */
  piece(number: number, cursor: Cursor): SharedPiece {
    let piece = this.#kept.get(number)
    if (piece === undefined) {
      piece = this.#write(cursor)
      if (!this.#isShared()) return piece
      this.#kept.set(number, piece)
      const oldest = this.#kept.entries().next().value
      if (this.#kept.size > KEPT_PIECES && oldest !== undefined) {
        this.#kept.delete(oldest[0])
        oldest[1].release()
      }
    }
    piece.hold()
    return piece
  }

  /** Nobody asks any more. */
  end(): void {
    for (const piece of this.#kept.values()) piece.release()
    this.#kept.clear()
  }

  #write(cursor: Cursor): SharedPiece & { hold(): void } {
    const page = this.#pages.take()
    const { bytes, next } = renderPiece(this.snapshot, cursor, page)
    let deflated: Promise<Buffer> | undefined
    let holders = 1
    return {
      bytes,
      next,
      deflated: () => (deflated ??= this.#compressors.compress(bytes)),
      hold: () => {
        holders++
      },
      release: () => {
        if (--holders === 0) this.#pages.give(page)
      },
    }
  }
}

/** Pages that were read to the end, for the next ones who write. */
export class PagePool {
  readonly #free: Page[] = []

  take(): Page {
    return this.#free.pop() ?? createPage()
  }

  give(page: Page): void {
    if (this.#free.length < 2 * KEPT_PIECES) this.#free.push(page)
  }

  /** What several scrapers needed at once is not kept for ever. */
  dropUnused(): void {
    this.#free.length = 0
  }
}
