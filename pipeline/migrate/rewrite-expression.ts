/**
 * Rewrites one expression from one vocabulary to another, or leaves it as it is and says why. An expression is rewritten as a whole or
 * not at all: half of it in new names would be right in neither vocabulary.
 */
import type { Edit } from './edits.ts'
import { withoutVariables } from './grafana-variables.ts'
import {
  agree,
  eitherOf,
  onlyLabels,
  SCALAR,
  UNCHANGED,
  withLabelsOf,
  withMadeLabel,
  withoutId,
  withoutLabels,
  type LabelScope,
} from './label-scope.ts'
import { labelNode, labelText } from './metric-name.ts'
import { childOf, parsePromql, type PromqlNode } from './promql-tree.ts'
import {
  dependsOnValues,
  describe,
  otherValues,
  renameByValue,
  renameLabel,
  renameShown,
  type Renamed,
  type Surroundings,
  type Walk,
} from './rename-label.ts'
import { rewriteSelector } from './rewrite-selector.ts'
import { stringContent } from './string-literal.ts'

export type Remark = { readonly at: number; readonly message: string }

export type Rewriting = {
  /** False for what is no PromQL, has names of the new vocabulary already, or would not come back from it as it was. */
  readonly isUnderstood: boolean
  readonly edits: readonly Edit[]
  /** Why it is left as it is. */
  readonly remarks: readonly Remark[]
  /** What is to be known of what is rewritten. */
  readonly notes: readonly Remark[]
  /** What becomes of the labels of the result. */
  readonly scope: LabelScope
}

export function rewriteExpression(text: string, surroundings: Surroundings): Rewriting {
  const rewriting = rewriteOnce(text, surroundings)
  if (!rewriting.isUnderstood || rewriting.remarks.length === 0) return rewriting
  const other = rewriteOnce(text, { ...surroundings, ignoresFactors: true })
  return other.remarks.length === 0 ? other : rewriting
}

function rewriteOnce(text: string, surroundings: Surroundings): Rewriting {
  const prepared = withoutVariables(text)
  const parsed = parsePromql(prepared.text)
  if ('errorAt' in parsed) {
    const why = text.includes('{{') ? ': a template has to be filled in first' : ''
    const remark = { at: parsed.errorAt, message: `this is not understood as PromQL${why}` }
    return { isUnderstood: false, edits: [], remarks: [remark], notes: [], scope: UNCHANGED }
  }
  const edits: Edit[] = []
  const remarks: Remark[] = []
  const notes: Remark[] = []
  const nameUses: number[] = []
  let isUnderstood = true
  const scope = scopeOf(parsed.root, {
    ...surroundings,
    text,
    variables: prepared.variables,
    change: edit => edits.push(edit),
    usesName: at => nameUses.push(at),
    remark: (at, message) => remarks.push({ at, message }),
    note: (at, message) => notes.push({ at, message }),
    isAhead(at, message) {
      isUnderstood = false
      remarks.push({ at, message })
    },
    losesMeaning(at, message) {
      isUnderstood = false
      notes.push({ at, message })
    },
  })
  const [used] = edits.length > 0 ? nameUses : []
  if (used !== undefined)
    remarks.push({ at: used, message: 'the result depends on the name of a metric, which changes' })
  if (remarks.length > 0) return { isUnderstood, edits: [], remarks, notes: [], scope: UNCHANGED }
  return { isUnderstood, edits, remarks, notes, scope }
}

type Walker = (node: PromqlNode, walk: Walk) => LabelScope

/** By the grammar's name of a node. */
const WALKERS: Readonly<Record<string, Walker>> = {
  VectorSelector: rewriteSelector,
  AggregateExpr: aggregate,
  FunctionCall: call,
  BinaryExpr: binary,
  ParenExpr: first,
  UnaryExpr: last,
  OffsetExpr: first,
  StepInvariantExpr: first,
  MatrixSelector: first,
  SubqueryExpr: first,
  NumberDurationLiteral: () => SCALAR,
  StringLiteral: () => SCALAR,
}

function scopeOf(node: PromqlNode, walk: Walk): LabelScope {
  const walker = WALKERS[node.type]
  if (walker !== undefined) return walker(node, walk)
  walk.remark(node.from, `this kind of expression (${node.type}) is not known`)
  return UNCHANGED
}

function first(node: PromqlNode, walk: Walk): LabelScope {
  return scopeOf(node.children[0]!, walk)
}

function last(node: PromqlNode, walk: Walk): LabelScope {
  return scopeOf(node.children.at(-1)!, walk)
}

const KEEP_LABELS = new Set(['topk', 'bottomk', 'limitk', 'limit_ratio'])

