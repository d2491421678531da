/** What changes from one vocabulary to another, as the rewriting sees it. */
import { ONE, type Scale } from '../model/scale.ts'

/** Of a label; nothing in `to`: it has no successor, and `reason` may say why. */
export type LabelChange = {
  readonly to: string | undefined
  readonly reason?: string | undefined
  /** False where the label has a successor that says the same of a series in other values, as two kinds of id do. */
  readonly hasSameValues: boolean
  /** Whether it and its successor tell the same series apart, as two kinds of id do. */
  readonly isId?: boolean
}

/** Of a metric; nothing in `to`: it is removed, and `reason` says why. */
export type MetricChange = {
  readonly name: string
  readonly to: string | undefined
  readonly reason?: string | undefined
  /** By the label's old name. Labels that stay as they are are not here. */
  readonly labels: ReadonlyMap<string, LabelChange>
  /** Whether all labels of the metric are known; if not, those above are ones that it may have. */
  readonly hasKnownLabels: boolean
  /** Likewise, of labels that only an unusual shape of the old metric has. */
  readonly unusualLabels: ReadonlyMap<string, LabelChange>
  /** Labels that the new series have and the old ones had no counterpart of. */
  readonly added: readonly string[]
  /** Labels with values that the old name implied, so that the new one has to be asked for them. */
  readonly fixed: Readonly<Record<string, string>>
  /** Labels with values that the new name implies; a selector that does not ask for them means more than the new name has. */
  readonly match: Readonly<Record<string, string>>
  /** What a number in the old unit is multiplied by to be one in the new unit. */
  readonly scale: Scale
  /**
   * How the way back finds the old name: by the new one alone, by the factor that stands beside it, or not at all, because the new name
   * is one of the old vocabulary, too.
   */
  readonly wayBack: 'name' | 'factor' | 'none'
  /** No source confirms the new name. */
  readonly isUnverified: boolean
}

export type Vocabulary = {
  /** As messages call the two sides. */
  readonly from: string
  readonly to: string
  /**
   * By the old name; only metrics of which something changes. Of several the first whose `match` is asked for is meant. Where that is the
   * name itself, another is meant only if the factor stands there that brings its unit back.
   */
  readonly changes: ReadonlyMap<string, readonly MetricChange[]>
  /** What becomes of a metric that is not among these: its labels may have got other names. */
  readonly other: (name: string) => MetricChange | undefined
  /** What the way back makes of a name that both vocabularies have, besides the same. */
  readonly namesakes: (name: string) => readonly MetricChange[]
  /** Whether only the new vocabulary has the name. */
  readonly isNewName: (name: string) => boolean
}

/** Whether nothing changes at all. */
export function isSame({ name, to, labels, added, scale }: MetricChange): boolean {
  return name === to && labels.size === 0 && added.length === 0 && scale === ONE
}
