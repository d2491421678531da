/** The parts of Accept and its relatives (RFC 9110, 12.4 and 12.5): ranges with parameters and qualities. */

export type AcceptRange = {
  /** In lower case: `text/plain`, `*\/*`, `gzip`. */
  readonly value: string
  readonly parameters: ReadonlyMap<string, string>
  /** 0 refuses. */
  readonly quality: number
  /** How many of type, subtype and version are named. */
  readonly precision: number
}

/** The best first; among equals the more precise, then the earlier. */
export function parseAccept(header: string): AcceptRange[] {
  const ranges = splitOutsideQuotes(header, ',').map(parseRange)
  return ranges.filter(({ value }) => value !== '').sort((a, b) => b.quality - a.quality || b.precision - a.precision)
}

function parseRange(text: string): AcceptRange {
  const [value = '', ...rest] = splitOutsideQuotes(text, ';').map(part => part.trim().toLowerCase())
  const parameters = new Map<string, string>()
  for (const parameter of rest) {
    const [, name, content] = /^([^=\s]+)\s*=\s*"?([^"]*)"?$/.exec(parameter) ?? []
    if (name !== undefined) parameters.set(name, content!)
  }
  const quality = Number(parameters.get('q') ?? 1)
  const named = value.split('/').filter(part => part !== '*').length
  return {
    value,
    parameters,
    quality: quality >= 0 && quality <= 1 ? quality : 0,
    precision: named + (parameters.has('version') ? 1 : 0),
  }
}

function splitOutsideQuotes(text: string, separator: ',' | ';'): string[] {
  return text.match(separator === ',' ? /(?:[^,"]|"[^"]*"?)+/g : /(?:[^;"]|"[^"]*"?)+/g) ?? []
}
