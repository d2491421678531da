/**
 * What one target says beyond its single rows: how it spells labels, which units it uses, and which rows speak of one GPU.
 *
 * It is looked at when the target's layout changes. As long as none of it changes, facts of known series stay as they are.
 */
import type { InputCatalog, InputRule } from '../../pipeline/catalog/input-catalog.ts'
import type { SeenDevice } from '../../pipeline/cluster/seen.ts'
import type { Source } from '../../pipeline/model/batch.ts'
import type { Labels } from '../../pipeline/model/labels.ts'
import { columnCount, labelsAt, type Layout } from '../../pipeline/model/layout.ts'
import type { Scale } from '../../pipeline/model/scale.ts'
import type { Metric } from '../../pipeline/model/series.ts'
import { DeviceRows, identifyRow, type DeviceView, type RowIdentity } from './device-rows.ts'
import type { Rule, Rules } from './rules.ts'
import type { Shown, Speller } from './spelling.ts'

export type TargetContext = {
  /** Labels as facts spell them. */
  spell(rule: Rule, labels: Labels): Labels
  scaleOf(rule: Rule, metric: Metric): Scale
  readonly devices: DeviceView
}

export type Target = {
  /** The same object as before if nothing changed. */
  context(layout: Layout): TargetContext
}

/** For one catalog: which spellings the target has shown. Another object as soon as it has shown others. */
type Spelling = { readonly shown: Shown }

/** What is the same for many targets: they have one of each. */
export type SharedByTargets = {
  /** How label sets were spelt, and by which of the targets that show them last. */
  readonly spelt: Map<Speller, WeakMap<Labels, { readonly by: Spelling; readonly labels: Labels }>>
  /** By signature. */
  readonly scales: Map<string, TargetContext['scaleOf']>
}

export function createSharedByTargets(): SharedByTargets {
  return { spelt: new Map(), scales: new Map() }
}

/** Targets of one kind have the same units, and there are few kinds. */
const MAX_SCALES = 100

const NO_DEVICES: DeviceView = { strip: new Map(), stripOfBoard: new Map(), ownReadings: new Set() }

/** `show` is told which devices the target shows, whenever its layout changes and it shows or has shown any. */
export function createTarget(
  rules: Rules,
  shared: SharedByTargets,
  source: Source,
  show: (devices: readonly SeenDevice[]) => void,
): Target {
  const spellings = new Map<Speller, Spelling>()
  let lastId: number | undefined
  let context: TargetContext | undefined
  let signature = ''
  let hadDevices = false

  function spellingOf(speller: Speller): Spelling {
    let spelling = spellings.get(speller)
    if (spelling === undefined) {
      spellings.set(speller, (spelling = { shown: [...speller.nothingShown] }))
    }
    return spelling
  }

  function spell({ speller }: Rule, labels: Labels): Labels {
    const by = spellingOf(speller)
    let spelt = shared.spelt.get(speller)
    if (spelt === undefined) shared.spelt.set(speller, (spelt = new WeakMap()))
    let known = spelt.get(labels)
    if (known?.by !== by) {
      spelt.set(labels, (known = { by, labels: speller.spell(labels, by.shown, source.labels) }))
    }
    return known.labels
  }

  /** Spellings that were shown once are remembered, so that only new rows need a look. */
  function lookAtSpellings(layout: Layout, ruleOf: readonly (Rule | undefined)[]): void {
    const looked = new Set<Labels>()
    for (const column of newColumns(layout, lastId)) {
      const rule = ruleOf[layout.metricOf[column]!]
      const labels = labelsAt(layout, column)
      if (rule === undefined || looked.has(labels)) continue
      looked.add(labels)
      const spelling = spellingOf(rule.speller)
      if (rule.speller.show(labels.names, spelling.shown)) spellings.set(rule.speller, { shown: spelling.shown })
    }
    lastId = layout.id
  }

  function lookAtDevices(layout: Layout, ruleOf: readonly (Rule | undefined)[]): DeviceView {
    const rows = new Map<InputCatalog, DeviceRows>()
    const identities = new Map<Labels, RowIdentity | undefined>()
    const isOfDevice = ruleOf.map(rule => rule?.fact.of !== undefined && rule.catalog.devices !== undefined)
    if (!isOfDevice.includes(true)) {
      if (hadDevices) show([])
      hadDevices = false
      return NO_DEVICES
    }
    for (let column = 0; column < columnCount(layout); column++) {
      const entry = layout.metricOf[column]!
      if (!isOfDevice[entry]) continue
      const rule = ruleOf[entry]!
      const { catalog, fact, podFact } = rule
      if (!meets(catalog, labelsAt(layout, column))) continue
      const labels = spell(rule, labelsAt(layout, column))
      if (!identities.has(labels)) identities.set(labels, identifyRow(labels, catalog.devices!))
      const identity = identities.get(labels)
      if (identity === undefined) continue
      let found = rows.get(catalog)
      if (found === undefined) rows.set(catalog, (found = new DeviceRows(catalog.devices!)))
      found.add(labels, identity, podFact === undefined ? undefined : fact.name)
    }
    hadDevices = true
    show([...rows.values()].flatMap(one => one.seen(source)))
    return merged([...rows.values()].map(one => one.view()))
  }

  function scaleOfFor(key: string, scales: ReadonlyMap<string, number>): TargetContext['scaleOf'] {
    let scaleOf = shared.scales.get(key)
    if (scaleOf === undefined) {
      scaleOf = (rule, { name }) => {
        const choice = scales.get(name) ?? -1
        return choice < 0 ? rule.scale : rule.choices[choice]!.scale
      }
      if (shared.scales.size >= MAX_SCALES) shared.scales.clear()
      shared.scales.set(key, scaleOf)
    }
    return scaleOf
  }

  return {
    context(layout) {
      const ruleOf = layout.metrics.map(({ name }) => rules.byName.get(name))
      lookAtSpellings(layout, ruleOf)
      const scales = scalesOf(layout, ruleOf)
      const devices = lookAtDevices(layout, ruleOf)
      const shown = [...spellings.values()].map(spelling => spelling.shown.join(' '))
      const ofScales = JSON.stringify([...scales])
      const now = JSON.stringify([shown, ofScales, viewKey(devices)])
      if (context === undefined || now !== signature) {
        signature = now
        context = { spell, scaleOf: scaleOfFor(ofScales, scales), devices }
      }
      return context
    },
  }
}

