/**
 * Units as OpenTelemetry writes them (UCUM: `By/s`) in the words that Prometheus has at the end of a name (`bytes_per_second`).
 *
 * The tables are those of https://github.com/prometheus/otlptranslator, which Prometheus and the Collector use.
 */

const WORDS: ReadonlyMap<string, string> = new Map([
  ['d', 'days'],
  ['h', 'hours'],
  ['min', 'minutes'],
  ['s', 'seconds'],
  ['ms', 'milliseconds'],
  ['us', 'microseconds'],
  ['ns', 'nanoseconds'],
  ['By', 'bytes'],
  ['KiBy', 'kibibytes'],
  ['MiBy', 'mebibytes'],
  ['GiBy', 'gibibytes'],
  ['TiBy', 'tibibytes'],
  ['KBy', 'kilobytes'],
  ['MBy', 'megabytes'],
  ['GBy', 'gigabytes'],
  ['TBy', 'terabytes'],
  ['m', 'meters'],
  ['V', 'volts'],
  ['A', 'amperes'],
  ['J', 'joules'],
  ['W', 'watts'],
  ['g', 'grams'],
  ['Cel', 'celsius'],
  ['Hz', 'hertz'],
  ['1', ''],
  ['%', 'percent'],
])

const PER_WORDS: ReadonlyMap<string, string> = new Map([
  ['s', 'second'],
  ['m', 'minute'],
  ['h', 'hour'],
  ['d', 'day'],
  ['w', 'week'],
  ['mo', 'month'],
  ['y', 'year'],
])

/** `bytes` and `per_second` of `By/s`; either may be empty. Annotations in braces say what is counted and are no unit. */
export type UnitWords = { readonly main: string; readonly per: string }

/** With `isPlain`, there is nothing in them that a plain name could not have. */
export function unitWords(unit: string, isPlain: boolean): UnitWords {
  const slash = unit.indexOf('/')
  const main = wordOf(slash < 0 ? unit : unit.slice(0, slash), WORDS, isPlain)
  const per = slash < 0 ? '' : wordOf(unit.slice(slash + 1), PER_WORDS, isPlain)
  return { main, per: per === '' ? '' : `per_${per}` }
}

/** What a unit is called in one word, as in OpenMetrics' `# UNIT`: `bytes_per_second`; empty where there is none. */
export function unitName({ main, per }: UnitWords): string {
  return main === '' || per === '' ? main + per : `${main}_${per}`
}

function wordOf(part: string, words: ReadonlyMap<string, string>, isPlain: boolean): string {
  const unit = part.trim()
  if (/[{}]/.test(unit)) return ''
  const word = words.get(unit) ?? unit
  return isPlain ? word.replace(/[^a-zA-Z0-9]+/gu, '_').replace(/^_|_$/g, '') : word
}
