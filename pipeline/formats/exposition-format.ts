/** Which format an exposition is in: its Content-Type says so. */
import type { Dialect } from './sample-line.ts'

/** What is asked for, best first: OpenMetrics, because it says when counters began, then text, then whatever there is. */
export const ACCEPT = [
  'application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6',
  'application/openmetrics-text;version=0.0.1;q=0.5',
  'text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4',
  'text/plain;version=0.0.4;q=0.3',
  '*/*;q=0.2',
].join(',')

let lastType: string | undefined
let lastDialect: Dialect | undefined

/** Undefined if the type is missing or another one. All versions of a format are read alike. */
export function dialectOf(contentType: string | undefined): Dialect | undefined {
  // Mostly that of the target before.
  if (contentType !== lastType) {
    lastType = contentType
    lastDialect = readType(contentType)
  }
  return lastDialect
}

function readType(contentType: string | undefined): Dialect | undefined {
  switch (contentType?.split(';', 1)[0]!.trim().toLowerCase()) {
    case 'text/plain':
      return 'text'
    case 'application/openmetrics-text':
      return 'openmetrics'
    default:
      return undefined
  }
}
