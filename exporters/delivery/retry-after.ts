/** `Retry-After`: seconds, or a date (RFC 9110, 10.2.3). */

/** So long a destination is believed. */
const LONGEST_MS = 3_600_000

/** In milliseconds from now; undefined where there is none that can be read. */
export function retryAfterMs(header: string | undefined, nowMs: number): number | undefined {
  const text = header?.trim() ?? ''
  if (text === '') return undefined
  const delayMs = /^\d+(\.\d+)?$/.test(text) ? Number(text) * 1000 : Date.parse(text) - nowMs
  return Number.isNaN(delayMs) ? undefined : Math.min(Math.max(0, delayMs), LONGEST_MS)
}
