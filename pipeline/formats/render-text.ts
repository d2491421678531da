/**
 * Batches as Prometheus text or OpenMetrics, all at once. For expositions that are asked for again and again, and may be larger
 * than a string can be, keep a `Renderer` and write its snapshots piece by piece.
 */
import type { Batch, Source } from '../model/batch.ts'
import { createPage, renderPiece, START, type Cursor, type Page, type Piece } from './render-chunks.ts'
import type { Syntax } from './render-families.ts'
import { Renderer, type RenderStyle, type Snapshot } from './render-snapshot.ts'
import { finishNow } from './render-work.ts'

export type RenderOptions = RenderStyle & { readonly syntax?: Syntax; readonly timestamps?: boolean }

/** What can be scraped after these batches, given in the order of their arrival: of one source the last counts. */
export function renderText(batches: Iterable<Batch>, options: RenderOptions = {}): string {
  const latest = new Map<Source, Batch>()
  for (const batch of batches) latest.set(batch.source, batch)
  const snapshot = finishNow(new Renderer(options).take([...latest.values()], options))
  return Buffer.concat([...renderPieces(snapshot, () => createPage())]).toString()
}

/** Each piece is on a page that `page` gives. */
export function* renderPieces(snapshot: Snapshot, page: () => Page): Generator<Buffer> {
  for (let cursor: Cursor | undefined = START; cursor !== undefined;) {
    const piece: Piece = renderPiece(snapshot, cursor, page())
    yield piece.bytes
    cursor = piece.next
  }
}
