/** How a scraper wants its answer packed, by its Accept-Encoding header. */
import { parseAccept } from './accept.ts'

export const CONTENT_ENCODINGS = ['zstd', 'gzip', 'identity'] as const
export type ContentEncoding = (typeof CONTENT_ENCODINGS)[number]

/**
 * The one with the highest q; of equals zstd where it is named, since everybody who knows that name can read it, else gzip, and what
 * is packed before what is not. Undefined where nothing of what we have is accepted, not even what is not packed.
 */
export function chooseEncoding(header: string | undefined): ContentEncoding | undefined {
  if (header === undefined || header.trim() === '') return 'identity'
  const ranges = parseAccept(header)
  const named = (...names: string[]): number | undefined => ranges.find(({ value }) => names.includes(value))?.quality
  const rest = named('*')
  const offers: readonly (readonly [ContentEncoding, quality: number])[] = [
    ['zstd', named('zstd') ?? 0],
    ['gzip', named('gzip', 'x-gzip') ?? rest ?? 0],
    ['zstd', named('zstd') ?? rest ?? 0],
    // Whoever says nothing of it takes it where there is nothing better.
    ['identity', named('identity') ?? rest ?? Number.MIN_VALUE],
  ]
  const best = offers.reduce((one, other) => (other[1] > one[1] ? other : one))
  return best[1] > 0 ? best[0] : undefined
}
