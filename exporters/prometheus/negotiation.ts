/**
 * Which format a scraper gets, by its Accept header, and whether it takes gzip.
 *
 * The media range with the highest q that can be served counts, among equals the more precise one, then the earlier one. The
 * version 1.0.0 of either format has an `escaping` that can be asked for; everything else writes underscores. What cannot be
 * served at all is answered as if nothing had been asked for, as other exporters do: text 0.0.4.
 */
import type { Syntax } from '../../pipeline/formats/render-families.ts'
import { ESCAPINGS, type Escaping } from '../../pipeline/formats/render-names.ts'

export type Format = { readonly syntax: Syntax; readonly escaping: Escaping; readonly contentType: string }

const TEXT = 'text/plain'
const OPENMETRICS = 'application/openmetrics-text'

/** In the order in which a wildcard takes them. */
const OFFERS: readonly Offer[] = [
  { type: TEXT, version: '0.0.4', syntax: 'text' },
  { type: TEXT, version: '1.0.0', syntax: 'text' },
  { type: OPENMETRICS, version: '1.0.0', syntax: 'openmetrics' },
  { type: OPENMETRICS, version: '0.0.1', syntax: 'openmetrics' },
]

type Offer = { readonly type: string; readonly version: string; readonly syntax: Syntax }

export function chooseFormat(accept: string | undefined): Format {
  const ranges = parseRanges(accept ?? '')
  const refused = ranges.filter(range => range.quality === 0)
  for (const range of ranges.filter(({ quality }) => quality > 0)) {
    const offer = OFFERS.find(one => matches(range, one) && !refused.some(other => refuses(other, one, range)))
    if (offer !== undefined) return formatOf(offer, range)
  }
  return formatOf(OFFERS[0]!)
}

function matches({ type, parameters }: MediaRange, offer: Offer): boolean {
  if (type !== '*/*' && type !== offer.type && type !== `${offer.type.split('/')[0]}/*`) return false
  const version = parameters.get('version')
  return version === undefined || version === offer.version
}

/** What is refused by name counts against a wildcard, and not the other way round. */
function refuses(refused: MediaRange, offer: Offer, wanted: MediaRange): boolean {
  return matches(refused, offer) && refused.precision >= wanted.precision
}

function formatOf({ type, version, syntax }: Offer, range?: MediaRange): Format {
  const plain = `${type}; version=${version}; charset=utf-8`
  // Who names no version does not know that there is an escaping, either.
  if (range?.parameters.get('version') !== '1.0.0') return { syntax, escaping: 'underscores', contentType: plain }
  const asked = range.parameters.get('escaping')
  const escaping = ESCAPINGS.find(known => known === asked) ?? 'underscores'
  return { syntax, escaping, contentType: `${plain}; escaping=${escaping}` }
}

export function acceptsGzip(acceptEncoding: string | undefined): boolean {
  const ranges = parseRanges(acceptEncoding ?? '')
  const quality = (name: string): number | undefined => ranges.find(({ type }) => type === name)?.quality
  return (quality('gzip') ?? quality('x-gzip') ?? quality('*') ?? 0) > 0
}

type MediaRange = {
  readonly type: string
  readonly parameters: ReadonlyMap<string, string>
  readonly quality: number
  /** How many of type, subtype and version are named. */
  readonly precision: number
}

/** The best first. */
function parseRanges(header: string): MediaRange[] {
  const ranges = splitOutsideQuotes(header, ',').map(parseRange)
  return ranges.filter(({ type }) => type !== '').sort((a, b) => b.quality - a.quality || b.precision - a.precision)
}

function parseRange(text: string): MediaRange {
  const [type = '', ...rest] = splitOutsideQuotes(text, ';').map(part => part.trim().toLowerCase())
  const parameters = new Map<string, string>()
  for (const parameter of rest) {
    const [, name, value] = /^([^=\s]+)\s*=\s*"?([^"]*)"?$/.exec(parameter) ?? []
    if (name !== undefined) parameters.set(name, value!)
  }
  const quality = Number(parameters.get('q') ?? 1)
  const named = type.split('/').filter(part => part !== '*').length
  return {
    type,
    parameters,
    quality: quality >= 0 && quality <= 1 ? quality : 0,
    precision: named + (parameters.has('version') ? 1 : 0),
  }
}

function splitOutsideQuotes(text: string, separator: ',' | ';'): string[] {
  return text.match(separator === ',' ? /(?:[^,"]|"[^"]*"?)+/g : /(?:[^;"]|"[^"]*"?)+/g) ?? []
}
