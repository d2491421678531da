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
import { sharedList } from '../../pipeline/model/shared.ts'
import { DeviceRows, identifyRow, isEmpty, type DeviceView, type RowIdentity } from './device-rows.ts'
import type { Rule, Rules } from './rules.ts'
import type { Shown, Speller } from './spelling.ts'

export type TargetContext = {
  /** Labels as facts spell them. */
  spell(rule: Rule, labels: Labels): Labels
  scaleOf(rule: Rule, metric: Metric): Scale
  readonly devices: DeviceView
}

export type Targets = {
  /** The same object as before if nothing changed. */
  contextOf(source: Source, layout: Layout): TargetContext
  /** Keeps no more than what cannot be found out again: which spellings there have been. */
  release(source: Source): void
  forget(source: Source): void
}

/** What is known of one target. There are many, so what is the same for several is one object. */
type Target = {
  readonly source: Source
  layoutId: number | undefined
  hadDevices: boolean
  /** For each catalog of which it has shown something. */
  spellings: readonly Spelling[]
  context: Context | undefined
}

/** Which spellings a target has shown of the labels of a catalog. */
type Spelling = { readonly speller: Speller; readonly shown: Shown }

/** For metrics that may be in one of several units, which of the choices holds; -1 for none. */
type Scales = { readonly key: string; readonly chosen: ReadonlyMap<string, number> }

/** How the label sets of the target that was looked at last are spelt. */
type Spelt = { readonly target: Target; readonly shown: Shown; readonly labels: WeakMap<Labels, Labels> }

class Context implements TargetContext {
  readonly devices: DeviceView
  readonly scales: Scales
  readonly #target: Target
  readonly #spell: SpellFor

  constructor(target: Target, spell: SpellFor, scales: Scales, devices: DeviceView) {
    this.#target = target
    this.#spell = spell
    this.scales = scales
    this.devices = devices
  }

  spell(rule: Rule, labels: Labels): Labels {
    return this.#spell(this.#target, rule, labels)
  }

  scaleOf(rule: Rule, { name }: Metric): Scale {
    const choice = this.scales.chosen.get(name) ?? -1
    return choice < 0 ? rule.scale : rule.choices[choice]!.scale
  }
}

type SpellFor = (target: Target, rule: Rule, labels: Labels) => Labels

/** Targets of one kind have the same units, and there are few kinds. */
const MAX_SCALES = 100

const NO_DEVICES: DeviceView = { strip: new Map(), stripOfBoard: new Map(), ownReadings: new Set() }

