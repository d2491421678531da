/**
 * The rows of the table as plain numbers: what components count with. Whoever shows them (`instruments.ts`) reads them at each
 * collection, and a service whose numbers nobody looks at loads nothing for that.
 */
import type { Counters } from '../component.ts'
import { HistogramCell } from './own-histograms.ts'
import { OWN_METRICS, type OwnMetric } from './own-metrics.ts'

export type OwnCounts = {
  /** Counts with these labels added to everything. */
  counters(labels: Labels): Counters
  /** All rows of the table, counted or not. */
  readonly rows: readonly CountedRow[]
}

export type CountedRow =
  | {
      readonly kind: 'counter'
      readonly metric: OwnMetric
      readonly cells: Cells<Cell>
      readonly observed: Set<Observed>
    }
  | { readonly kind: 'gauge'; readonly metric: OwnMetric; readonly observed: Set<Observed> }
  | { readonly kind: 'histogram'; readonly metric: OwnMetric; readonly cells: Cells<HistogramCell> }

type Labels = Readonly<Record<string, string>>
/** One cell per label set, whoever counts: a component that was made anew at a reload goes on where its predecessor stopped. */
type Cells<C> = Map<string, C>
type Cell = { value: number; readonly attributes: Labels }
/** Throws what the component throws that is asked. */
type Observed = () => readonly { readonly value: number; readonly attributes: Labels }[]
type RowOf<K> = Extract<CountedRow, { kind: K }>

export function createOwnCounts(nowMs: () => number): OwnCounts {
  const rows = new Map(OWN_METRICS.map(metric => [metric.name, createRow(metric)]))

  // Who counts what is not in the table, or as something else than it is there, has a mistake in the code.
  function find<K extends CountedRow['kind']>(name: string, ...kinds: readonly K[]): RowOf<K> {
    const found = rows.get(name)
    if (found !== undefined && kinds.includes(found.kind as K)) return found as RowOf<K>
    throw new Error(`"${name}" is no ${kinds.join(' or ')} in the table of own metrics`)
  }

  function counterCell(name: string, labels: Labels): Cell {
    const { cells } = find(name, 'counter')
    return cellOf(cells, labels, () => ({ value: 0, attributes: labels }))
  }

  function histogramCell(name: string, labels: Labels): HistogramCell {
    const { cells, metric } = find(name, 'histogram')
    return cellOf(cells, labels, () => new HistogramCell(labels, metric.buckets ?? [], nowMs()))
  }

  return {
    rows: [...rows.values()],
    counters(own) {
      const cells = boundCells(own, counterCell)
      const histogramCells = boundCells(own, histogramCell)
      const attributes = new Map<string, Labels>()

      function withOwn(labels: Labels | undefined): Labels {
        const key = labels === undefined ? '' : keyOf(labels)
        let bound = attributes.get(key)
        if (bound === undefined) attributes.set(key, (bound = { ...own, ...labels }))
        return bound
      }

      return {
        add(name, amount, labels) {
          cells(name, labels).value += amount
        },
        record: (name, value, labels) => histogramCells(name, labels).record(value),
        // What never happens is not shown, so a cell is made when something does.
        counter(name, labels) {
          let cell: Cell | undefined
          return amount => {
            cell ??= cells(name, labels)
            cell.value += amount
          }
        },
        histogram(name, labels) {
          let cell: HistogramCell | undefined
          return value => {
            cell ??= histogramCells(name, labels)
            cell.record(value)
          }
        },
        observe(name, read) {
          const { observed } = find(name, 'counter', 'gauge')
          const show: Observed = () => read().map(({ value, labels }) => ({ value, attributes: withOwn(labels) }))
          observed.add(show)
          return () => void observed.delete(show)
        },
      }
    },
  }
}

function createRow(metric: OwnMetric): CountedRow {
  const { kind } = metric
  if (kind === 'gauge') return { kind, metric, observed: new Set() }
  if (kind === 'histogram') return { kind, metric, cells: new Map() }
  return { kind, metric, cells: new Map(), observed: new Set() }
}

function cellOf<C>(cells: Cells<C>, labels: Labels, create: () => C): C {
  const key = sortedKeyOf(labels)
  let cell = cells.get(key)
  if (cell === undefined) cells.set(key, (cell = create()))
  return cell
}

/** Remembers which cell is meant, so that counting again is two look-ups. */
function boundCells<C>(own: Labels, find: (name: string, labels: Labels) => C): (name: string, labels?: Labels) => C {
  const known = new Map<string, Map<string, C>>()
  return (name, labels) => {
    let ofName = known.get(name)
    if (ofName === undefined) known.set(name, (ofName = new Map()))
    const key = labels === undefined ? '' : keyOf(labels)
    let cell = ofName.get(key)
    if (cell === undefined) ofName.set(key, (cell = find(name, { ...own, ...labels })))
    return cell
  }
}

/** The same for equal labels in any order. */
function sortedKeyOf(labels: Labels): string {
  const names = Object.keys(labels).sort()
  return keyOf(Object.fromEntries(names.map(name => [name, labels[name]!])))
}

/** Different for different labels, as long as neither names nor values hold a zero byte. */
function keyOf(labels: Labels): string {
  let key = ''
  for (const name in labels) key += `${name}\0${labels[name]}\0`
  return key
}
