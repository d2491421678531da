/**
 * Which format a scraper gets, by its Accept header.
 *
 * The media range with the highest q that can be served counts, among equals the more precise one, then the earlier one. Who names
 * a version can ask for an `escaping`; otherwise underscores are written. What cannot be served at all is answered as if nothing had
 * been asked for, as other exporters do: text 0.0.4.
 */
import type { Syntax } from '../../pipeline/formats/render-families.ts'
import { ESCAPINGS, type Escaping } from '../../pipeline/formats/render-names.ts'
import { parseAccept, type AcceptRange } from './accept.ts'

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
  const ranges = parseAccept(accept ?? '')
  const refused = ranges.filter(range => range.quality === 0)
  for (const range of ranges.filter(({ quality }) => quality > 0)) {
    const offer = OFFERS.find(one => matches(range, one) && !refused.some(other => refuses(other, one, range)))
    if (offer !== undefined) return formatOf(offer, range)
  }
  return formatOf(OFFERS[0]!)
}

function matches({ value, parameters }: AcceptRange, offer: Offer): boolean {
  if (value !== '*/*' && value !== offer.type && value !== `${offer.type.split('/')[0]}/*`) return false
  const version = parameters.get('version')
  return version === undefined || version === offer.version
}

/** What is refused by name counts against a wildcard, and not the other way round. */
function refuses(refused: AcceptRange, offer: Offer, wanted: AcceptRange): boolean {
  return matches(refused, offer) && refused.precision >= wanted.precision
}

function formatOf({ type, version, syntax }: Offer, range?: AcceptRange): Format {
  const plain = `${type}; version=${version}; charset=utf-8`
  // Who names no version does not know that there is an escaping, either.
  const isVersioned = range?.parameters.has('version') === true
  const asked = isVersioned ? ESCAPINGS.find(known => known === range.parameters.get('escaping')) : undefined
  // The older versions are from before there was such a parameter, so their readers hear of it only if they asked.
  if (!isVersioned || (asked === undefined && version !== '1.0.0')) {
    return { syntax, escaping: 'underscores', contentType: plain }
  }
  const escaping = asked ?? 'underscores'
  return { syntax, escaping, contentType: `${plain}; escaping=${escaping}` }
}
