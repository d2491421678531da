/**
 * From the names of one generation of a vocabulary to those of another, older or newer: what each metric is there, with which labels
 * and by which factor. `rename` translates series by it, and `gpucol migrate` what asks for them.
 */
import type { Catalogs } from '../component.ts'
import { inverse, ONE, type Scale } from '../model/scale.ts'
import { leadsTo, type Generation, type Shape } from './generation.ts'
import { generationOf } from './generations.ts'
import { labelChanges, type LabelChanges } from './label-changes.ts'
import type { Status } from './legacy-schema.ts'
import { preferred, waysBetween, type Way } from './ways.ts'

export type Translation = {
  readonly from: Generation
  readonly to: Generation
  /** Which of the two is the older one. */
  readonly older: 'from' | 'to'
  /** By name what a metric becomes. The first is what is meant, others are further names of it. */
  readonly metrics: ReadonlyMap<string, readonly MetricTranslation[]>
  /** What becomes of a metric that is not among these: its labels may have got other names. Mostly that is nothing: undefined. */
  other(metric: string): MetricTranslation | undefined
  /** Metrics that only the older generation has, whichever direction this is. */
  readonly removed: readonly RemovedMetric[]
}

export type MetricTranslation = {
  readonly from: string
  /** Undefined if the other generation has nothing like it. */
  readonly to: string | undefined
  /** What became of the older metric, whichever direction this is. `same` is a name that stays beside others. */
  readonly status: Status
  /** Why there is none. */
  readonly reason?: string
  /** Help of the older metric, where it has one of its own. */
  readonly help?: string
  /** No source confirms the newer name. */
  readonly isUnverified: boolean
  /** Of several metrics that become one series the one with the lowest counts. */
  readonly rank: number
  /** The shapes that a series may come in, the likely one first. */
  readonly shapes: readonly ShapeTranslation[]
}

export type ShapeTranslation = {
  /** Labels before and after; undefined where nobody says which there are: then all stay that are not renamed. */
  readonly from: readonly string[] | undefined
  readonly to: readonly string[] | undefined
  readonly units: { readonly from: string; readonly to: string }
  /** What a value is multiplied by. */
  readonly scale: Scale
  readonly labels: LabelChanges
}

export type RemovedMetric = {
  readonly metric: string
  readonly reason: string
  /** The output catalog by which `roll_up` still makes it. */
  readonly computed?: string
}

/** Throws an Error that says what is wrong if there is no such translation. `variant` is a shape of the older generation. */
export function loadTranslation(catalogs: Catalogs, from: string, to: string, variant?: string): Translation {
  const [source, target] = [generationOf(catalogs, from), generationOf(catalogs, to)]
  if (from === to) throw new Error(`nothing is to be translated from ${from} to ${to}`)
  if (leadsTo(source, target)) return newer(source, target, checkedVariant(source, variant))
  if (leadsTo(target, source)) return older(source, target, checkedVariant(target, variant))
  throw new Error(`nothing leads from ${from} to ${to}; ${ways(source)}, ${ways(target)}`)
}

/** What a translation is about in the older generation: metrics that are others in the newer one, or none. */
export type OlderMetric = {
  /** Of a histogram that was removed that of the family. */
  readonly name: string
  readonly labels: readonly string[] | undefined
  /** Those of the newer metric, where that has the same name; otherwise its name tells. */
  readonly newer: readonly string[] | undefined
  readonly keepsName: boolean
}

export function olderMetrics({ metrics, older, removed }: Translation): readonly OlderMetric[] {
  const gone = removed.map(({ metric }) => ({ name: metric, labels: undefined, newer: undefined, keepsName: false }))
  const others = [...metrics.values()].flat().flatMap(({ from, to, status, shapes }): OlderMetric[] => {
    const [shape] = shapes
    if (to === undefined || shape === undefined || status === 'same') return []
    return older === 'from'
      ? [{ name: from, labels: shape.from, newer: shape.to, keepsName: from === to }]
      : [{ name: to, labels: shape.to, newer: shape.from, keepsName: from === to }]
  })
  return [...others, ...gone]
}

function ways({ name, next }: Generation): string {
  return next === undefined ? `${name} is the newest of its kind` : `${name} leads to ${successorsOf(next).join(', ')}`
}

function successorsOf({ name, next }: Generation): string[] {
  return next === undefined ? [name] : [name, ...successorsOf(next)]
}

function checkedVariant({ name, variants }: Generation, variant: string | undefined): string | undefined {
  if (variant === undefined || variants.includes(variant)) return variant
  const there = variants.length === 0 ? 'it has none' : `there are ${variants.join(', ')}`
  throw new Error(`${name} has no variant "${variant}"; ${there}`)
}

function newer(from: Generation, to: Generation, variant: string | undefined): Translation {
  const ways = waysBetween(from, to)
  const metrics = new Map<string, readonly MetricTranslation[]>()
  for (const [i, way] of ways.entries()) {
    if (way.becomes === undefined) {
      metrics.set(way.name, [removedHere(way.name, reasonOf(way))])
      continue
    }
    const target = shapeIn(to, way, way.becomes)
    const shapes = preferred(way, variant).map(([shape, scale]) => ({
      ...shapeTo(shape, target, scale),
      labels: { ...labelChanges(shape.labels, target.labels, from, to, way.successors), fixed: way.fixed, match: {} },
    }))
    if (way.becomes === way.name && !shapes.some(isChanged)) continue
    metrics.set(way.name, [translationOf(way, i, way.name, way.becomes, shapes)])
  }
  return { from, to, older: 'from', metrics, other: othersOf(from, to), removed: removedOf(ways) }
}

