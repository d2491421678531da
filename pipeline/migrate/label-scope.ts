/**
 * What becomes of labels on their way through an expression. Each part of it has a scope: which new name a label of its result has.
 * A label is renamed only where all metrics that it may come from agree.
 */
import type { LabelChange, MetricChange } from './vocabulary.ts'

export type Resolution =
  | { readonly kind: 'same' }
  | { readonly kind: 'renamed'; readonly to: string; readonly hasSameValues: boolean }
  | { readonly kind: 'gone'; readonly metric: string; readonly reason?: string | undefined }
  /** It was no label of the metric and becomes one. */
  | { readonly kind: 'new'; readonly metric: string }
  /** Metrics do not agree. */
  | { readonly kind: 'unclear' }

export type LabelScope = {
  readonly resolve: (label: string) => Resolution
  /** Says how the set of labels changes: where two sides have the same, they match each other as they did. */
  readonly shape: string
  /** Labels come or go without counterpart, so that what names only some of them means something else. */
  readonly hasOddLabels: boolean
  /** Labels, by their old names, whose successors say the same of a series in other values. */
  readonly otherValues: ReadonlySet<string>
  /**
   * Those of them that are ids of the series: where one of these tells series apart, its successor tells the same ones apart, and what
   * else changes its values with them does not matter.
   */
  readonly ids: ReadonlySet<string>
  /** Whether it certainly has no such label, neither before nor after. */
  readonly lacks?: (label: string) => boolean
  /** Whether it has the labels that change is not known. */
  readonly isVague?: boolean
  /** One number, or a text: no labels, and no part in matching. */
  readonly isScalar?: true
}

const SAME: Resolution = { kind: 'same' }

const NONE: ReadonlySet<string> = new Set()

export const UNCHANGED: LabelScope = {
  resolve: () => SAME,
  shape: '',
  hasOddLabels: false,
  otherValues: NONE,
  ids: NONE,
}
export const SCALAR: LabelScope = { ...UNCHANGED, isScalar: true }

export function scopeOfMetric(change: MetricChange): LabelScope {
  const { name: metric } = change
  // A name that implies the value of a label stands for series without it.
  const labels = new Map<string, LabelChange>(
    Object.keys(change.match).map(label => [label, { to: undefined, hasSameValues: false }]),
  )
  for (const [label, its] of change.labels) labels.set(label, its)
  const added = [...change.added, ...Object.keys(change.fixed)]
  if (labels.size === 0 && added.length === 0) return UNCHANGED
  const olds = [...labels].toSorted(([a], [b]) => (a < b ? -1 : 1))
  const isNew = new Set([...added, ...olds.flatMap(([, { to }]) => to ?? [])].filter(label => !labels.has(label)))
  function resolve(label: string): Resolution {
    const found = labels.get(label) ?? change.unusualLabels.get(label)
    if (found === undefined) return isNew.has(label) ? { kind: 'new', metric } : SAME
    if (found.to === undefined) return { kind: 'gone', metric, reason: found.reason }
    return { kind: 'renamed', to: found.to, hasSameValues: found.hasSameValues }
  }
  const shape = [...olds.map(([label, { to = '' }]) => `${label}>${to}`), ...added.toSorted().map(label => `>${label}`)]
  // Labels with one value come or go without telling anything apart.
  const isOdd = ([label, { to }]: (typeof olds)[number]) => to === undefined && !(label in change.match)
  const hasOddLabels = change.added.length > 0 || olds.some(isOdd)
  const otherValues = new Set(olds.flatMap(([label, { to, hasSameValues }]) => (to && !hasSameValues ? label : [])))
  const ids = new Set([...otherValues].filter(label => labels.get(label)!.isId))
  return { resolve, shape: shape.join(' '), hasOddLabels, otherValues, ids, isVague: !change.hasKnownLabels }
}

