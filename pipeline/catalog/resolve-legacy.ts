/** What a schema cannot say about legacy catalogs: whether what they name exists and leads somewhere. */
import { closest } from '../config/closest.ts'
import { isAttribute } from './attributes.ts'
import type { Generation } from './generation.ts'
import type { LegacyCatalog, LegacyMetric, Status } from './legacy-schema.ts'
import { expandNames } from './name-pattern.ts'
import type { Mistake as MistakeOfValue } from './resolve-output.ts'
import { isUnit, scaleBetween, unitNames } from './units.ts'

/** Of a value, or of the key that it has. */
export type Mistake = MistakeOfValue & { readonly isOfKey?: boolean }

/** `next` is what the successor is, where there is one. */
export function legacyMistakes(catalog: LegacyCatalog, next: Generation | undefined): Mistake[] {
  return [
    ...headMistakes(catalog),
    ...twiceMistakes(catalog),
    ...loopMistakes(catalog),
    ...catalog.metrics.flatMap((metric, i) =>
      metricMistakes(metric, catalog, next).map(mistake => ({ ...mistake, path: ['metrics', i, ...mistake.path] })),
    ),
  ]
}

function headMistakes({ labels, successor, metrics, added, told_units }: LegacyCatalog): Mistake[] {
  const mistakes: Mistake[] = []
  for (const [name, { unit }] of Object.entries(told_units)) {
    if (isUnit(unit)) continue
    const suggestion = closest(unit, unitNames())
    mistakes.push({ path: ['told_units', name, 'unit'], message: `unknown unit "${unit}"`, suggestion })
  }
  for (const [name, attribute] of Object.entries(labels)) {
    if (!isAttribute(attribute)) {
      mistakes.push({ path: ['labels', name], message: `"${attribute}" is nothing that a label can be` })
    }
  }
  if (successor === undefined && metrics.length + added.length > 0) {
    const message = 'what differs, differs from the next generation: `successor` is missing'
    mistakes.push({ path: [metrics.length > 0 ? 'metrics' : 'added'], message })
  }
  return mistakes
}

function twiceMistakes({ metrics }: LegacyCatalog): Mistake[] {
  const first = new Map<string, number>()
  return metrics.flatMap(({ metric }, i) =>
    expandNames(metric).flatMap(name => {
      const before = first.get(name)
      if (before === undefined) first.set(name, i)
      return before === undefined
        ? []
        : [{ path: ['metrics', i, 'metric'], message: `${name} is here twice: it is also \`metrics[${before}]\`` }]
    }),
  )
}

/** Who gets a name from one metric and gives it to another that gives it back would have no name to translate to and fro by. */
function loopMistakes({ metrics }: LegacyCatalog): Mistake[] {
  const becomes = new Map<string, string>()
  const places = new Map<string, number>()
  metrics.forEach((row, i) => {
    const newer = row.becomes === undefined ? [] : expandNames(row.becomes)
    expandNames(row.metric).forEach((name, at) => {
      if (newer[at] === undefined || newer[at] === name || becomes.has(name)) return
      becomes.set(name, newer[at])
      places.set(name, i)
    })
  })
  const mistakes: Mistake[] = []
  const done = new Set<string>()
  for (const start of becomes.keys()) {
    const way: string[] = []
    for (let name: string | undefined = start; name !== undefined && !done.has(name); name = becomes.get(name)) {
      done.add(name)
      way.push(name)
    }
    const back = becomes.get(way.at(-1) ?? '')
    const from = back === undefined ? -1 : way.indexOf(back)
    if (from >= 0) {
      const loop = [...way.slice(from), back].join(', which becomes ')
      mistakes.push({ path: ['metrics', places.get(way.at(-1)!)!, 'becomes'], message: `a loop: ${loop} again` })
    }
  }
  return mistakes
}

function metricMistakes(row: LegacyMetric, catalog: LegacyCatalog, next: Generation | undefined): Mistake[] {
  return [
    ...statusMistakes(row),
    ...nameMistakes(row, next),
    ...unitMistakes(row, next),
    ...variantMistakes(row, catalog),
    ...labelMistakes(row, catalog, next),
  ]
}

/** Whether a status is of a metric that keeps its name. */
const KEEPS_NAME: Readonly<Partial<Record<Status, boolean>>> = {
  same: true,
  'api-only': true,
  'labels-changed': true,
  'unit-changed': true,
  renamed: false,
  duplicate: false,
}

