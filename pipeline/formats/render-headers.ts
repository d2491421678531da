/** The families of an exposition: what is said about each, once, and what to do where sources do not agree. */
import type { Syntax } from './render-families.ts'
import { escapeText, quotedIfNeeded } from './render-labels.ts'
import type { ShownMetric } from './render-metrics.ts'
import { isPlainMetricName } from './render-names.ts'
import { placeMetrics, type PlacedFamily } from './render-placement.ts'

export type Family = { readonly name: string; readonly header: Buffer }

/**
 * What one source says about a family and an earlier one denies: the earlier one is believed. Or, of `name`, that there is none for
 * what the source calls so.
 */
export type Conflict = {
  readonly what: 'type' | 'help' | 'unit' | 'name'
  readonly family: string
  readonly text: string
}

export type Families = {
  /** By name. */
  readonly sorted: readonly Family[]
  readonly familyOf: ReadonlyMap<ShownMetric, Family>
  readonly conflicts: readonly Conflict[]
}

/** `metrics` come in the order in which they win. */
export function describeFamilies(metrics: Iterable<ShownMetric>, syntax: Syntax): Families {
  const all = [...metrics]
  const {
    families,
    familyOf: placeOf,
    misplaced,
  } = placeMetrics(
    all.filter(({ name }) => name !== ''),
    syntax,
  )
  const conflicts: Conflict[] = all
    .filter(({ name }) => name === '')
    .map(({ metric }) => ({ what: 'name', family: metric.name, text: '' }))
  for (const { metric, family } of misplaced) {
    conflicts.push({ what: 'type', family: family.name, text: metric.places[syntax].type })
  }
  const described = new Map(families.map(family => [family, describe(family, syntax, conflicts)]))
  return {
    sorted: [...described.values()].sort((a, b) => (a.name < b.name ? -1 : 1)),
    familyOf: new Map(Array.from(placeOf, ([metric, family]) => [metric, described.get(family)!])),
    conflicts,
  }
}

function describe({ name, type, metrics }: PlacedFamily, syntax: Syntax, conflicts: Conflict[]): Family {
  const words = { help: '', unit: '' }
  for (const { metric, unit, createdOf } of metrics) {
    // What comes from elsewhere describes itself only.
    if (createdOf === name && metrics.length > 1) continue
    for (const [what, text] of [['help', metric.help] as const, ['unit', unit] as const]) {
      if (words[what] === '') words[what] = text
      else if (text !== '' && text !== words[what]) conflicts.push({ what, family: name, text })
    }
  }
  return { name, header: headerOf({ name, type, ...words }, syntax) }
}

type Description = { readonly name: string; readonly type: string; readonly help: string; readonly unit: string }

function headerOf({ name, type, help, unit }: Description, syntax: Syntax): Buffer {
  const family = quotedIfNeeded(name, isPlainMetricName)
  let header = ''
  if (help !== '') header += `# HELP ${family} ${syntax === 'text' ? escapeHelp(help) : escapeText(help)}\n`
  header += `# TYPE ${family} ${type}\n`
  if (syntax === 'openmetrics' && allowsUnit(name, type, unit)) header += `# UNIT ${family} ${unit}\n`
  return Buffer.from(header)
}

/** OpenMetrics wants the unit at the end of the name, and none where the value is no quantity. */
function allowsUnit(name: string, type: string, unit: string): boolean {
  return unit !== '' && type !== 'info' && type !== 'stateset' && name.endsWith(`_${unit}`)
}

function escapeHelp(text: string): string {
  return text.replace(/[\\\n]/g, found => (found === '\n' ? '\\n' : '\\\\'))
}
