/** One way in which what came out differs from what was expected, and the line that says it. */

export type Difference = {
  readonly kind: 'missing' | 'surplus' | 'different'
  /** The series, the selector, or the log line in words. */
  readonly subject: string
  /** Values as Prometheus text writes them. */
  readonly expected?: string
  readonly got?: string
  /** Where the expectation stands: `expected.prom:3`. */
  readonly place?: string
  /** What helps to understand it. */
  readonly note?: string
  /** No expectation can be met by it: the series has two values. */
  readonly isContradiction?: true
}

/** One line; begins with the kind. */
export function formatDifference({ kind, subject, expected, got, place, note }: Difference): string {
  const values = [
    ...(expected === undefined ? [] : [kind === 'missing' ? expected : `expected ${expected}`]),
    ...(got === undefined ? [] : [kind === 'surplus' ? got : `got ${got}`]),
  ]
  const colon = kind === 'different' ? ':' : ''
  const value = values.length === 0 ? '' : `${colon} ${values.join(', ')}`
  const line = `${kind} ${subject}${value}${note === undefined ? '' : `; ${note}`}`
  return printable(place === undefined ? line : `${line} (${place})`)
}

/** Label values come from targets: nothing in them may end a line or reach a terminal as a command. */
function printable(line: string): string {
  return line.replaceAll(
    /[\p{Cc}\p{Zl}\p{Zp}]/gu,
    character => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