function older(from: Generation, to: Generation, variant: string | undefined): Translation {
  const ways = waysBetween(to, from)
  const metrics = new Map<string, readonly MetricTranslation[]>()
  for (const [i, way] of ways.entries()) {
    if (way.becomes === undefined) continue
    const source = shapeIn(from, way, way.becomes)
    const [shape, scale] = preferred(way, variant)[0]!
    const back = {
      ...shapeTo(source, shape, inverse(scale)),
      labels: { ...labelChanges(source.labels, shape.labels, from, to, way.successors), fixed: {}, match: way.fixed },
    }
    if (way.becomes === way.name && !isChanged(back)) continue
    const known = metrics.get(way.becomes) ?? []
    const all = [...known, translationOf(way, i, way.becomes, way.name, [back])]
    metrics.set(
      way.becomes,
      all.sort((one, other) => one.rank - other.rank),
    )
  }
  for (const [name, translations] of metrics) metrics.set(name, withOwnName(name, translations, ways, to))
  for (const name of cameLater(from, to)) {
    if (!metrics.has(name)) metrics.set(name, [removedHere(name, `${to.name} has no such metric`)])
  }
  return { from, to, older: 'to', metrics, other: othersOf(from, to), removed: removedOf(ways) }
}

function othersOf(from: Generation, to: Generation): Translation['other'] {
  const [older, newer] = leadsTo(from, to) ? [from, to] : [to, from]
  const prefixes: string[] = []
  for (let at = older; at.name !== newer.name; at = at.next!) prefixes.push(...at.prefixes)
  const labels = { ...labelChanges(undefined, undefined, from, to, {}), fixed: {}, match: {} }
  const shape: ShapeTranslation = {
    from: undefined,
    to: undefined,
    units: { from: '', to: '' },
    scale: ONE,
    labels,
  }
  return name =>
    labels.renamed.length > 0 && prefixes.some(prefix => name.startsWith(prefix))
      ? { from: name, to: name, status: 'labels-changed', isUnverified: false, rank: 0, shapes: [shape] }
      : undefined
}

/** A newer name that the older generation has, too, stays beside what else becomes of it. */
function withOwnName(
  name: string,
  translations: readonly MetricTranslation[],
  ways: readonly Way[],
  to: Generation,
): readonly MetricTranslation[] {
  const isThere = to.isClosed ? to.names().has(name) : ways.some(({ becomes, beside }) => beside && becomes === name)
  if (!isThere || translations.some(translation => translation.to === name)) return translations
  const { from: labels, units } = translations[0]!.shapes[0]!
  const same: ShapeTranslation = {
    from: labels,
    to: labels,
    units: { from: units.from, to: units.from },
    scale: ONE,
    labels: { renamed: [], removed: [], added: [], fixed: {}, match: {} },
  }
  return [{ from: name, to: name, status: 'same', isUnverified: false, rank: 0, shapes: [same] }, ...translations]
}

function cameLater(from: Generation, to: Generation): Set<string> {
  const names = new Set<string>()
  for (let at = to; at !== from && at.next !== undefined; at = at.next) for (const name of at.added) names.add(name)
  return names
}

/** What a metric looks like in the later generation. */
function shapeIn(later: Generation, { newUnit }: Way, name: string): Shape {
  return later.shapesOf(name)?.[0] ?? { variant: '', labels: undefined, unit: newUnit }
}

function shapeTo(from: Shape, to: Shape, scale: Scale): Omit<ShapeTranslation, 'labels'> {
  return { from: from.labels, to: to.labels, units: { from: from.unit, to: to.unit }, scale }
}

function isChanged({ scale, labels }: ShapeTranslation): boolean {
  return (
    scale !== ONE ||
    labels.renamed.length + labels.removed.length + labels.added.length > 0 ||
    Object.keys(labels.fixed).length + Object.keys(labels.match).length > 0
  )
}

/** Later than everything that is listed. */
const DUPLICATES = 1e6

/** Who keeps its name comes first, then who is no duplicate, then who is listed first. */
function translationOf(
  way: Way,
  listed: number,
  from: string,
  to: string,
  shapes: readonly ShapeTranslation[],
): MetricTranslation {
  const { status, help, unverified } = way
  const rank = from === to ? 0 : listed + (status === 'duplicate' ? DUPLICATES : 1)
  return { from, to, status, isUnverified: unverified, rank, shapes, ...(help !== undefined && { help }) }
}

function removedHere(from: string, reason: string): MetricTranslation {
  return { from, to: undefined, status: 'removed', reason, isUnverified: false, rank: 0, shapes: [] }
}

function removedOf(ways: readonly Way[]): RemovedMetric[] {
  return ways
    .filter(({ becomes }) => becomes === undefined)
    .map(way => ({
      metric: way.name,
      reason: reasonOf(way),
      ...(way.computed !== undefined && { computed: way.computed }),
    }))
}

function reasonOf({ reason }: Way): string {
  return reason ?? 'it was removed'
}
