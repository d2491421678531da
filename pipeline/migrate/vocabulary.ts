/** What changes from one vocabulary to another, as the rewriting sees it. */
import type { Scale } from '../model/scale.ts'

/** Of a label; nothing in `to`: it has no successor, and `reason` may say why. */
export type LabelChange = {
  readonly to: string | undefined
  readonly reason?: string | undefined
  /** False where the label has a successor that says the same of a series in other values, as two kinds of id do. */
  readonly hasSameValues: boolean
}

/** Of a metric; nothing in `to`: it is removed, and `reason` says why. */
export type MetricChange = {
  readonly name: string
  readonly to: string | undefined
  readonly reason?: string | undefined
  /** By the label's old name. Labels that stay as they are are not here. */
  readonly labels: ReadonlyMap<string, LabelChange>
  /** Labels that the new series have and the old ones had no counterpart of. */
  readonly added: readonly string[]
  /** What a number in the old unit is multiplied by to be one in the new unit. */
  readonly scale: Scale
}

export type Vocabulary = {
  /** As messages call the two sides. */
  readonly from: string
  readonly to: string
  /** By the old name; only metrics of which something changes. */
  readonly changes: ReadonlyMap<string, MetricChange>
}
