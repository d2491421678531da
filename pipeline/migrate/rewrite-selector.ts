/** Rewrites a vector selector: the name of its metric, its label matchers, and its unit. */
import { ONE } from '../model/scale.ts'
import type { Edit } from './edits.ts'
import { scopeOfMetric, UNCHANGED, SCALAR, type LabelScope } from './label-scope.ts'
import { labelNode, labelText, metricNameOf, readMatcher, type Matcher } from './metric-name.ts'
import { childOf, type PromqlNode } from './promql-tree.ts'
import { otherValues, renameLabel, type Walk } from './rename-label.ts'
import { correctUnit, hasFactorOf } from './unit-factor.ts'
import { isSame, type MetricChange } from './vocabulary.ts'

/** How many metrics a message names. */
const MAX_NAMED = 3

export function rewriteSelector(selector: PromqlNode, walk: Walk): LabelScope {
  const { text, variables, vocabulary } = walk
  const name = metricNameOf(selector, text, variables)
  if (name.kind === 'number') return SCALAR
  const matchers = childOf(selector, 'LabelMatchers')?.children ?? []
  if (name.kind === 'open') {
    const possible = [...vocabulary.changes]
      .filter(([metric, [first]]) => !isSame(first!) && name.isPossible(metric))
      .map(([metric]) => metric)
    if (possible.length > 0) walk.remark(selector.from, `${name.how}; ${listed(possible, vocabulary.from)}`)
    return rewriteMatchers(matchers, UNCHANGED, walk)
  }
  if (vocabulary.isNewName(name.name) && !walk.recorded.has(name.name)) {
    walk.isAhead(name.start, `${name.name} is a metric of ${vocabulary.to} already, and none of ${vocabulary.from}`)
  }
  const candidates = vocabulary.changes.get(name.name) ?? removedHistogram(name.name, walk)
  const change = candidates === undefined ? vocabulary.other(name.name) : meant(candidates, selector, matchers, walk)
  if (change !== undefined && walk.recorded.has(name.name)) {
    walk.remark(name.start, `a rule records ${name.name}, so that the metric of ${vocabulary.from} may not be meant`)
    return UNCHANGED
  }
  if (change === undefined || change.to === name.name) checkWayBack(name, selector, walk)
  if (change === undefined) return rewriteMatchers(matchers, walk.recorded.get(name.name) ?? UNCHANGED, walk)
  if (change.to === undefined) {
    const reason = change.reason === undefined ? '' : `: ${change.reason}`
    walk.remark(name.start, `${name.name} has no successor in ${vocabulary.to}${reason}`)
    return UNCHANGED
  }
  rewriteMetric(selector, change, { start: name.start, end: name.end }, walk)
  const gone = impliedEdits(selector, change.match, text)
  const kept = matchers.filter(({ from, to }) => !gone.some(({ start, end }) => start <= from && to <= end))
  return rewriteMatchers(kept, scopeOfMetric(change), walk)
}

function meant(
  candidates: readonly MetricChange[],
  selector: PromqlNode,
  matchers: readonly PromqlNode[],
  walk: Walk,
): MetricChange | undefined {
  const { text } = walk
  const asked = candidates.filter(({ match }) => asksFor(match, matchers, text))
  const [first] = asked
  if (first === undefined) return candidates[0]
  if (first.to !== first.name) return first
  const other = walk.ignoresFactors ? undefined : otherMeant(asked, selector, text)
  if (other !== undefined) return other
  return isSame(first) ? undefined : first
}

/** Of several metrics that a name may stand for the one whose factor or matchers are there. */
function otherMeant(candidates: readonly MetricChange[], selector: PromqlNode, text: string): MetricChange | undefined {
  return candidates.find(
    ({ scale, match }) =>
      (scale !== ONE && hasFactorOf(selector, text, scale)) || impliedEdits(selector, match, text).length > 0,
  )
}

/** What keeps its name may look like that which another metric becomes, so that the way back takes it for that. */
function checkWayBack(
  { name, start }: { readonly name: string; readonly start: number },
  selector: PromqlNode,
  walk: Walk,
): void {
  const { from, namesakes } = walk.vocabulary
  const other = otherMeant(namesakes(name), selector, walk.text)
  if (other === undefined) return
  walk.losesMeaning(start, `the way back to ${from} takes ${name} as it is used here for ${other.to}`)
}

function rewriteMetric(
  selector: PromqlNode,
  change: MetricChange,
  place: { readonly start: number; readonly end: number },
  walk: Walk,
): void {
  if (change.to !== change.name) walk.change({ ...place, text: change.to! })
  addFixed(selector, change, walk)
  dropImplied(selector, change, walk)
  const { changes } = walk.vocabulary
  const isOther = change.to !== change.name && changes.get(change.name)?.[0]?.to === change.name
  const mode = isOther ? 'take' : change.wayBack === 'factor' ? 'write' : 'fit'
  const factor =
    change.scale === ONE || walk.wantsLabels ? { edits: [] } : correctUnit(selector, walk.text, change.scale, mode)
  if ('problem' in factor) walk.remark(selector.from, `the unit of ${change.name} changes, and ${factor.problem}`)
  else factor.edits.forEach(walk.change)
  if ('note' in factor && factor.note !== undefined) walk.note(selector.from, factor.note)
  const { name, to, wayBack, isUnverified } = change
  const { vocabulary } = walk
  if (wayBack === 'none' || (wayBack === 'factor' && !('isWritten' in factor))) {
    walk.losesMeaning(
      place.start,
      `${to} is a metric of ${vocabulary.from}, too, so that the way back does not lead to ${name}`,
    )
  }
  if (isUnverified) walk.note(place.start, `no source confirms that ${name} is ${to} in ${vocabulary.to}`)
}

