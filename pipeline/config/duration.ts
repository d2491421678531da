/** Durations as users write them: `15s`, `1h30m`, `1.5h`, `0`. */

const MS_PER_UNIT: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  // Go stops at hours. Days, weeks and years are what people write for retention, as Prometheus lets them.
  d: 86_400_000,
  w: 604_800_000,
  y: 31_536_000_000,
}

/** What a Go duration can hold; a longer one is a slip of the pen. */
const MAX_MS = 9_223_372_036_854

const PART = /(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h|d|w|y)/y

/** Milliseconds, possibly with a fraction. Throws an Error that quotes the text. */
export function parseDuration(text: string): number {
  if (text === '0') return 0
  let sum = 0
  PART.lastIndex = 0
  do {
    const part = PART.exec(text)
    if (part === null) throw new Error(`"${text}" is not a duration such as 15s or 1h30m`)
    sum += Number(part[1]) * MS_PER_UNIT[part[2]!]!
  } while (PART.lastIndex < text.length)
  if (sum > MAX_MS) throw new Error(`"${text}" is longer than 292 years`)
  return sum
}