function statusMistakes({ metric, becomes, status, reason }: LegacyMetric): Mistake[] {
  if (becomes === undefined) {
    if (status !== undefined && status !== 'removed') {
      return [{ path: ['status'], message: `what ${metric} is now is missing: \`becomes\`` }]
    }
    return reason === undefined ? [{ path: [], message: `${metric} becomes nothing; why? \`reason\` is missing` }] : []
  }
  if (status === 'removed') return [{ path: ['status'], message: `${metric} is removed and becomes ${becomes}` }]
  if (status !== undefined && KEEPS_NAME[status] !== (becomes === metric)) {
    const message =
      becomes === metric ? `${metric} keeps its name, so it is not ${status}` : `${metric} is ${becomes} now: renamed`
    return [{ path: ['status'], message }]
  }
  return []
}

function nameMistakes({ metric, becomes }: LegacyMetric, next: Generation | undefined): Mistake[] {
  if (becomes === undefined || next === undefined) return []
  const newer = expandNames(becomes)
  const older = expandNames(metric)
  if (newer.length !== older.length) {
    return [{ path: ['becomes'], message: `${newer.length} names for ${older.length} metrics` }]
  }
  const unknown = next.isClosed ? newer.find(name => next.shapesOf(name) === undefined) : undefined
  if (unknown === undefined) return []
  return [
    {
      path: ['becomes'],
      message: `${next.name} has no metric ${unknown}`,
      suggestion: closest(unknown, next.names()),
    },
  ]
}

function unitMistakes(row: LegacyMetric, next: Generation | undefined): Mistake[] {
  const units: [path: (string | number)[], unit: string][] = []
  if (row.unit !== undefined) units.push([['unit'], row.unit])
  if (row.new_unit !== undefined) units.push([['new_unit'], row.new_unit])
  for (const [variant, { unit }] of Object.entries(row.variants)) {
    if (unit !== undefined) units.push([['variants', variant, 'unit'], unit])
  }
  const unknown = units.filter(([, unit]) => !isUnit(unit))
  if (unknown.length > 0) {
    return unknown.map(([path, unit]) => ({
      path,
      message: `unknown unit "${unit}"`,
      suggestion: closest(unit, unitNames()),
    }))
  }
  const newer = row.becomes === undefined ? undefined : next?.shapesOf(expandNames(row.becomes)[0]!)?.[0]
  if (newer !== undefined && row.new_unit !== undefined && row.new_unit !== newer.unit) {
    const message = `${row.becomes} is in "${newer.unit}", as ${next!.name} says`
    return [{ path: ['new_unit'], message }]
  }
  const target = newer?.unit ?? row.new_unit
  if (row.becomes === undefined || target === undefined) return []
  return units.flatMap(([path, unit]) =>
    scaleBetween(unit, target) === undefined
      ? [{ path, message: `nothing leads from "${unit}" to "${target}", the unit of ${row.becomes}` }]
      : [],
  )
}

function variantMistakes({ variants }: LegacyMetric, catalog: LegacyCatalog): Mistake[] {
  const others = catalog.variants.slice(1)
  return Object.keys(variants).flatMap(name => {
    if (others.includes(name)) return []
    const message =
      name === catalog.variants[0]
        ? `${name} is the usual variant, and the metric itself`
        : `there is no variant "${name}" in \`variants\` of the catalog`
    return [{ path: ['variants', name], isOfKey: true, message, suggestion: closest(name, others) }]
  })
}

/** A label of which nobody knows what it is could not be filled in. */
function labelMistakes(row: LegacyMetric, catalog: LegacyCatalog, next: Generation | undefined): Mistake[] {
  if (row.becomes === undefined || next === undefined || !next.isClosed) return []
  const known = new Set([...next.attributes.keys(), ...Object.keys(catalog.labels)])
  const lists: [path: (string | number)[], labels: readonly string[]][] = [[['labels'], row.labels ?? []]]
  for (const [variant, { labels }] of Object.entries(row.variants)) {
    lists.push([['variants', variant, 'labels'], labels ?? []])
  }
  return lists.flatMap(([path, labels]) =>
    labels.flatMap((label, i) =>
      known.has(label)
        ? []
        : [
            {
              path: [...path, i],
              message: `label \`${label}\` is not defined under \`labels\` of the catalog`,
              suggestion: closest(label, known),
            },
          ],
    ),
  )
}
