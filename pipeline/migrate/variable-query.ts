/** Queries of Grafana's variables: `label_values(metric, label)`, `query_result(expression)` and the like. */
import type { Edit } from './edits.ts'
import type { DashboardVariable } from './find-queries.ts'
import { UNCHANGED } from './label-scope.ts'
import { otherValues, type Surroundings } from './rename-label.ts'
import { rewriteExpression, type Remark, type Rewriting } from './rewrite-expression.ts'
import { compileRegex } from '../relabel/regex.ts'

export type QueryRewriting = Rewriting & {
  /** The label that the variable has the values of, if its values become others. */
  readonly translatedTo?: string
}

const CALL = /^(\s*)(label_values|query_result|label_names|metrics)\s*\(([\s\S]*)\)\s*$/
const NOTHING: QueryRewriting = { isUnderstood: true, edits: [], remarks: [], notes: [], scope: UNCHANGED }

export type VariableRewriting = QueryRewriting & {
  /** Of the regular expression that picks the values from the result. */
  readonly regexEdits: readonly Edit[]
}

export function rewriteVariable(variable: DashboardVariable, surroundings: Surroundings): VariableRewriting {
  const rewriting = rewritePart(variable.query.text, variable.regex?.text ?? '', surroundings)
  const all = variable.allValue?.text ?? ''
  if (rewriting.translatedTo === undefined || all === '' || PICKS_ALL.test(all)) return rewriting
  return {
    ...left(0, `what stands for all is for other values: ${otherValues(rewriting.translatedTo)}`),
    regexEdits: [],
  }
}

function rewritePart(query: string, regex: string, surroundings: Surroundings): VariableRewriting {
  const rewriting = rewriteVariableQuery(query, surroundings)
  const { scope, translatedTo } = rewriting
  if (regex === '' || rewriting.remarks.length > 0) return { ...rewriting, regexEdits: [] }
  const name = CALL.exec(query)?.[2] ?? 'series'
  const isOfSeries = name === 'query_result' || name === 'series'
  if (isOfSeries && rewriting.edits.length > 0 && namesMetric(regex, surroundings)) {
    return { ...left(0, 'its regular expression looks for the name of the metric, which changes'), regexEdits: [] }
  }
  if (scope.shape === '') return { ...rewriting, regexEdits: [] }
  if (isOfSeries) return rewritePicked(rewriting, regex)
  if (translatedTo === undefined || PICKS_ALL.test(regex)) return { ...rewriting, regexEdits: [] }
  return { ...left(0, `its regular expression is for other values: ${otherValues(translatedTo)}`), regexEdits: [] }
}

function namesMetric(regex: string, { vocabulary }: Surroundings): boolean {
  return (regex.match(/[A-Za-z_:][\w:]*/g) ?? []).some(word => {
    const [first] = vocabulary.changes.get(word) ?? []
    return first !== undefined && first.to !== word
  })
}

const PICKS_ALL = /^\/?\^?\(?\.[*+]\)?\$?\/?$/

/** What the result of `query_result`, or of a selector by itself, is picked from is the text of series, label names included. */
function rewritePicked(rewriting: QueryRewriting, regex: string): VariableRewriting {
  const regexEdits: Edit[] = []
  const translated = new Set<string>()
  for (const { 0: word, index } of regex.matchAll(/(?<![\w\\])[A-Za-z_]\w*(?=\s*=)/g)) {
    const resolution = rewriting.scope.resolve(word)
    if (resolution.kind === 'same') continue
    if (resolution.kind !== 'renamed') {
      return { ...left(0, `"${word}", which its regular expression picks, changes`), regexEdits: [] }
    }
    regexEdits.push({ start: index, end: index + word.length, text: resolution.to })
    if (!resolution.hasSameValues) translated.add(resolution.to)
  }
  const [translatedTo] = translated
  if (translated.size > 1) return { ...left(0, 'its regular expression picks several labels'), regexEdits: [] }
  return { ...rewriting, regexEdits, ...(translatedTo !== undefined && { translatedTo }) }
}

