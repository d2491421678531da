/**
 * Which family each metric is written in. Sources may contradict each other and themselves: of two descriptions the earlier one is
 * believed, no name of a sample is in two families, and in OpenMetrics no family has a name that could be a sample of another.
 */
import { claimedSuffixes, hasCreated, type Place, type Syntax } from './render-families.ts'
import type { ShownMetric } from './render-metrics.ts'

/** A family with its metrics, in the order in which they win. */
export type PlacedFamily = { readonly name: string; type: string; readonly metrics: ShownMetric[] }

/** A metric that is not described as its family is. */
export type Misplaced = { readonly metric: ShownMetric; readonly family: PlacedFamily }

export type Placement = {
  readonly families: readonly PlacedFamily[]
  readonly familyOf: ReadonlyMap<ShownMetric, PlacedFamily>
  readonly misplaced: readonly Misplaced[]
}

/** `metrics` come in the order in which they win. */
export function placeMetrics(metrics: readonly ShownMetric[], syntax: Syntax): Placement {
  const placing = new Placing(syntax)
  const wholes = syntax === 'openmetrics' ? wholesOf(metrics) : new Map<string, Place>()
  const alone = new Set(metrics.filter(one => one.places[syntax].family === one.name).map(({ name }) => name))
  for (const metric of metrics) {
    const place = (metric.createdOf === undefined ? undefined : wholes.get(metric.createdOf)) ?? metric.places[syntax]
    // The counter `x_total` makes the family `x`. Where something is called `x`, that keeps its name.
    const yields = syntax === 'openmetrics' && place.family !== metric.name && alone.has(place.family)
    placing.put(metric, yields && !isDistribution(place.type) ? metric.placesAlone[syntax] : place)
  }
  if (syntax === 'openmetrics') placing.separate()
  return placing.finish()
}

/** Families that may have `_created`. */
function wholesOf(metrics: readonly ShownMetric[]): Map<string, Place> {
  const places = metrics.map(one => one.places.openmetrics).filter(({ type }) => hasCreated(type))
  return new Map(places.map(place => [place.family, place]))
}

function isDistribution(type: string): boolean {
  return type === 'histogram' || type === 'summary' || type === 'gaugehistogram'
}

class Placing {
  readonly #syntax: Syntax
  readonly #families = new Map<string, PlacedFamily>()
  readonly #familyBySample = new Map<string, PlacedFamily>()
  readonly #familyOf = new Map<ShownMetric, PlacedFamily>()
  readonly #misplaced: Misplaced[] = []

  constructor(syntax: Syntax) {
    this.#syntax = syntax
  }

  put(metric: ShownMetric, place: Place): void {
    let family = this.#familyBySample.get(metric.name) ?? this.#families.get(place.family)
    if (family !== undefined && (family.name !== place.family || family.type !== place.type)) {
      this.#misplaced.push({ metric, family })
      // Text is read by whoever has the name; in OpenMetrics samples of another type cost the reader everything.
      if (this.#syntax === 'openmetrics' && !this.#familyBySample.has(metric.name)) {
        if (place.family === metric.name) this.#takeApart(family)
        return this.put(metric, metric.placesAlone.openmetrics)
      }
      // All samples of a stateset must have its label, which those of others have not.
      if (family.type === 'stateset') family.type = 'gauge'
    }
    if (family === undefined) {
      family = { name: place.family, type: place.type, metrics: [] }
      this.#families.set(place.family, family)
    }
    family.metrics.push(metric)
    this.#familyBySample.set(metric.name, family)
    this.#familyOf.set(metric, family)
  }

  /** Takes families apart until no name is claimed twice. What is left of them claims one name each, so there is an end to it. */
  separate(): void {
    for (let losers = this.#clashing(); losers.size > 0; losers = this.#clashing()) {
      for (const family of losers) if (this.#families.get(family.name) === family) this.#takeApart(family)
    }
  }

  #takeApart(family: PlacedFamily): void {
    this.#families.delete(family.name)
    for (const metric of family.metrics) this.#familyBySample.delete(metric.name)
    for (const metric of family.metrics) this.put(metric, metric.placesAlone.openmetrics)
  }

  /** Of two families with a name in common, the one that has to go: the later, unless it has nothing but its own name. */
  #clashing(): Set<PlacedFamily> {
    const owners = new Map<string, PlacedFamily>()
    const losers = new Set<PlacedFamily>()
    for (const family of this.#families.values()) {
      const names = claimedSuffixes(family.type).map(suffix => family.name + suffix)
      const clashes = names.flatMap(name => owners.get(name) ?? [])
      if (clashes.length === 0) for (const name of names) owners.set(name, family)
      else if (names.length > 1) losers.add(family)
      else for (const other of clashes) losers.add(other)
    }
    return losers
  }

  finish(): Placement {
    return { families: [...this.#families.values()], familyOf: this.#familyOf, misplaced: this.#misplaced }
  }
}
