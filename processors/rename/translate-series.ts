/** Makes of a series the one that another generation has in its place. */
import type { Generation } from '../../pipeline/catalog/generation.ts'
import type { MetricTranslation, ShapeTranslation } from '../../pipeline/catalog/translation.ts'
import { scaleBetween } from '../../pipeline/catalog/units.ts'
import type { Look, Mapped } from '../../pipeline/model/label-processor.ts'
import { getLabel, labelPairs, labelsFrom, type Labels } from '../../pipeline/model/labels.ts'
import { combine, ONE, type Scale } from '../../pipeline/model/scale.ts'
import { metricFrom, type Metric, type Series } from '../../pipeline/model/series.ts'
import { lookUpAttribute, type Known } from './look-up-labels.ts'

export type Translator = {
  readonly from: Generation
  readonly to: Generation
  readonly knownAs: Known
}

/** `other` is a series that is not meant, and `unknown` one whose ids nobody knows. */
export type Translated = Mapped | 'other' | 'unknown'

export function translateSeries(
  { metric, labels }: Series,
  translation: MetricTranslation,
  translator: Translator,
  look: Look,
): Translated {
  const shape = nearestShape(labels, translation.shapes)
  const { match } = shape.labels
  if (Object.entries(match).some(([name, value]) => getLabel(labels, name) !== value)) return 'other'
  const translated = translateLabels(labels, shape, translator, look)
  if (translated === undefined) return 'unknown'
  const scale = combine(toldScale(metric, shape, translator.from), shape.scale)
  return {
    metric: translateMetric(metric, translation, shape, scale),
    labels: translated,
    ...(scale !== ONE && { scale }),
  }
}

/** To the unit that a metric should be in from the one that its source says it is in. */
function toldScale({ name, help }: Metric, { units }: ShapeTranslation, { toldUnits }: Generation): Scale {
  const told = toldUnits.get(name)
  if (told === undefined || !told.help.some(word => help.toLowerCase().includes(word))) return ONE
  return scaleBetween(told.unit, units.from) ?? ONE
}

/** A metric that its owner describes in two ways comes in the one from which it differs least; of equals the first. */
function nearestShape(labels: Labels, shapes: readonly ShapeTranslation[]): ShapeTranslation {
  let [nearest] = shapes
  for (const shape of shapes.slice(1))
    if (distance(labels, shape.from) < distance(labels, nearest!.from)) nearest = shape
  return nearest!
}

/** Whether a series is what it would become: of a metric that keeps its name there may be both. */
export function isTranslated({ metric, labels }: Series, { to, shapes }: MetricTranslation): boolean {
  const [target] = shapes
  return to === metric.name && shapes.every(shape => distance(labels, target!.to) < distance(labels, shape.from))
}

/** How many labels are on one side only. */
export function distance({ names }: Labels, labels: readonly string[] | undefined): number {
  if (labels === undefined) return Infinity
  const shared = labels.filter(label => names.includes(label)).length
  return names.length + labels.length - 2 * shared
}

/** Units in words, where others find out by the help in which unit a metric is. */
const UNIT_WORDS: Readonly<Record<string, string>> = { '1': 'ratio', By: 'bytes', 'By/s': 'bytes per second' }

/** What the source says of a metric in another unit is no longer true. */
function translateMetric(
  metric: Metric,
  { from, to, help }: MetricTranslation,
  shape: ShapeTranslation,
  scale: Scale,
): Metric {
  const isInUnit = scale === ONE
  const unit = isInUnit ? metric.unit : shape.units.to
  if (to === metric.name && unit === metric.unit) return metric
  const words = isInUnit ? metric.help : `${from}, in ${UNIT_WORDS[unit] ?? unit}.`
  return metricFrom({ ...metric, name: to!, family: to!, unit, help: help ?? words })
}

/** Undefined if a label has to be looked up and nobody knows what the series is about. */
function translateLabels(
  labels: Labels,
  { to, labels: changes }: ShapeTranslation,
  translator: Translator,
  look: Look,
): Labels | undefined {
  const { renamed, removed, added, fixed, match } = changes
  const pairs = new Map(labelPairs(labels))
  const missing = new Set(added)
  for (const { from, to: name, sameValue } of renamed) {
    const value = pairs.get(from)
    pairs.delete(from)
    if (!sameValue) missing.add(name)
    // Where nobody says which labels there are, a label of the new name may be there already: then it stays.
    else if (value !== undefined && (to !== undefined || !pairs.has(name))) pairs.set(name, value)
  }
  for (const name of [...removed, ...Object.keys(match)]) pairs.delete(name)
  for (const name of missing) {
    if (getLabel(labels, name) !== undefined) continue
    const value = lookUpLabel(name, labels, translator, look)
    if (value === undefined) return undefined
    pairs.set(name, value)
  }
  for (const [name, value] of Object.entries(fixed)) pairs.set(name, value)
  return labelsFrom(pairs)
}

function lookUpLabel(name: string, labels: Labels, { from, to, knownAs }: Translator, look: Look): string | undefined {
  const said = (attribute: string): string | undefined => {
    const index = labels.names.findIndex(label => from.attributes.get(label) === attribute)
    return index < 0 ? undefined : labels.values[index]
  }
  return lookUpAttribute(to.attributes.get(name) ?? '', said, knownAs, look)
}
