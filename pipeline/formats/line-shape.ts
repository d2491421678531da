/**
 * What the payloads of many targets have in common: which lines there are, in which order, up to their label blocks.
 *
 * A line of the shape is a literal (a metric name, or a whole comment line) and the number of a label block; the bytes of the
 * blocks are the target's own. A thousand nodes with eight GPUs each have one shape.
 */
import { createInternTable } from '../model/intern.ts'
import type { Metric } from '../model/series.ts'
import type { Scale } from '../model/scale.ts'
import { ByteArena } from './byte-arena.ts'
import { hashBytes } from './byte-compare.ts'
import { Families } from './families.ts'
import { HashIndex } from './hash-index.ts'
import { readMetadataLine, type MetadataLine } from './metadata-line.ts'
import { skipBlanks, type Dialect } from './sample-line.ts'

/** The block number of a line that has no sample: a comment, or a blank line. Its literal ends in its line feed. */
export const NO_BLOCK = -1

export type Shape = {
  readonly dialect: Dialect
  readonly literals: ByteArena
  readonly literalIndex: HashIndex
  /** Metric names, by literal; empty for comments, and where the name stands in the label block. */
  readonly names: readonly string[]
  /** By line. */
  readonly literalOf: Int32Array
  readonly blockOf: Int32Array
  /** The first line that each literal is in. */
  readonly firstLineOf: Int32Array
  /** The line that ends an OpenMetrics exposition; -1 if there is none. */
  readonly endLine: number
  readonly families: Families
  /** By literal, for those that have a name. */
  readonly metrics: readonly (Metric | undefined)[]
  /** Columns that a target with this shape was found to have; most others have the same. */
  columns?: Columns
  /** What blocks of targets with this shape are told by; see `packed-blocks.ts`. */
  dictionary?: Uint8Array
}

/** How lines become columns. */
export type Columns = {
  /** By line: where its value goes; -1 for lines without one. Lines of one series share a slot. */
  readonly slotOf: Int32Array
  readonly metrics: readonly Metric[]
  readonly scales: readonly Scale[]
  readonly metricOf: Uint32Array
  readonly labelsOf: Uint32Array
}

const shapes = createInternTable<Shape>()

/** The shape with these lines. A large one is its target's alone: comparing it would cost more than it saves. */
export function shapeFrom(
  dialect: Dialect,
  literals: ByteArena,
  names: readonly string[],
  literalOf: Int32Array,
  blockOf: Int32Array,
): Shape {
  const make = (): Shape => createShape(dialect, literals, names, literalOf, blockOf)
  if (literalOf.length > MAX_SHARED_LINES) return make()
  return shapes.intern(
    hashShape(literals, literalOf, blockOf),
    known =>
      known.dialect === dialect &&
      sameNumbers(known.literalOf, literalOf) &&
      sameNumbers(known.blockOf, blockOf) &&
      sameNumbers(known.literals.starts, literals.starts) &&
      Buffer.compare(known.literals.bytes, literals.bytes) === 0,
    make,
  )
}

const MAX_SHARED_LINES = 20_000

function createShape(
  dialect: Dialect,
  literals: ByteArena,
  names: readonly string[],
  literalOf: Int32Array,
  blockOf: Int32Array,
): Shape {
  const literalIndex = new HashIndex(literals.count)
  for (let literal = 0; literal < literals.count; literal++) {
    literalIndex.add(hashBytes(literals.view, literals.starts[literal]!, literals.starts[literal + 1]!))
  }
  const firstLineOf = new Int32Array(literals.count)
  for (let line = literalOf.length - 1; line >= 0; line--) firstLineOf[literalOf[line]!] = line
  const families = new Families()
  let endLine = -1
  for (let line = 0; line < literalOf.length; line++) {
    if (blockOf[line] !== NO_BLOCK) continue
    const metadata = metadataOf(literals, literalOf[line]!, dialect)
    if (metadata?.kind === 'eof') endLine = line
    else if (metadata !== undefined) families.add(metadata)
  }
  const metrics = names.map(name => (name === '' ? undefined : families.describe(name)))
  return { dialect, literals, literalIndex, names, literalOf, blockOf, firstLineOf, endLine, families, metrics }
}

function metadataOf(literals: ByteArena, literal: number, dialect: Dialect): MetadataLine | undefined {
  const start = literals.starts[literal]!
  let end = literals.starts[literal + 1]! - 1
  if (end > start && literals.bytes[end - 1] === 0x0d) end--
  return skipBlanks(literals.bytes, start, end) < end
    ? readMetadataLine(literals.bytes, start, end, dialect)
    : undefined
}

export const EMPTY_SHAPE: Readonly<Record<Dialect, Shape>> = {
  text: createShape('text', new ByteArena(), [], new Int32Array(0), new Int32Array(0)),
  openmetrics: createShape('openmetrics', new ByteArena(), [], new Int32Array(0), new Int32Array(0)),
}

/** The one object that is equal to these columns, as far as this shape knows. */
export function shareColumns(shape: Shape, columns: Columns): Columns {
  const known = (shape.columns ??= columns)
  const same =
    sameNumbers(known.slotOf, columns.slotOf) &&
    sameNumbers(known.metricOf, columns.metricOf) &&
    sameNumbers(known.labelsOf, columns.labelsOf) &&
    known.metrics.length === columns.metrics.length &&
    known.metrics.every((metric, i) => metric === columns.metrics[i])
  return same ? known : columns
}

function hashShape(literals: ByteArena, literalOf: Int32Array, blockOf: Int32Array): number {
  let hash = hashBytes(literals.view, 0, literals.byteLength)
  for (let line = 0; line < literalOf.length; line++) {
    hash = Math.imul(hash ^ literalOf[line]!, 0x5bd1e995) ^ blockOf[line]!
  }
  return hash
}

function sameNumbers(a: Int32Array | Uint32Array, b: Int32Array | Uint32Array): boolean {
  if (a.length !== b.length) return false
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false
  return true
}