function aggregate(node: PromqlNode, walk: Walk): LabelScope {
  const body = childOf(node, 'FunctionCallBody')!.children
  const scopes = body.map(argument => scopeOf(argument, walk))
  const operand = scopes.at(-1) ?? UNCHANGED
  const modifier = childOf(node, 'AggregateModifier')
  const operator = childOf(node, 'AggregateOp')!
  const name = walk.text.slice(operator.from, operator.to).toLowerCase()
  // It picks series by a hash of their names and labels.
  if (name === 'limit_ratio') walk.usesName(operator.from)
  const isWithout = modifier !== undefined && childOf(modifier, 'Without') !== undefined
  const grouping = modifier === undefined ? undefined : childOf(modifier, 'GroupingLabels')
  const rename = isWithout ? renameLabel : renameIn(grouping, operand, walk)
  const labels = grouping === undefined ? [] : renameGrouping(grouping, operand, walk, rename)
  if (isWithout) {
    if (operand.hasOddLabels) walk.remark(modifier.from, `\`without\` would mean other labels: ${describe(operand)}`)
    const rest = withoutLabels(operand, labels)
    dependsOnRest(modifier, rest, walk)
    return rest
  }
  if (KEEP_LABELS.has(name)) return operand
  const grouped = onlyLabels(operand, labels)
  const [made] = name === 'count_values' ? body : []
  return made?.type === 'StringLiteral' ? withMadeLabel(grouped, contentOf(made, walk)) : grouped
}

function call(node: PromqlNode, walk: Walk): LabelScope {
  const body = childOf(node, 'FunctionCallBody')?.children ?? []
  const identifier = childOf(node, 'FunctionIdentifier')!
  const name = walk.text.slice(identifier.from, identifier.to)
  if (name === 'info') return info(node, body, walk)
  const scope = body.map(argument => scopeOf(argument, walk)).reduce(eitherOf, SCALAR)
  if (name === 'label_replace') return labelReplace(body, scope, walk)
  if (name === 'label_join') return labelJoin(body, scope, walk)
  if (name === 'sort_by_label' || name === 'sort_by_label_desc') {
    for (const argument of body.slice(1)) renameString(argument, scope, walk, renameByValue)
  }
  return name === 'scalar' ? SCALAR : scope
}

/** It adds labels of other metrics, which are found by labels that both have. */
function info(node: PromqlNode, body: readonly PromqlNode[], walk: Walk): LabelScope {
  const scope = body[0] === undefined ? UNCHANGED : scopeOf(body[0], walk)
  if (scope.shape !== '') walk.remark(node.from, `\`info\` joins by labels that change: ${describe(scope)}`)
  return scope
}

/** `label_replace(v, made, replacement, source, regex)` */
function labelReplace(body: readonly PromqlNode[], scope: LabelScope, walk: Walk): LabelScope {
  const [, made, , source, regex] = body
  if (made === undefined || source === undefined || regex === undefined) return scope
  const to = renameString(source, scope, walk, renameByValue)
  const pattern = regex.type === 'StringLiteral' ? contentOf(regex, walk) : undefined
  if (to !== undefined && !to.hasSameValues && !/^\^?\(?\.[*+]\)?\$?$/.test(pattern ?? '')) {
    walk.remark(
      regex.from,
      `the regular expression is for values of "${contentOf(source, walk)}"; ${otherValues(to.to)}`,
    )
  }
  return makeLabel(made, scope, walk)
}

/** `label_join(v, made, separator, sources...)` */
function labelJoin(body: readonly PromqlNode[], scope: LabelScope, walk: Walk): LabelScope {
  const [, made, , ...sources] = body
  for (const source of sources) renameString(source, scope, walk, renameByValue)
  return made === undefined ? scope : makeLabel(made, scope, walk)
}

/** A label that is written over keeps its place and so gets its new name; one that is made keeps the name that it is given. */
function makeLabel(made: PromqlNode, scope: LabelScope, walk: Walk): LabelScope {
  const label = made.type === 'StringLiteral' ? contentOf(made, walk) : undefined
  const isVariable = walk.variables.some(({ start, end }) => start >= made.from && end <= made.to)
  if (label === undefined || isVariable) {
    renameString(made, scope, walk, renameLabel)
    return scope
  }
  const resolution = scope.resolve(label)
  if (resolution.kind === 'renamed' || resolution.kind === 'gone' || resolution.kind === 'unclear') {
    renameString(made, scope, walk, renameLabel)
    return withoutId(scope, label)
  }
  if (resolution.kind === 'new') {
    walk.isAhead(made.from, `"${label}" is made here, and is a label of ${resolution.metric} in ${walk.vocabulary.to}`)
  }
  return withMadeLabel(scope, label)
}

const SET_OPERATORS = new Set(['And', 'Or', 'Unless'])

