/**
 * Names of metrics and labels that the older formats cannot carry, and the four ways to write them that scrapers ask for.
 *
 * Names of the older formats are `[a-zA-Z_:][a-zA-Z0-9_:]*`, without the colon for labels.
 */

export const ESCAPINGS = ['allow-utf-8', 'underscores', 'dots', 'values'] as const
/**
 * `allow-utf-8` writes names as they are, in quotes where needed. `underscores` puts one for each character that is not allowed.
 * `dots` and `values` can be undone by whoever reads.
 */
export type Escaping = (typeof ESCAPINGS)[number]

const METRIC_NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/
const LABEL_NAME = /^[a-zA-Z_][a-zA-Z0-9_]*$/

export function isPlainMetricName(name: string): boolean {
  return METRIC_NAME.test(name)
}

export function isPlainLabelName(name: string): boolean {
  return LABEL_NAME.test(name)
}

export function escapeMetricName(name: string, escaping: Escaping): string {
  return escapeName(name, escaping, METRIC_NAME, /[a-zA-Z0-9_:]/)
}

export function escapeLabelName(name: string, escaping: Escaping): string {
  return escapeName(name, escaping, LABEL_NAME, /[a-zA-Z0-9_]/)
}

function escapeName(name: string, escaping: Escaping, plain: RegExp, allowed: RegExp): string {
  // `dots` doubles underscores also where the name is plain, or it could not be undone.
  if (escaping === 'allow-utf-8' || name === '' || (escaping !== 'dots' && plain.test(name))) return name
  let escaped = escaping === 'values' ? 'U__' : ''
  let first = true
  for (const character of name) {
    const fits = allowed.test(character) && !(first && /[0-9]/.test(character))
    first = false
    if (escaping === 'underscores') escaped += fits ? character : '_'
    else if (character === '_') escaped += '__'
    else if (fits) escaped += character
    else if (escaping === 'dots') escaped += character === '.' ? '_dot_' : '__'
    else escaped += `_${character.codePointAt(0)!.toString(16)}_`
  }
  return escaped
}
