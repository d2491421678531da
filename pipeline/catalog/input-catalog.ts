/** An input catalog as it is used: every name that a source may have, and what each becomes. */
import type { Scale } from '../model/scale.ts'
import type { Fact } from './fact-schema.ts'
import type { DeviceLabels, FactRow, LabelRules, ObjectLabels } from './input-schema.ts'

export type InputCatalog = {
  readonly kind: 'input'
  readonly requires: readonly string[]
  readonly labels: LabelRules
  readonly dropLabels: readonly string[]
  readonly devices: DeviceLabels | undefined
  readonly rules: ReadonlyMap<string, InputRule>
}

/** What becomes of one name of a source. */
export type InputRule = {
  readonly fact: Fact
  /** What the reading of one pod becomes, beside that of the device. */
  readonly podFact: Fact | undefined
  readonly scale: Scale
  /** In order; the first whose conditions hold replaces `scale`. */
  readonly choices: readonly ScaleChoice[]
  readonly add: Readonly<Record<string, string>>
  readonly keep: FactRow['keep']
  readonly absent: readonly string[]
  readonly drop: readonly string[]
  readonly snakeCase: readonly string[]
  readonly object: ObjectLabels | undefined
  readonly nonzero: boolean
  readonly unverified: boolean
}

export type ScaleChoice = { readonly scale: Scale; readonly help: readonly string[]; readonly with: readonly string[] }