function binary(node: PromqlNode, walk: Walk): LabelScope {
  const [left, right] = [scopeOf(node.children[0]!, walk), scopeOf(node.children.at(-1)!, walk)]
  const operator = node.children[1]!.type
  if (left.isScalar) return right
  if (right.isScalar) return left
  const clause = childOf(node, 'MatchingModifierClause')
  const matching = clause?.children ?? []
  const [on, included] = matching.filter(({ type }) => type === 'GroupingLabels')
  const isOn = clause !== undefined && childOf(clause, 'On') !== undefined
  const labels =
    on === undefined ? [] : renameMatching(on, [left, right], walk, isOn ? renameIn(on, left, walk) : renameLabel)
  const rest = withoutLabels(left, labels)
  // Whole series match each other by other values as they did; parts of their labels may not.
  if (clause !== undefined && !isOn && rest.otherValues.size < left.otherValues.size) dependsOnRest(clause, rest, walk)
  if (!isOn && left.shape !== right.shape) {
    const sides = `${describe(left) || 'none'} on the left, ${describe(right) || 'none'} on the right`
    const message = `the two sides would not match by their labels any more; they change so: ${sides}`
    // Series of two exporters, one beside the other: they never had the same labels.
    const isBeside = operator === 'Or' && (left.isVague === true || right.isVague === true)
    if (isBeside) walk.note(node.children[1]!.from, message)
    else walk.remark(node.children[1]!.from, message)
  }
  if (operator === 'Or') return eitherOf(left, right)
  if (SET_OPERATORS.has(operator)) return left
  const isGroupLeft = matching.some(({ type }) => type === 'GroupLeft')
  const isGroupRight = matching.some(({ type }) => type === 'GroupRight')
  if (!isGroupLeft && !isGroupRight) return isOn ? onlyLabels(left, labels) : left
  const [many, one] = isGroupLeft ? [left, right] : [right, left]
  const isById = isOn && labels.some(label => left.ids.has(label) && right.ids.has(label))
  const extra = included === undefined ? [] : renameGrouping(included, one, walk, isById ? renameShown : renameByValue)
  for (const label of extra) refuseCollision(label, many, one, included!, walk)
  return withLabelsOf(many, one, extra)
}

/** A label that is taken over must not meet one that the other side has only in the new vocabulary. */
function refuseCollision(label: string, many: LabelScope, one: LabelScope, place: PromqlNode, walk: Walk): void {
  const resolution = one.resolve(label)
  const name = resolution.kind === 'renamed' ? resolution.to : label
  const [before, other] = [many.resolve(label), many.resolve(name)]
  if (agree(before, resolution)) return
  if (other.kind === 'new') {
    walk.remark(place.from, `"${name}" would be taken over where ${other.metric} has a label of that name`)
  } else if (before.kind !== 'same') {
    walk.remark(place.from, `"${label}" is taken over, and would not write over its namesake any more`)
  }
}

/** Series are told apart by the labels that are left, some of them with other values. */
function dependsOnRest(place: PromqlNode, rest: LabelScope, walk: Walk): void {
  if (rest.ids.size > 0) return
  for (const label of rest.otherValues) {
    const resolution = rest.resolve(label)
    if (resolution.kind === 'renamed') dependsOnValues(place.from, label, resolution.to, walk)
  }
}

type Rename = typeof renameLabel

/** Where an id is among the labels, the others say nothing that it does not. */
function renameIn(grouping: PromqlNode | undefined, scope: LabelScope, walk: Walk): Rename {
  return labelsIn(grouping, walk).some(label => scope.ids.has(label)) ? renameShown : renameByValue
}

function labelsIn(grouping: PromqlNode | undefined, { text }: Walk): string[] {
  return (grouping?.children ?? []).flatMap(child => {
    return labelText(child, text) ?? []
  })
}

/** The labels as they were. */
function renameGrouping(grouping: PromqlNode, scope: LabelScope, walk: Walk, rename: Rename): string[] {
  for (const child of grouping.children) {
    const place = labelNode(child)
    if (place !== undefined) rename(place, scope, walk)
  }
  return labelsIn(grouping, walk)
}

function renameMatching(grouping: PromqlNode, sides: readonly [LabelScope, LabelScope], walk: Walk, rename: Rename) {
  const [left, right] = sides
  return grouping.children.flatMap(child => {
    const place = labelNode(child)
    if (place === undefined) return []
    const label = labelText(child, walk.text)!
    if (agree(left.resolve(label), right.resolve(label))) rename(place, left, walk)
    else walk.remark(place.start, `"${label}" is not the same on both sides in ${walk.vocabulary.to}`)
    return [label]
  })
}

function renameString(argument: PromqlNode, scope: LabelScope, walk: Walk, rename: Rename): Renamed | undefined {
  if (argument.type !== 'StringLiteral') {
    if (scope.shape !== '')
      walk.remark(argument.from, `a label is not named here, and labels change: ${describe(scope)}`)
    return undefined
  }
  return rename({ start: argument.from + 1, end: argument.to - 1 }, scope, walk)
}

function contentOf(literal: PromqlNode, { text }: Walk): string {
  return stringContent(text.slice(literal.from, literal.to))
}