/** Only these labels are left. */
export function onlyLabels(scope: LabelScope, labels: readonly string[]): LabelScope {
  const kept = new Set(labels)
  const renamed = [...kept].toSorted().flatMap(label => {
    const resolution = scope.resolve(label)
    return resolution.kind === 'renamed' ? [[label, resolution.to] as const] : []
  })
  // By its new name a label is there that was not.
  const known = new Set([...kept, ...renamed.map(([, to]) => to)])
  const resolve = (label: string) => (known.has(label) ? scope.resolve(label) : SAME)
  const shape = renamed.map(([label, to]) => `${label}>${to}`).join(' ')
  const [otherValues, ids] = [scope.otherValues.intersection(kept), scope.ids.intersection(kept)]
  return { resolve, shape, hasOddLabels: false, otherValues, ids, lacks: label => !known.has(label) }
}

/** All but these labels are left. */
export function withoutLabels(scope: LabelScope, labels: readonly string[]): LabelScope {
  const gone = new Set(labels)
  return { ...scope, otherValues: scope.otherValues.difference(gone), ids: scope.ids.difference(gone) }
}

/** Labels of one side, and some of the other. */
export function withLabelsOf(many: LabelScope, one: LabelScope, labels: readonly string[]): LabelScope {
  const included = new Set(labels)
  if (included.size === 0 || (many.shape === '' && one.shape === '')) return many
  const extra = onlyLabels(one, labels)
  const resolve = (label: string) => (included.has(label) ? one.resolve(label) : many.resolve(label))
  const shape = [many.shape, extra.shape].filter(Boolean).join(' + ')
  const [otherValues, ids] = [many.otherValues.union(extra.otherValues), many.ids.difference(included)]
  const lacks = (label: string) => lacksLabel(many, label) && !included.has(label)
  return { ...many, resolve, shape, otherValues, ids, lacks }
}

/** A label that the expression itself makes: it is called what it is called. */
export function withMadeLabel(scope: LabelScope, made: string): LabelScope {
  const resolve = (label: string) => (label === made ? SAME : scope.resolve(label))
  return { ...withoutId(scope, made), resolve, lacks: label => lacksLabel(scope, label) && label !== made }
}

/** A label that is written over does not tell series apart as it did. */
export function withoutId(scope: LabelScope, label: string): LabelScope {
  return { ...scope, ids: scope.ids.difference(new Set([label])) }
}

/** Series of the one or of the other. */
export function eitherOf(a: LabelScope, b: LabelScope): LabelScope {
  if (a.isScalar || (a.shape === b.shape && !b.isScalar)) return b
  if (b.isScalar) return a
  return {
    resolve: label => (agree(a.resolve(label), b.resolve(label)) ? a.resolve(label) : { kind: 'unclear' }),
    shape: `(${a.shape} or ${b.shape})`,
    hasOddLabels: a.hasOddLabels || b.hasOddLabels,
    otherValues: a.otherValues.union(b.otherValues),
    ids: a.ids.intersection(b.ids),
    lacks: label => lacksLabel(a, label) && lacksLabel(b, label),
    isVague: a.isVague === true || b.isVague === true,
  }
}

/** Results that are shown together, each with labels of its own: what one of them lacks is not its. */
export function besideEachOther(scopes: readonly LabelScope[]): LabelScope {
  function resolve(label: string): Resolution {
    const having = scopes.filter(scope => scope.isScalar !== true && !lacksLabel(scope, label))
    return having.reduce(eitherOf, SCALAR).resolve(label)
  }
  return { ...scopes.reduce(eitherOf, SCALAR), resolve }
}

function lacksLabel({ lacks }: LabelScope, label: string): boolean {
  return lacks?.(label) === true
}

export function agree(a: Resolution, b: Resolution): boolean {
  if (a.kind === 'renamed' && b.kind === 'renamed') return a.to === b.to
  return a.kind === b.kind && a.kind !== 'unclear'
}