/** Whether a series is of the source that the catalog is about. */
export function meets({ requires }: InputCatalog, labels: Labels): boolean {
  return requires.every(name => labels.names.includes(name))
}

/** For metrics that may be in one of several units, which of the choices holds; -1 for none. */
function scalesOf({ metrics }: Layout, ruleOf: readonly (InputRule | undefined)[]): Map<string, number> {
  const chosen = new Map<string, number>()
  const names = new Set(metrics.map(({ name }) => name))
  metrics.forEach(({ name, help }, i) => {
    const choices = ruleOf[i]?.choices ?? []
    if (choices.length === 0) return
    const text = help.toLowerCase()
    const choice = choices.findIndex(
      one =>
        (one.help.length === 0 || one.help.some(part => text.includes(part))) &&
        (one.with.length === 0 || one.with.some(sibling => names.has(sibling))),
    )
    chosen.set(name, choice)
  })
  return chosen
}

function* newColumns(layout: Layout, previousId: number | undefined): Generator<number> {
  const { keptFrom } = layout
  const runs = keptFrom !== undefined && keptFrom.id === previousId ? keptFrom.runs : new Uint32Array(0)
  let run = 0
  for (let column = 0; column < columnCount(layout); column++) {
    if (column === runs[run]) {
      column += runs[run + 2]! - 1
      run += 3
    } else yield column
  }
}

function merged(views: readonly DeviceView[]): DeviceView {
  const filled = views.filter(
    ({ strip, stripOfBoard, ownReadings }) => strip.size + stripOfBoard.size + ownReadings.size > 0,
  )
  if (filled.length < 2) return filled[0] ?? NO_DEVICES
  return {
    strip: new Map(filled.flatMap(({ strip }) => [...strip])),
    stripOfBoard: new Map(filled.flatMap(({ stripOfBoard }) => [...stripOfBoard])),
    ownReadings: new Set(filled.flatMap(({ ownReadings }) => [...ownReadings])),
  }
}

function viewKey({ strip, stripOfBoard, ownReadings }: DeviceView): unknown {
  const plain = (sets: ReadonlyMap<string, ReadonlySet<string>>) =>
    [...sets].map(([key, names]) => [key, [...names].sort()])
  return [plain(strip), plain(stripOfBoard), [...ownReadings].sort()]
}
