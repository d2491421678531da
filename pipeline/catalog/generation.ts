/** A generation of a vocabulary as a whole: what it has of its own, and what it shares with those that came after it. */
import { expandNames } from './name-pattern.ts'
import type { LegacyCatalog, LegacyMetric, Status } from './legacy-schema.ts'
import type { OutputCatalog } from './output-schema.ts'

/** What a metric looks like. Without labels nobody says which it has. */
export type Shape = {
  readonly variant: string
  readonly labels: readonly string[] | undefined
  readonly unit: string
}

/** A metric of the generation that is another in the next one, or of which something is to be said. */
export type LegacyRow = {
  readonly name: string
  readonly becomes: string | undefined
  readonly status: Status
  /** The usual one first. */
  readonly shapes: readonly Shape[]
  /** The unit that it has in the next generation. */
  readonly newUnit: string
  /** What else its catalog says of it. */
  readonly said: LegacyMetric
}

export type ToldUnit = { readonly unit: string; readonly help: readonly string[] }

export type Generation = {
  readonly name: string
  readonly about: string
  readonly next: Generation | undefined
  readonly variants: readonly string[]
  /** What names of further metrics begin with. */
  readonly prefixes: readonly string[]
  readonly added: ReadonlySet<string>
  readonly rows: ReadonlyMap<string, LegacyRow>
  /** What labels are, of this generation and where it says nothing of the next. */
  readonly attributes: ReadonlyMap<string, string>
  /** Metrics that are in another unit where their help has one of some words. */
  readonly toldUnits: ReadonlyMap<string, ToldUnit>
  /** By label of this generation that of the next. */
  readonly successors: ReadonlyMap<string, string>
  /** The shapes of a metric, also of one that never changed; undefined if nobody knows it. */
  shapesOf(metric: string): readonly Shape[] | undefined
  /** Whether it can be said which metrics it has. */
  readonly isClosed: boolean
  /** The metrics that are known by name. */
  names(): ReadonlySet<string>
}

/** The metrics that are made are the newest generation. */
export function generationOfOutput(name: string, { about, metrics, labels }: OutputCatalog): Generation {
  const shapes = new Map(
    metrics.map(({ metric, labels: its, unit }) => [metric, [{ variant: '', labels: its, unit }]] as const),
  )
  return {
    name,
    about,
    next: undefined,
    variants: [],
    prefixes: [],
    added: new Set(),
    rows: new Map(),
    attributes: new Map(Object.entries(labels)),
    successors: new Map(),
    toldUnits: new Map(),
    shapesOf: metric => shapes.get(metric),
    isClosed: true,
    names: () => new Set(shapes.keys()),
  }
}

export function generationOfLegacy(name: string, catalog: LegacyCatalog, next: Generation | undefined): Generation {
  const rows = new Map<string, LegacyRow>()
  for (const metric of catalog.metrics) {
    const newer = metric.becomes === undefined ? [] : expandNames(metric.becomes)
    expandNames(metric.metric).forEach((old, i) => rows.set(old, rowOf(old, newer[i], metric, catalog, next)))
  }
  const introduced = namesIntroduced(rows, catalog.added)
  return {
    name,
    about: catalog.about,
    next,
    variants: catalog.variants,
    prefixes: catalog.prefixes,
    added: new Set(catalog.added),
    rows,
    attributes: new Map([...(next?.attributes ?? []), ...Object.entries(catalog.labels)]),
    successors: new Map(Object.entries(catalog.successors)),
    toldUnits: new Map(Object.entries(catalog.told_units)),
    shapesOf(metric) {
      const own = rows.get(metric)
      if (own !== undefined) return own.shapes
      // The variants of a later generation are no matter of this one.
      return introduced.has(metric) ? undefined : next?.shapesOf(metric)?.slice(0, 1)
    },
    isClosed: next?.isClosed ?? false,
    names() {
      const names = new Set([...rows.keys(), ...(next?.names() ?? [])])
      for (const name of introduced) names.delete(name)
      return names
    },
  }
}

/** The names that came with the next generation. */
export function namesIntroduced(rows: ReadonlyMap<string, LegacyRow>, added: Iterable<string>): Set<string> {
  const introduced = new Set(added)
  for (const { becomes, said } of rows.values()) if (becomes !== undefined && !said.beside) introduced.add(becomes)
  for (const name of rows.keys()) introduced.delete(name)
  return introduced
}

function rowOf(
  name: string,
  becomes: string | undefined,
  said: LegacyMetric,
  { variants }: LegacyCatalog,
  next: Generation | undefined,
): LegacyRow {
  const newer = becomes === undefined ? undefined : next?.shapesOf(becomes)?.[0]
  const newUnit = newer?.unit ?? said.new_unit ?? said.unit ?? ''
  const unit = said.unit ?? newUnit
  const labels = said.labels ?? newer?.labels
  const usual: Shape = { variant: variants[0] ?? '', labels, unit }
  const others = Object.entries(said.variants).map(([variant, its]) => ({
    variant,
    labels: its.labels ?? labels,
    unit: its.unit ?? unit,
  }))
  const status = said.status ?? statusOf(name, becomes, usual, newer)
  return { name, becomes, status, shapes: [usual, ...others], newUnit, said }
}

function statusOf(name: string, becomes: string | undefined, older: Shape, newer: Shape | undefined): Status {
  if (becomes === undefined) return 'removed'
  if (becomes !== name) return 'renamed'
  if (newer === undefined) return 'same'
  if (!sameLabels(older.labels, newer.labels)) return 'labels-changed'
  return older.unit === newer.unit ? 'same' : 'unit-changed'
}

function sameLabels(one: readonly string[] | undefined, other: readonly string[] | undefined): boolean {
  if (one === undefined || other === undefined) return one === other
  return one.length === other.length && one.every(label => other.includes(label))
}

/** Whether one generation is older than another of the same line. */
export function leadsTo({ next }: Generation, target: Generation): boolean {
  return next !== undefined && (next.name === target.name || leadsTo(next, target))
}
