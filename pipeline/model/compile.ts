/** From what a label processor says about series to a plan for a layout, doing again only what is new or out of date. */
import type { Mapped } from './label-processor.ts'
import type { Labels } from './labels.ts'
import { columnCount, createLayout, labelsAt, RunBuilder, scaleAt, type Layout } from './layout.ts'
import { NO_RULE, PlanBuilder, rangesOf, sameRule } from './plan-builder.ts'
import { planFrom, type Plan, type Rule } from './plan.ts'
import { combine, type Scale } from './scale.ts'
import type { Metric } from './series.ts'
import { sameItems } from './shared.ts'

export type Compiled = { readonly plan: Plan; readonly duplicates: number }

/**
 * The general way: asks for every column what becomes of it. A column that the previous plan had, and that is not stale, is taken
 * over without asking.
 */
export function compileColumns(
  input: Layout,
  emit: (column: number) => readonly Mapped[],
  previous?: Plan,
  isStale: (column: number, previousColumn: number) => boolean = () => false,
): Compiled {
  const builder = new PlanBuilder(input, previous)
  const outputs = previous && outputsByInput(previous)
  const runs = keptRuns(input, previous)
  for (let column = 0, run = 0; column < columnCount(input); column++) {
    while (run < runs.length && column >= runs[run]! + runs[run + 2]!) run += 3
    const isKept = run < runs.length && column >= runs[run]!
    const from = isKept ? runs[run + 1]! + column - runs[run]! : -1
    const old = from < 0 ? undefined : outputs!(from)
    if (old !== undefined && !isStale(column, from)) for (const output of old) builder.keep(column, output)
    else
      emit(column).forEach((mapped, i) =>
        builder.add(column, mapped, sameOutput(previous, old?.[i], input, column, mapped)),
      )
  }
  return { plan: builder.finish(), duplicates: builder.duplicates }
}

/** What a column became may be what it was, although it had to be asked again. */
function sameOutput(
  previous: Plan | undefined,
  output: number | undefined,
  input: Layout,
  column: number,
  mapped: Mapped,
): number | undefined {
  if (previous === undefined || output === undefined) return undefined
  const layout = previous.output
  const entry = layout.metricOf[output]!
  const pending = scaleAt(input, column)
  const isSame =
    layout.metrics[entry] === mapped.metric &&
    labelsAt(layout, output) === mapped.labels &&
    layout.scales[entry] === (mapped.scale === undefined ? pending : combine(pending, mapped.scale)) &&
    sameRule(previous.rules?.[entry] ?? NO_RULE, { range: mapped.range, fold: mapped.fold })
  return isSame ? output : undefined
}

/**
 * The outgoing columns of an incoming one, or undefined if it must be asked again: one that was folded into another's column does
 * not have its own description there.
 */
function outputsByInput({ gather, folds, input }: Plan): (column: number) => readonly number[] | undefined {
  const folded = new Set(folds?.inputs)
  if (gather === undefined) return column => (folded.has(column) ? undefined : [column])
  const first = new Uint32Array(columnCount(input) + 1)
  for (const column of gather) first[column + 1]!++
  for (let i = 1; i < first.length; i++) first[i]! += first[i - 1]!
  return column => {
    if (folded.has(column)) return undefined
    const start = first[column]!
    return Array.from({ length: first[column + 1]! - start }, (_, i) => start + i)
  }
}

/** Which columns of a layout the previous plan's layout had. */
function keptRuns(input: Layout, previous: Plan | undefined): Uint32Array {
  if (previous === undefined) return new Uint32Array(0)
  if (previous.input === input) return Uint32Array.of(0, 0, columnCount(input))
  return input.keptFrom?.id === previous.input.id ? input.keptFrom.runs : new Uint32Array(0)
}

/** What becomes of the tables of a layout when all its columns stay. */
export type Tables = {
  readonly metrics: readonly Metric[]
  readonly scales: readonly Scale[]
  readonly rules?: readonly Rule[]
  readonly labels: readonly Labels[]
}

/** The cheap way, where columns stay what they are and only the tables behind them change: the columns themselves are shared. */
export function compileTables(input: Layout, tables: Tables, previous?: Plan): Plan {
  const { metrics, scales, rules, labels } = tables
  const output = outputOf(input, tables, previous)
  const bounds =
    rules &&
    rangesOf(
      output,
      metrics.map((_, i) => ({ scale: scales[i]!, range: rules[i]!.range })),
    )
  return planFrom({ input, output, ranges: bounds, rules })

  function outputOf(layout: Layout, { metrics, scales }: Tables, before: Plan | undefined): Layout {
    if (sameItems(metrics, layout.metrics) && sameItems(scales, layout.scales) && sameItems(labels, layout.labels))
      return layout
    const runs = before && before.gather === undefined && !before.folds ? keptTables(layout, tables, before) : undefined
    if (runs !== undefined && isWhole(runs, layout, before!.output) && sameItems(metrics, before!.output.metrics)) {
      if (before!.input === layout && sameItems(scales, before!.output.scales)) return before!.output
    }
    return createLayout({
      metrics,
      scales,
      labels,
      metricOf: layout.metricOf,
      labelsOf: layout.labelsOf,
      ...(runs && { keptFrom: { id: before!.output.id, runs } }),
    })
  }
}

function keptTables(input: Layout, { metrics, scales, labels }: Tables, previous: Plan): Uint32Array {
  const kept = new RunBuilder()
  const old = previous.output
  const runs = keptRuns(input, previous)
  for (let run = 0; run < runs.length; run += 3) {
    for (let i = 0; i < runs[run + 2]!; i++) {
      const to = runs[run]! + i
      const from = runs[run + 1]! + i
      const entry = input.metricOf[to]!
      const oldEntry = old.metricOf[from]!
      if (labels[input.labelsOf[to]!] !== labelsAt(old, from)) continue
      if (metrics[entry] === old.metrics[oldEntry] && scales[entry] === old.scales[oldEntry]) kept.add(to, from, 1)
    }
  }
  return kept.finish()
}

function isWhole(runs: Uint32Array, input: Layout, output: Layout): boolean {
  const total = columnCount(input)
  return columnCount(output) === total && runs.length === 3 && runs[0] === 0 && runs[1] === 0 && runs[2] === total
}
