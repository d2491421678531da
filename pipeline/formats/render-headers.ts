/** The families of an exposition: what is said about each, once, and what to do where sources do not agree. */
import type { Syntax } from './render-families.ts'
import { escapeText, quotedIfNeeded } from './render-labels.ts'
import type { ShownMetric } from './render-metrics.ts'
import { isPlainMetricName } from './render-names.ts'

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

type Draft = { name: string; type: string; help: string; unit: string; header: Buffer }

/** `metrics` come in the order in which they win. */
export function describeFamilies(metrics: Iterable<ShownMetric>, syntax: Syntax): Families {
  const all = [...metrics]
  const draftsByName = new Map<string, Draft>()
  const draftsBySample = new Map<string, Draft>()
  const familyOf = new Map<ShownMetric, Draft>()
  const conflicts: Conflict[] = []
  const taken = new Set(all.filter(shown => shown.places[syntax].family === shown.name).map(({ name }) => name))

  for (const shown of all) {
    if (shown.name === '') {
      conflicts.push({ what: 'name', family: shown.metric.name, text: '' })
      continue
    }
    const place = placeBeside(taken, shown, syntax)
    let draft = draftsBySample.get(shown.name) ?? draftsByName.get(place.family)
    if (draft === undefined) {
      draft = { name: place.family, type: place.type, help: '', unit: '', header: NO_HEADER }
      draftsByName.set(place.family, draft)
    } else if (draft.name !== place.family || draft.type !== place.type) {
      conflicts.push({ what: 'type', family: draft.name, text: place.type })
    }
    draftsBySample.set(shown.name, draft)
    familyOf.set(shown, draft)
    for (const what of ['help', 'unit'] as const) {
      const text = what === 'unit' ? shown.unit : shown.metric.help
      if (draft[what] === '') draft[what] = text
      else if (text !== '' && text !== draft[what]) conflicts.push({ what, family: draft.name, text })
    }
  }
  const sorted = [...draftsByName.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
  for (const draft of sorted) draft.header = headerOf(draft, syntax)
  return { sorted, familyOf, conflicts }
}

/**
 * In OpenMetrics the counter `x_total` makes the family `x`. Where a gauge `x` has that name already, the counter is written
 * under the name of its samples: there may be only one family of a name.
 */
function placeBeside(taken: ReadonlySet<string>, shown: ShownMetric, syntax: Syntax) {
  const place = shown.places[syntax]
  const yields = (place.type === 'counter' || place.type === 'info') && place.family !== shown.name
  return yields && taken.has(place.family) ? { family: shown.name, type: 'unknown' } : place
}

const NO_HEADER = Buffer.alloc(0)

function headerOf({ name, type, help, unit }: Draft, syntax: Syntax): Buffer {
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
