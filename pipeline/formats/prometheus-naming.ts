/**
 * OpenTelemetry's names of metrics and attributes in Prometheus' words, by the rules that Prometheus and the Collector have
 * (https://github.com/prometheus/otlptranslator): `http.server.duration` in `ms` is `http_server_duration_milliseconds`.
 *
 * Only for what came by OTLP (`Metric.isOtel`). Scraped names never change.
 */
import { labelPairs, labelsFrom, type Labels } from '../model/labels.ts'
import type { Metric } from '../model/series.ts'
import { unitName, unitWords } from './prometheus-units.ts'

export const TRANSLATION_STRATEGIES = [
  'UnderscoreEscapingWithSuffixes',
  'UnderscoreEscapingWithoutSuffixes',
  'NoUTF8EscapingWithSuffixes',
  'NoTranslation',
] as const
/** Whether names lose what Prometheus before version 3 could not read, and whether units and `_total` are added to them. */
export type TranslationStrategy = (typeof TRANSLATION_STRATEGIES)[number]

/** The namespace stands before the name, with an underscore. */
export type Naming = { readonly strategy: TranslationStrategy; readonly namespace?: string }

export function escapesNames(strategy: TranslationStrategy): boolean {
  return strategy.startsWith('Underscore')
}

export function addsSuffixes(strategy: TranslationStrategy): boolean {
  return strategy.endsWith('WithSuffixes')
}

/** What a name is made from: histograms and summaries by the name of their family. */
export type NameParts = Pick<Metric, 'name' | 'type' | 'unit' | 'isUpDown'>

/** Undefined where nothing would be left of the name. */
export function prometheusName(metric: NameParts, { strategy, namespace = '' }: Naming): string | undefined {
  const suffixes = addsSuffixes(strategy)
  if (!escapesNames(strategy)) {
    const name = namespace === '' ? metric.name : `${namespace}_${metric.name}`
    return (suffixes ? withSuffixes(name, metric) : name) || undefined
  }
  const name = suffixes ? plainNameWithSuffixes(metric, namespace) : plainName(metric.name, namespace)
  // Underscores alone are a name only if that was the name.
  return name === '' || (name !== metric.name && /^_+$/.test(name)) ? undefined : name
}

/** What the unit is called where the metric has this name: `bytes_per_second`. */
export function prometheusUnit(unit: string, strategy: TranslationStrategy): string {
  return unitName(unitWords(unit, escapesNames(strategy)))
}

/**
 * A metric with its Prometheus name, family and unit; undefined where nothing would be left of the name. Parts of distributions
 * (`x_bucket`) keep their ending.
 */
export function translateMetric(metric: Metric, naming: Naming): Pick<Metric, 'name' | 'family' | 'unit'> | undefined {
  const family = prometheusName({ ...metric, name: metric.family }, naming)
  if (family === undefined) return undefined
  const part = metric.name.startsWith(metric.family) ? metric.name.slice(metric.family.length) : ''
  // Without suffixes in the name, the unit belongs to the description as it came.
  const unit = addsSuffixes(naming.strategy) ? prometheusUnit(metric.unit, naming.strategy) : metric.unit
  return { name: family + part, family, unit }
}

/** Words between underscores, as they are, so that doubled underscores stay. */
function plainName(name: string, namespace: string): string {
  const words = (text: string): string =>
    text
      .split(/[^a-zA-Z0-9:_]+/u)
      .filter(word => word !== '')
      .join('_')
  if (namespace !== '') return `${words(namespace)}_${words(name)}`
  return underscoreBeforeDigit(words(name))
}

function plainNameWithSuffixes(metric: NameParts, namespace: string): string {
  const { name, unit } = metric
  let words = name.split(/[^a-zA-Z0-9:]+/u).filter(word => word !== '')
  const { main, per } = unitWords(unit, true)
  // Prometheus compares with single words, so that `requests_per_second` gets a second `per_second`: names must be the same there.
  const known = new Set(words)
  words.push(...[main, per].filter(word => word !== '' && !known.has(word)))
  const last = lastWord(metric)
  if (last !== undefined) words = [...words.filter(word => word !== last), last]
  if (namespace !== '') words.unshift(namespace)
  return underscoreBeforeDigit(words.join('_'))
}

