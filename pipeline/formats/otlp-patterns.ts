/**
 * What groups have in common. The GPUs of a cluster have the same metrics, and each one label set: but for values, times and that label
 * set the bytes of their metrics are the same, so they are kept once, and a group is a copy of them with its numbers put in.
 */
import type { ByteArena } from './byte-arena.ts'
import type { MetricBytes } from './otlp-dialect.ts'
import type { Groups } from './otlp-groups.ts'
import type { Layout } from '../model/layout.ts'

export type Pattern = {
  /** A scope with all that is in it, zeros for what differs but for the times. */
  readonly bytes: Uint8Array
  readonly view: DataView
  /** The one time that all points in it have: that of whoever used it last. */
  timeMs: number
  readonly length: number
  /** By point: how far the beginning of its value is from the end. */
  readonly places: Uint32Array
  readonly count: number
  readonly attributeBytes: number
}

/** Of points of these metrics, in this order, whose attributes have so many bytes, in a scope that begins like this. */
export type CreatePattern = (scope: Uint8Array, metrics: readonly MetricBytes[], attributeBytes: number) => Pattern

/** By group the number of its pattern, NONE where points have to be put together one by one. */
export type PlannedPatterns = { readonly patterns: readonly Pattern[]; readonly patternOf: Uint8Array }

/** Columns that are series by themselves, by group and then by metric. */
type Columns = {
  readonly layout: Layout
  readonly columns: Uint32Array
  readonly starts: Uint32Array
  readonly metrics: readonly MetricBytes[]
  readonly blocks: ByteArena
  readonly groups: Groups
}

export const NONE = 0xff
/** Groups with more are few, and have too little in common. */
export const MAX_POINTS = 128
/** The same for those whose attributes take more in all. */
const MAX_ATTRIBUTE_BYTES = 8 * 1024
/** So many are remembered for other plans. */
const MAX_KNOWN = 256

export class PatternTable {
  readonly #create: CreatePattern
  readonly #known = new Map<string, Pattern>()
  readonly #numbers = new WeakMap<MetricBytes, number>()
  #count = 0

  constructor(create: CreatePattern) {
    this.#create = create
  }

  plan(columns: Columns): PlannedPatterns {
    const patterns: Pattern[] = []
    const patternOf = new Uint8Array(columns.starts.length - 1).fill(NONE)
    /** By hash, a group that has the pattern. */
    const examples = new Map<number, number>()
    for (let group = 0; group < patternOf.length; group++) {
      if (!isEven(columns, group)) continue
      const hash = hashOf(columns, group)
      const example = examples.get(hash)
      if (example !== undefined) {
        if (isAlike(columns, example, group)) patternOf[group] = patternOf[example]!
      } else if (patterns.length < NONE) {
        examples.set(hash, group)
        patternOf[group] = patterns.push(this.#patternOf(columns, group)) - 1
      }
    }
    return { patterns, patternOf }
  }

  #patternOf({ layout, columns, starts, metrics, blocks, groups }: Columns, group: number): Pattern {
    const its = Array.from(
      columns.subarray(starts[group], starts[group + 1]),
      column => metrics[layout.metricOf[column]!]!,
    )
    const attributeBytes = blockLength(blocks, layout.labelsOf[columns[starts[group]!]!]!)
    const scope = groups.scopes.read(group).slice()
    const key = `${attributeBytes} ${its.map(metric => this.#numberOf(metric)).join(' ')} ${scope.toHex()}`
    let pattern = this.#known.get(key)
    if (pattern === undefined) {
      // Plans keep those that they have.
      if (this.#known.size === MAX_KNOWN) this.#known.clear()
      this.#known.set(key, (pattern = this.#create(scope, its, attributeBytes)))
    }
    return pattern
  }

  #numberOf(metric: MetricBytes): number {
    let number = this.#numbers.get(metric)
    if (number === undefined) this.#numbers.set(metric, (number = this.#count++))
    return number
  }
}

function blockLength({ starts }: ByteArena, labels: number): number {
  return starts[labels + 2]! - starts[labels + 1]!
}

/** Whether all points have the same attributes, as far as these can be seen without comparing them. */
function isEven({ layout: { labelsOf }, columns, starts, blocks }: Columns, group: number): boolean {
  const from = starts[group]!
  const to = starts[group + 1]!
  if (from === to || to - from > MAX_POINTS) return false
  const labels = labelsOf[columns[from]!]!
  const length = blockLength(blocks, labels)
  if ((to - from) * length > MAX_ATTRIBUTE_BYTES) return false
  for (let i = from + 1; i < to; i++) {
    const other = labelsOf[columns[i]!]!
    if (other !== labels && (length > 0 || blockLength(blocks, other) > 0)) return false
  }
  return true
}

function hashOf({ layout: { metricOf, labelsOf }, columns, starts, blocks }: Columns, group: number): number {
  let hash = blockLength(blocks, labelsOf[columns[starts[group]!]!]!)
  for (let i = starts[group]!; i < starts[group + 1]!; i++)
    hash = (Math.imul(hash, 31) + metricOf[columns[i]!]! + 1) | 0
  return hash
}

function isAlike(
  { layout: { metricOf, labelsOf }, columns, starts, blocks, groups }: Columns,
  a: number,
  b: number,
): boolean {
  const count = starts[a + 1]! - starts[a]!
  if (starts[b + 1]! - starts[b]! !== count) return false
  const [first, other] = [columns[starts[a]!]!, columns[starts[b]!]!]
  if (blockLength(blocks, labelsOf[first]!) !== blockLength(blocks, labelsOf[other]!)) return false
  for (let i = 0; i < count; i++) {
    if (metricOf[columns[starts[a]! + i]!] !== metricOf[columns[starts[b]! + i]!]) return false
  }
  return groups.scopes.areEqual(a, b)
}