/** `show` is told which devices a target shows, whenever its layout changes and it shows or has shown any. */
export function createTargets(rules: Rules, show: (source: Source, devices: readonly SeenDevice[]) => void): Targets {
  const targets = new WeakMap<Source, Target>()
  const spelt = new Map<Speller, Spelt>()
  const knownScales = new Map<string, Scales>()

  function targetOf(source: Source): Target {
    let target = targets.get(source)
    if (target === undefined) {
      target = { source, layoutId: undefined, hadDevices: false, spellings: NO_SPELLINGS, context: undefined }
      targets.set(source, target)
    }
    return target
  }

  /** A target is looked at whole: what was worked out for the one before is of no use any more. */
  function spell(target: Target, { speller }: Rule, labels: Labels): Labels {
    const shown = shownBy(target, speller)
    let its = spelt.get(speller)
    if (its?.target !== target || its.shown !== shown) {
      spelt.set(speller, (its = { target, shown, labels: new WeakMap() }))
    }
    let known = its.labels.get(labels)
    if (known === undefined) its.labels.set(labels, (known = speller.spell(labels, shown, target.source.labels)))
    return known
  }

  /** Spellings that were shown once are remembered, so that only new rows need a look. Whether there are others than before. */
  function lookAtSpellings(target: Target, layout: Layout, ruleOf: readonly (Rule | undefined)[]): boolean {
    const looked = new Set<Labels>()
    const before = target.spellings
    for (const column of newColumns(layout, target.layoutId)) {
      const rule = ruleOf[layout.metricOf[column]!]
      const labels = labelsAt(layout, column)
      if (rule === undefined || looked.has(labels)) continue
      looked.add(labels)
      const shown = shownBy(target, rule.speller)
      const now = rule.speller.show(labels.names, shown)
      if (now !== shown) note(target, rule.speller, now)
    }
    target.layoutId = layout.id
    return target.spellings !== before
  }

  function lookAtDevices(target: Target, layout: Layout, ruleOf: readonly (Rule | undefined)[]): DeviceView {
    const rows = new Map<InputCatalog, DeviceRows>()
    const identities = new Map<Labels, RowIdentity | undefined>()
    const isOfDevice = ruleOf.map(rule => rule?.fact.of !== undefined && rule.catalog.devices !== undefined)
    const { source } = target
    if (!isOfDevice.includes(true)) {
      if (target.hadDevices) show(source, [])
      target.hadDevices = false
      return NO_DEVICES
    }
    for (let column = 0; column < columnCount(layout); column++) {
      const entry = layout.metricOf[column]!
      if (!isOfDevice[entry]) continue
      const rule = ruleOf[entry]!
      const { catalog, fact, podFact } = rule
      if (!meets(catalog, labelsAt(layout, column))) continue
      const labels = spell(target, rule, labelsAt(layout, column))
      if (!identities.has(labels)) identities.set(labels, identifyRow(labels, catalog.devices!))
      const identity = identities.get(labels)
      if (identity === undefined) continue
      let found = rows.get(catalog)
      if (found === undefined) rows.set(catalog, (found = new DeviceRows(catalog.devices!)))
      found.add(labels, identity, podFact === undefined ? undefined : fact.name)
    }
    target.hadDevices = true
    show(
      source,
      [...rows.values()].flatMap(one => one.seen(source)),
    )
    return merged([...rows.values()].map(one => one.view()))
  }

  function sharedScales(chosen: ReadonlyMap<string, number>): Scales {
    const key = JSON.stringify([...chosen])
    let scales = knownScales.get(key)
    if (scales === undefined) {
      if (knownScales.size >= MAX_SCALES) knownScales.clear()
      knownScales.set(key, (scales = { key, chosen }))
    }
    return scales
  }

  return {
    contextOf(source, layout) {
      const target = targetOf(source)
      const ruleOf = layout.metrics.map(({ name }) => rules.byName.get(name))
      const areOthers = lookAtSpellings(target, layout, ruleOf)
      const scales = sharedScales(scalesOf(layout, ruleOf))
      const devices = lookAtDevices(target, layout, ruleOf)
      const { context } = target
      const isSame = !areOthers && context?.scales.key === scales.key && isSameView(context.devices, devices)
      return isSame ? context : (target.context = new Context(target, spell, scales, devices))
    },
    release(source) {
      const target = targets.get(source)
      if (target === undefined) return
      if (target.spellings === NO_SPELLINGS && !target.hadDevices) targets.delete(source)
      target.context = undefined
    },
    forget: source => void targets.delete(source),
  }
}

const NO_SPELLINGS: readonly Spelling[] = []

function shownBy({ spellings }: Target, speller: Speller): Shown {
  for (const one of spellings) if (one.speller === speller) return one.shown
  return speller.nothingShown
}

function note(target: Target, speller: Speller, shown: Shown): void {
  const others = target.spellings.filter(one => one.speller !== speller)
  target.spellings = sharedList([...others, spellingOf(speller, shown)])
}

/** Whatever target shows it. */
const spellings = new WeakMap<Shown, Spelling>()

function spellingOf(speller: Speller, shown: Shown): Spelling {
  let spelling = spellings.get(shown)
  if (spelling === undefined) spellings.set(shown, (spelling = { speller, shown }))
  return spelling
}

/** Whether a series is of the source that the catalog is about. */
export function meets({ requires }: InputCatalog, labels: Labels): boolean {
  return requires.every(name => labels.names.includes(name))
}

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
  const filled = views.filter(view => !isEmpty(view))
  if (filled.length < 2) return filled[0] ?? NO_DEVICES
  return {
    strip: new Map(filled.flatMap(({ strip }) => [...strip])),
    stripOfBoard: new Map(filled.flatMap(({ stripOfBoard }) => [...stripOfBoard])),
    ownReadings: new Set(filled.flatMap(({ ownReadings }) => [...ownReadings])),
  }
}

function isSameView(one: DeviceView, other: DeviceView): boolean {
  return one === other || JSON.stringify(viewKey(one)) === JSON.stringify(viewKey(other))
}

function viewKey({ strip, stripOfBoard, ownReadings }: DeviceView): unknown {
  const plain = (sets: ReadonlyMap<string, ReadonlySet<string>>) =>
    [...sets].map(([key, names]) => [key, [...names].sort()])
  return [plain(strip), plain(stripOfBoard), [...ownReadings].sort()]
}
