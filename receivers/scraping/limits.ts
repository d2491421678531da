/** Limits on what a target may send. Whoever is above one fails as a whole: half of a target's series would be worse than none. */
import type { Labels } from '../../pipeline/model/labels.ts'
import { columnCount, type Layout } from '../../pipeline/model/layout.ts'

/** 0 is no limit. */
export type Limits = {
  readonly samples: number
  /** Labels of a series, its name and those of the target among them. */
  readonly labels: number
  readonly labelNameBytes: number
  /** Also for metric names. */
  readonly labelValueBytes: number
}

/** Throws an Error that names the limit. Costs nothing for series that are known already. */
export function checkLabels({ names, values }: Labels, limits: Limits): void {
  if (limits.labels > 0 && names.length + 1 > limits.labels) {
    throw new Error(`a series has ${names.length + 1} labels, label_limit is ${limits.labels}`)
  }
  if (limits.labelNameBytes > 0) {
    for (const name of names) {
      if (Buffer.byteLength(name) <= limits.labelNameBytes) continue
      throw new Error(
        `the label name "${shorten(name)}" is longer than label_name_length_limit, ${limits.labelNameBytes}`,
      )
    }
  }
  if (limits.labelValueBytes > 0) for (const value of values) checkValue(value, limits)
}

/** For a layout that was not checked before. */
export function checkLayout(layout: Layout, limits: Limits): void {
  const count = columnCount(layout)
  if (limits.samples > 0 && count > limits.samples) {
    throw new Error(`there are ${count} samples, sample_limit is ${limits.samples}`)
  }
  if (limits.labelValueBytes > 0) for (const { name } of layout.metrics) checkValue(name, limits)
}

function checkValue(value: string, { labelValueBytes }: Limits): void {
  if (Buffer.byteLength(value) <= labelValueBytes) return
  throw new Error(`the value "${shorten(value)}" is longer than label_value_length_limit, ${labelValueBytes}`)
}

function shorten(text: string): string {
  return text.length <= 50 ? text : `${text.slice(0, 50)}...`
}
