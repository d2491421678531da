/** `Retry-After`: seconds, or a date (RFC 9110, 10.2.3). */

/** So long a destination is believed. */
const LONGEST_MS = 3_600_000

const SECONDS = /^\d+(\.\d+)?$/
/** The three forms of RFC 9110, 5.6.7. JavaScript takes much more for a date, `in 2099` for one. */
const DATE_WITH_ZONE = /^\w{3,9}, \d\d[ -]\w{3}[ -](\d\d|\d{4}) \d\d:\d\d:\d\d GMT$/
const DATE_WITHOUT_ZONE = /^\w{3} \w{3} [ \d]\d \d\d:\d\d:\d\d \d{4}$/

/** In milliseconds from now; undefined where there is none that can be read. */
export function retryAfterMs(header: string | undefined, nowMs: number): number | undefined {
  const text = header?.trim() ?? ''
  const delayMs = SECONDS.test(text) ? Number(text) * 1000 : dateMs(text) - nowMs
  return Number.isNaN(delayMs) ? undefined : Math.min(Math.max(0, delayMs), LONGEST_MS)
}

/** NaN if it is none. */
function dateMs(text: string): number {
  if (DATE_WITH_ZONE.test(text)) return Date.parse(text)
  return DATE_WITHOUT_ZONE.test(text) ? Date.parse(`${text} GMT`) : NaN
}
