/**
 * Puts a plan together from what becomes of each incoming column, in order. Series that come out twice are folded, and what is
 * the same as in the plan before is marked as kept, so that whoever comes next need not look at it again.
 */
import { DraftColumns } from './draft-columns.ts'
import type { Labels } from './labels.ts'
import type { Mapped, Range } from './label-processor.ts'
import { columnCount, createLayout, EMPTY_LAYOUT, Numbering, RunBuilder, type Layout } from './layout.ts'
import { planFrom, type Folds, type Plan, type Ranges, type Rule } from './plan.ts'
import { combine, inverse, ONE, type Scale } from './scale.ts'
import type { Metric } from './series.ts'
import { sameItems, sharedList, sharedNumbers } from './shared.ts'

/** One outgoing metric with what its columns have in common. */
type OutputEntry = Rule & { readonly metric: Metric; readonly scale: Scale }

export const NO_RULE: Rule = { range: undefined, fold: undefined }

const rules = new Map<string, Rule>()

/** The one object for this rule: there are as many as catalogs have ranges. */
export function ruleFrom({ range, fold }: Rule): Rule {
  if (range === undefined && fold === undefined) return NO_RULE
  const key = `${range?.min} ${range?.max} ${fold}`
  let rule = rules.get(key)
  if (rule === undefined) rules.set(key, (rule = { range, fold }))
  return rule
}

export class PlanBuilder {
  /** Series that came out again without anybody having said how to fold them. */
  duplicates = 0
  readonly #input: Layout
  readonly #previous: Plan | undefined
  readonly #entries: OutputEntry[] = []
  readonly #entriesByMetric = new Map<Metric, number[]>()
  readonly #labels = new Numbering<Labels>()
  /** By number of the entry: the number of its name. */
  readonly #names: number[] = []
  readonly #nameNumbers = new Numbering<string>()
  readonly #columns: DraftColumns
  readonly #runs = new RunBuilder()
  readonly #folds: { output: number; input: number; entry: OutputEntry; isMax: boolean }[] = []
  // From the numbers of the previous plan's tables to ours; -1 while not yet needed.
  readonly #entryOfPrevious: Int32Array
  readonly #labelsOfPrevious: Int32Array

  constructor(input: Layout, previous: Plan | undefined) {
    this.#input = input
    this.#previous = previous
    this.#columns = new DraftColumns(this.#names, columnCount(input))
    this.#entryOfPrevious = new Int32Array(previous?.output.metrics.length ?? 0).fill(-1)
    this.#labelsOfPrevious = new Int32Array(previous?.output.labels.length ?? 0).fill(-1)
  }

  /** An incoming column becomes this series. `kept` is the column of the previous output that was the same. */
  add(column: number, mapped: Mapped, kept?: number): void {
    const pending = this.#input.scales[this.#input.metricOf[column]!]!
    const scale = mapped.scale === undefined ? pending : combine(pending, mapped.scale)
    const entry = this.#entryNumber({ metric: mapped.metric, scale, range: mapped.range, fold: mapped.fold })
    this.#emit(column, entry, this.#labels.numberOf(mapped.labels), kept)
  }

  /** An incoming column becomes what column `kept` of the previous output was. */
  keep(column: number, kept: number): void {
    const { output, rules } = this.#previous!
    const oldEntry = output.metricOf[kept]!
    const oldLabels = output.labelsOf[kept]!
    let entry = this.#entryOfPrevious[oldEntry]!
    if (entry < 0) {
      const metric = output.metrics[oldEntry]!
      entry = this.#entryNumber({ metric, scale: output.scales[oldEntry]!, ...(rules?.[oldEntry] ?? NO_RULE) })
      this.#entryOfPrevious[oldEntry] = entry
    }
    let labels = this.#labelsOfPrevious[oldLabels]!
    if (labels < 0) {
      labels = this.#labels.numberOf(output.labels[oldLabels]!)
      this.#labelsOfPrevious[oldLabels] = labels
    }
    this.#emit(column, entry, labels, kept)
  }