/** The name as it is, and at its end what it does not end with yet. */
function withSuffixes(name: string, metric: NameParts): string {
  const last = lastWord(metric)
  const { main, per } = unitWords(metric.unit, false)
  let stem = name
  const ends = [per, last].filter(end => end !== undefined && end !== '')
  for (const end of ends.toReversed()) stem = withoutEnd(stem, end!)
  if (main !== '' && !stem.endsWith(main)) stem += `_${main}`
  return [stem, ...ends].join('_')
}

/** Counters of things often have the unit `1`, also those that may fall, so only a gauge of that unit is a ratio. */
function lastWord({ type, unit, isUpDown }: NameParts): 'total' | 'ratio' | undefined {
  if (type === 'counter') return 'total'
  return type === 'gauge' && isUpDown !== true && unit === '1' ? 'ratio' : undefined
}

/** Without the word and the character before it, whatever that is, if anything is then left. */
function withoutEnd(name: string, end: string): string {
  return name.endsWith(end) && name.length > end.length + 1 ? name.slice(0, -end.length - 1) : name
}

function underscoreBeforeDigit(name: string): string {
  return /^[0-9]/.test(name) ? `_${name}` : name
}

export type LabelNaming = {
  /** Names stay as they are. */
  readonly utf8?: boolean
  /** `key` stands before names that begin with one underscore. */
  readonly underscoreSanitization?: boolean
  readonly preserveMultipleUnderscores?: boolean
}

/** Undefined for what can be no name. */
export function prometheusLabelName(name: string, options: LabelNaming = {}): string | undefined {
  const { utf8 = false, underscoreSanitization = false, preserveMultipleUnderscores = false } = options
  if (utf8) return /^_*$/.test(name) ? undefined : name
  const plain = plainLabelName(name, preserveMultipleUnderscores)
  if (/^_*$/.test(plain)) return undefined
  if (/^[0-9]/.test(plain)) return `key_${plain}`
  return underscoreSanitization && /^_(?!_)/.test(plain) ? `key${plain}` : plain
}

function plainLabelName(name: string, preserveMultipleUnderscores: boolean): string {
  if (preserveMultipleUnderscores) return name.replace(/[^a-zA-Z0-9]/gu, '_')
  // Names with two underscores at both ends are Prometheus' own and keep them.
  const [, own] = /^__(.*)__$/su.exec(name) ?? []
  return own === undefined ? name.replace(/[^a-zA-Z0-9]+/gu, '_') : `__${own.replace(/[^a-zA-Z0-9]+/gu, '_')}__`
}

/**
 * Attributes as labels. The values of those that have one name there are joined by `;` in the order of their own names; what
 * can be no name, and `__name__`, is left out. `onCollision` hears which.
 */
export function translateLabels(
  labels: Labels,
  strategy: TranslationStrategy,
  onCollision?: (name: string, attributes: readonly string[]) => void,
): Labels {
  const utf8 = !escapesNames(strategy)
  const attributesByName = new Map<string, { values: string[]; names: string[] }>()
  // Labels are in the order of their names.
  for (const [attribute, value] of labelPairs(labels)) {
    const name = attribute === '__name__' ? undefined : prometheusLabelName(attribute, { utf8 })
    if (name === undefined) continue
    const known = attributesByName.get(name)
    if (known === undefined) attributesByName.set(name, { values: [value], names: [attribute] })
    else {
      known.values.push(value)
      known.names.push(attribute)
    }
  }
  const pairs = Array.from(attributesByName, ([name, { values }]) => [name, values.join(';')] as const)
  for (const [name, { names }] of attributesByName) if (names.length > 1) onCollision?.(name, names)
  return labelsFrom(pairs)
}