function rewriteVariableQuery(text: string, surroundings: Surroundings): QueryRewriting {
  const call = CALL.exec(text)
  if (call === null) return rewriteExpression(text, surroundings)
  const [, , name, argument] = call
  const start = text.indexOf('(') + 1
  if (name === 'query_result') return moved(rewriteExpression(argument!, surroundings), start)
  if (name === 'metrics') return metricsOf(argument!, start, surroundings)
  if (name === 'label_names') return NOTHING
  return labelValues(argument!, start, surroundings)
}

function labelValues(argument: string, start: number, surroundings: Surroundings): QueryRewriting {
  const parts = /^([\s\S]*),\s*("?)([^\s,"]+)\2\s*$/.exec(argument)
  if (parts === null) return bareLabel(argument, start, surroundings)
  const [, selector, quote, label] = parts
  const metric = rewriteExpression(selector!, { ...surroundings, wantsLabels: true })
  if (metric.remarks.length > 0) return moved(metric, start)
  const at = argument.lastIndexOf(label!, argument.length - quote!.length)
  const place = { start: start + at, end: start + at + label!.length }
  const resolution = metric.scope.resolve(label!)
  if (metric.scope.shape !== '' && /[$[]/.test(label!)) return left(place.start, 'a variable names the label here')
  const rewriting = moved(metric, start)
  if (resolution.kind === 'same') return rewriting
  if (resolution.kind === 'renamed') {
    const edits = [...rewriting.edits, { ...place, text: resolution.to }]
    return { ...rewriting, edits, ...(!resolution.hasSameValues && { translatedTo: resolution.to }) }
  }
  const { from, to } = surroundings.vocabulary
  if (resolution.kind === 'gone') {
    return left(place.start, `label "${label}" of ${resolution.metric} has no successor in ${to}`)
  }
  if (resolution.kind === 'new') {
    const message = `"${label}" is a label of ${resolution.metric} in ${to}, but not in ${from}`
    return { ...left(place.start, message), isUnderstood: false }
  }
  return left(place.start, `"${label}" comes from several metrics, and they do not have one name for it in ${to}`)
}

/** Values of a label whatever the metric. */
function bareLabel(argument: string, start: number, { vocabulary }: Surroundings): QueryRewriting {
  const label = argument.trim()
  const changing = [...vocabulary.changes.values()].flat().find(({ labels }) => labels.has(label))
  if (changing === undefined) return NOTHING
  return left(start, `"${label}" is asked for whatever the metric; it changes for ${changing.name}, among others`)
}

function metricsOf(regex: string, start: number, { vocabulary }: Surroundings): QueryRewriting {
  const found = [...vocabulary.changes.keys()].filter(name => isFoundBy(regex.trim(), name))
  if (found.length === 0) return NOTHING
  return left(start, `the metric name is matched by a regular expression; it finds ${found[0]}, which changes`)
}

function isFoundBy(regex: string, name: string): boolean {
  try {
    return compileRegex(`.*(?:${regex}).*`).matches(name)
  } catch {
    // No regular expression, or one with a variable: what it finds is not known.
    return true
  }
}

function left(at: number, message: string): QueryRewriting {
  return { ...NOTHING, remarks: [{ at, message }] }
}

function moved<T extends Rewriting>(rewriting: T, by: number): T {
  const moveEdit = (edit: Edit): Edit => ({ ...edit, start: edit.start + by, end: edit.end + by })
  const moveRemark = ({ at, message }: Remark): Remark => ({ at: at + by, message })
  return {
    ...rewriting,
    edits: rewriting.edits.map(moveEdit),
    remarks: rewriting.remarks.map(moveRemark),
    notes: rewriting.notes.map(moveRemark),
  }
}