  finish(): Plan {
    const columns = this.#columns
    const gather = this.#stays() ? undefined : sharedNumbers(columns.gather.slice(0, columns.length))
    const output = this.#output(gather)
    const hasRules = this.#entries.some(hasRule)
    const ranges = rangesOf(output, this.#entries)
    return planFrom({
      input: this.#input,
      output,
      gather,
      folds: this.#folds.length > 0 ? foldsOf(this.#folds, this.#entries, columns.metricOf) : undefined,
      ranges,
      rules: hasRules ? sharedList(this.#entries.map(ruleFrom)) : undefined,
    })
  }

  #emit(column: number, entry: number, labels: number, kept: number | undefined): void {
    const { fold } = this.#entries[entry]!
    const next = this.#columns.length
    const found = this.#columns.findOrAdd(column, entry, labels)
    if (found !== next) {
      if (fold === undefined) this.duplicates++
      this.#folds.push({ output: found, input: column, entry: this.#entries[entry]!, isMax: fold === 'max' })
    } else if (kept !== undefined) this.#runs.add(next, kept, 1)
  }

  #entryNumber(entry: OutputEntry): number {
    let numbers = this.#entriesByMetric.get(entry.metric)
    if (numbers === undefined) this.#entriesByMetric.set(entry.metric, (numbers = []))
    for (const number of numbers) {
      const known = this.#entries[number]!
      if (known.scale === entry.scale && sameRule(known, entry)) return number
    }
    numbers.push(this.#entries.length)
    this.#names.push(this.#nameNumbers.numberOf(entry.metric.name))
    return this.#entries.push(entry) - 1
  }

  #stays(): boolean {
    const { gather, length } = this.#columns
    if (length !== columnCount(this.#input)) return false
    for (let to = 0; to < length; to++) if (gather[to] !== to) return false
    return true
  }

  /** The incoming layout, or the previous outgoing one, if it is the same; else a new one. */
  #output(gather: Uint32Array | undefined): Layout {
    if (gather === undefined && this.#isInput()) return this.#input
    const previous = this.#previous?.output
    const runs = this.#runs.finish()
    const { length: total } = this.#columns
    if (total === 0) return EMPTY_LAYOUT
    if (previous !== undefined) {
      const whole = runs.length === 3 && runs[0] === 0 && runs[1] === 0 && runs[2] === total
      if (whole && columnCount(previous) === total && this.#hasEntriesOf(previous)) return previous
    }
    return createLayout({
      metrics: this.#entries.map(entry => entry.metric),
      scales: this.#entries.map(entry => entry.scale),
      labels: this.#labelList(),
      metricOf: this.#columns.metricOf.slice(0, total),
      labelsOf: this.#columns.labelsOf.slice(0, total),
      ...(previous && { keptFrom: { id: previous.id, runs } }),
    })
  }

  /** Mostly those of the incoming layout, or of the one before. */
  #labelList(): readonly Labels[] {
    const { items } = this.#labels
    for (const known of [this.#input.labels, this.#previous?.output.labels]) {
      if (known !== undefined && sameItems(items, known)) return known
    }
    // A list that grew has room for more, which a copy has not.
    return items.slice()
  }

  #hasEntriesOf({ metrics, scales }: Layout): boolean {
    return (
      metrics.length === this.#entries.length &&
      this.#entries.every(({ metric, scale }, i) => metric === metrics[i] && scale === scales[i])
    )
  }

  /** Rules are by number of the metric: where there are any, numbers must be the same, too. */
  #isInput(): boolean {
    const { metrics, scales, labels, metricOf, labelsOf } = this.#input
    const hasRules = this.#entries.some(hasRule)
    for (let i = 0; i < this.#columns.length; i++) {
      const entry = this.#columns.metricOf[i]!
      const { metric, scale } = this.#entries[entry]!
      const old = metricOf[i]!
      const isSame =
        (entry === old || !hasRules) &&
        metric === metrics[old] &&
        scale === scales[old] &&
        this.#labels.items[this.#columns.labelsOf[i]!] === labels[labelsOf[i]!]
      if (!isSame) return false
    }
    return true
  }
}

/** The bounds of the columns whose metric has a range. */
export function rangesOf(
  output: Layout,
  entries: readonly { readonly scale: Scale; readonly range: Range | undefined }[],
): Ranges | undefined {
  if (entries.every(entry => entry.range === undefined)) return undefined
  const columns: number[] = []
  output.metricOf.forEach((entry, column) => {
    if (entries[entry]!.range !== undefined) columns.push(column)
  })
  const bounds = columns.map(column => unscaled(entries[output.metricOf[column]!]!))
  return {
    columns: sharedNumbers(Uint32Array.from(columns)),
    low: sharedNumbers(Float64Array.from(bounds, bound => bound.low)),
    high: sharedNumbers(Float64Array.from(bounds, bound => bound.high)),
  }
}

/** Ranges are in true values, columns hold unscaled ones. */
function unscaled({ scale, range }: { scale: Scale; range: Range | undefined }): { low: number; high: number } {
  if (range === undefined) return { low: NaN, high: NaN }
  return {
    low: (range.min * scale.divide) / scale.multiply,
    high: (range.max * scale.divide) / scale.multiply,
  }
}

function foldsOf(
  folds: readonly { output: number; input: number; entry: OutputEntry; isMax: boolean }[],
  entries: readonly OutputEntry[],
  metricOf: Uint32Array,
): Folds {
  const ratios = folds.map(({ output, entry }) => {
    const target = entries[metricOf[output]!]!
    return entry.scale === target.scale ? ONE : combine(entry.scale, inverse(target.scale))
  })
  const bounds = folds.map(({ output }) => unscaled(entries[metricOf[output]!]!))
  return {
    outputs: sharedNumbers(Uint32Array.from(folds, fold => fold.output)),
    inputs: sharedNumbers(Uint32Array.from(folds, fold => fold.input)),
    isMax: sharedNumbers(Uint8Array.from(folds, fold => (fold.isMax ? 1 : 0))),
    multiply: sharedNumbers(Float64Array.from(ratios, ratio => ratio.multiply)),
    divide: sharedNumbers(Float64Array.from(ratios, ratio => ratio.divide)),
    low: sharedNumbers(Float64Array.from(bounds, bound => bound.low)),
    high: sharedNumbers(Float64Array.from(bounds, bound => bound.high)),
  }
}

function hasRule({ range, fold }: Rule): boolean {
  return range !== undefined || fold !== undefined
}

export function sameRule(a: Rule, b: Rule): boolean {
  return a.fold === b.fold && a.range?.min === b.range?.min && a.range?.max === b.range?.max
}