/** Matchers for what the old name implied, at the end. In braces that were empty a comma tells the way back that they were there. */
function addFixed(selector: PromqlNode, { fixed }: MetricChange, walk: Walk): void {
  const text = matcherTexts(fixed)
  if (text === '') return
  const braces = childOf(selector, 'LabelMatchers')
  if (braces === undefined) walk.change({ start: selector.to, end: selector.to, text: `{${text}}` })
  else if (braces.children.length === 0) {
    walk.change({ start: braces.from + 1, end: braces.from + 1, text: `${text},` })
  } else {
    const end = braces.children.at(-1)!.to
    walk.change({ start: end, end, text: `, ${text}` })
  }
}

function dropImplied(selector: PromqlNode, { name, match, to }: MetricChange, walk: Walk): void {
  if (Object.keys(match).length === 0) return
  const edits = impliedEdits(selector, match, walk.text)
  edits.forEach(walk.change)
  if (edits.length > 0) return
  const part = `that with ${matcherTexts(match)}, which is not at the end of the matchers here`
  walk.remark(selector.from, `${to} is only a part of ${name}: ${part}`)
}

/** Takes away what `addFixed` writes on the way back. In other order or spelling it is left to people. */
function impliedEdits(selector: PromqlNode, match: MetricChange['match'], text: string): Edit[] {
  const implied = matcherTexts(match)
  const braces = childOf(selector, 'LabelMatchers')
  if (implied === '' || braces === undefined) return []
  const { from, to } = braces
  if (text.slice(from, to) === `{${implied}}`) return [{ start: from, end: to, text: '' }]
  const inEmpty = `{${implied},`
  const isInEmpty = text.startsWith(inEmpty, from) && text.slice(from + inEmpty.length, to - 1).trim() === ''
  if (isInEmpty) return [{ start: from + 1, end: from + inEmpty.length, text: '' }]
  const end = braces.children.at(-1)?.to ?? from
  const start = end - implied.length - 2
  return text.slice(start, end) === `, ${implied}` ? [{ start, end, text: '' }] : []
}

function matcherTexts(labels: Readonly<Record<string, string>>): string {
  return Object.entries(labels)
    .map(([label, value]) => `${label}=${JSON.stringify(value)}`)
    .join(', ')
}

function asksFor(match: Readonly<Record<string, string>>, matchers: readonly PromqlNode[], text: string): boolean {
  return Object.entries(match).every(([label, value]) =>
    matchers.some(matcher => {
      if (labelText(matcher, text) !== label || childOf(matcher, 'MatchOp') === undefined) return false
      const test = readMatcher(matcher, text)
      return test.operator === '=' && test.value === value
    }),
  )
}

function rewriteMatchers(matchers: readonly PromqlNode[], scope: LabelScope, walk: Walk): LabelScope {
  for (const matcher of matchers) rewriteMatcher(matcher, scope, walk)
  return scope
}

function rewriteMatcher(matcher: PromqlNode, scope: LabelScope, walk: Walk): void {
  const { text, variables } = walk
  const place = labelNode(matcher)
  if (place === undefined) return
  const isMatcher = childOf(matcher, 'MatchOp') !== undefined
  const isVariable = variables.some(({ start, kind }) => start === matcher.from && kind === 'matchers')
  if (!isMatcher && !isVariable) return
  const label = labelText(matcher, text)!
  if (label === '__name__') return
  const renamed = renameLabel(place, scope, walk)
  if (!isMatcher) return
  const test = readMatcher(matcher, text)
  if (renamed !== undefined && !renamed.hasSameValues) checkValue(label, renamed.to, test, walk)
  else for (const name of namesIn(test, walk)) refuseTranslated(name, renamed?.to ?? label, test, walk)
}

/** A value of a label whose values are others now: only what does not depend on them can stay, or what is translated itself. */
function checkValue(label: string, to: string, test: Matcher, walk: Walk): void {
  if (/^(\.[*+])?$/.test(test.value)) return
  const names = namesIn(test, walk)
  const [only] = names
  const isOnlyVariable =
    names.length === 1 && /^(\$\w+|\$\{[^}]*\}|\[\[[^\]]*\]\])$/.test(walk.text.slice(test.start, test.end))
  if (isOnlyVariable && walk.translatedVariables.get(only!) === to) return
  const what = names.length > 0 ? 'a variable' : `"${test.value}"`
  walk.remark(test.start, `${what} cannot be translated as a value of "${label}": ${otherValues(to)}`)
}

/** A variable that gets other values must not meet a label that keeps its own. */
function refuseTranslated(name: string, label: string, test: Matcher, walk: Walk): void {
  const to = walk.translatedVariables.get(name)
  if (to !== undefined && to !== label) walk.remark(test.start, `variable "${name}" would hold values of "${to}" here`)
}

function namesIn({ start, end }: Matcher, { variables }: Walk): string[] {
  return variables.filter(variable => variable.start >= start - 1 && variable.end <= end + 1).map(({ name }) => name)
}

/** The three series of a histogram that is removed are removed with it. */
function removedHistogram(name: string, { vocabulary }: Walk): readonly MetricChange[] | undefined {
  const found = vocabulary.changes.get(name.replace(/_(bucket|sum|count)$/, ''))
  return found?.[0]?.to === undefined ? found : undefined
}

function listed(names: readonly string[], vocabulary: string): string {
  const some = names.slice(0, MAX_NAMED).join(', ')
  const more = names.length > MAX_NAMED ? ` and ${names.length - MAX_NAMED} more` : ''
  return `it may mean metrics that change from ${vocabulary}: ${some}${more}`
}
