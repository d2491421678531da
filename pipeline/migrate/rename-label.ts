/** Gives a label of an expression its new name, and what that needs to know of the expression. */
import type { Edit } from './edits.ts'
import type { VariableUse } from './grafana-variables.ts'
import type { LabelScope } from './label-scope.ts'
import { unescaped } from './string-literal.ts'
import type { Vocabulary } from './vocabulary.ts'

/** What is asked for, of all files alike. */
export type Wish = {
  readonly vocabulary: Vocabulary
  /** Where what becomes of an expression depends on the values of a label, those of its successor are as good. */
  readonly acceptsOtherValues?: boolean
}

export type Surroundings = Wish & {
  /** Recorded by rules that are migrated at the same time: what becomes of their labels. */
  readonly recorded: ReadonlyMap<string, LabelScope>
  /** Variables whose values are those of a label that has other values in the new vocabulary, by name that new label. */
  readonly translatedVariables: ReadonlyMap<string, string>
  /** Only the labels are asked for, so that units do not matter. */
  readonly wantsLabels?: true
  /** Of several old names for a new one the usual is meant, even where the factor of another stands. */
  readonly ignoresFactors?: true
}

/** What the parts of an expression need of each other while they are walked. */
export type Walk = Surroundings & {
  readonly text: string
  readonly variables: readonly VariableUse[]
  change(edit: Edit): void
  /** The name of metrics is used as a label. */
  usesName(at: number): void
  /** Why the expression cannot be rewritten. */
  remark(at: number, message: string): void
  /** What is to be known about what is rewritten. */
  note(at: number, message: string): void
  /** A name of the new vocabulary is there already. What it meant in the old one is not known, so that all is left. */
  isAhead(at: number, message: string): void
  /** Something is, or stays, what the way back takes for something else. It is right all the same, and so is rewritten. */
  losesMeaning(at: number, message: string): void
}

export type Renamed = { readonly to: string; readonly hasSameValues: boolean }

/** Gives a label its new name; remarks why not where it has none. */
export function renameLabel(
  place: { readonly start: number; readonly end: number },
  scope: LabelScope,
  walk: Walk,
): Renamed | undefined {
  const written = walk.text.slice(place.start, place.end)
  const label = unescaped(written)
  if (label === '__name__') walk.usesName(place.start)
  if (scope.shape === '') return undefined
  if (walk.variables.some(({ start, end }) => start < place.end && end > place.start)) {
    const message = `a variable names the label here, and labels change: ${describe(scope)}`
    if (scope.isVague) walk.note(place.start, message)
    else walk.remark(place.start, message)
    return undefined
  }
  const resolution = scope.resolve(label)
  if (label !== written && resolution.kind !== 'same') {
    walk.remark(place.start, `"${label}" is written with escapes here, and changes`)
    return undefined
  }
  if (resolution.kind === 'renamed') {
    walk.change({ ...place, text: resolution.to })
    return resolution
  }
  const { from, to } = walk.vocabulary
  if (resolution.kind === 'gone') {
    const reason = resolution.reason === undefined ? '' : `: ${resolution.reason}`
    walk.remark(place.start, `label "${label}" of ${resolution.metric} has no successor in ${to}${reason}`)
  } else if (resolution.kind === 'new') {
    walk.isAhead(place.start, `"${label}" is a label of ${resolution.metric} in ${to}, but not in ${from}`)
  } else if (resolution.kind === 'unclear') {
    walk.remark(place.start, `"${label}" comes from several metrics, and they do not have one name for it in ${to}`)
  }
  return undefined
}

/** Gives a label its new name where the result depends on its values; remarks where these become others. */
export function renameByValue(
  place: { readonly start: number; readonly end: number },
  scope: LabelScope,
  walk: Walk,
): Renamed | undefined {
  const renamed = renameLabel(place, scope, walk)
  if (renamed !== undefined && !renamed.hasSameValues) {
    dependsOnValues(place.start, walk.text.slice(place.start, place.end), renamed.to, walk)
  }
  return renamed
}

/** Gives a label its new name where its values are seen and decide nothing. */
export function renameShown(
  place: { readonly start: number; readonly end: number },
  scope: LabelScope,
  walk: Walk,
): Renamed | undefined {
  const renamed = renameLabel(place, scope, walk)
  if (renamed?.hasSameValues !== false) return renamed
  const label = walk.text.slice(place.start, place.end)
  walk.note(place.start, `the result has "${label}" as a label, and ${otherValues(renamed.to)}`)
  return renamed
}

/** Two jobs of different names can be workloads of the same name. */
export function dependsOnValues(at: number, label: string, to: string, walk: Walk): void {
  const message = `the result depends on the values of "${label}", and ${otherValues(to)}`
  if (walk.acceptsOtherValues) walk.note(at, message)
  else walk.remark(at, message)
}

/** How many labels a message names. */
const MAX_NAMED = 3

/** For messages. The shape of what several metrics make up has theirs in parentheses. */
export function describe({ shape }: LabelScope): string {
  const changes = new Set(shape.split(/[ ()+]+/).filter(part => part.includes('>')))
  const parts = Array.from(changes, part => {
    const [before, after] = part.split('>')
    if (before === '') return `${after} is added`
    return after === '' ? `${before} goes` : `${before} becomes ${after}`
  })
  const more = parts.length > MAX_NAMED ? `, and ${parts.length - MAX_NAMED} more` : ''
  return `${parts.slice(0, MAX_NAMED).join(', ')}${more}`
}

export function otherValues(label: string): string {
  return `"${label}", which stands in its place, has other values`
}
