/** Rewrites what a document asks for, and what it says about the labels of the answers. */
import type { SyntaxProblem, TreeText } from './document-tree.ts'
import type { Edit } from './edits.ts'
import type { DashboardVariable, Found, Query } from './find-queries.ts'
import { besideEachOther, eitherOf, UNCHANGED, withMadeLabel, type LabelScope } from './label-scope.ts'
import {
  labelsOfLegend,
  labelsOfPanel,
  labelsOfTagKeys,
  labelsOfRule,
  regexesOfPanel,
  relabel,
  textsOfPanel,
  type LabelPlace,
} from './label-texts.ts'
import type { Surroundings, Wish } from './rename-label.ts'
import { rewriteExpression, type Remark, type Rewriting } from './rewrite-expression.ts'
import { rewriteVariable, type VariableRewriting } from './variable-query.ts'
import type { Vocabulary } from './vocabulary.ts'

export type Counts = { expressions: number; understood: number; rewritten: number; reported: number }

export type Finding = { readonly offset: number; readonly message: string; readonly kind: 'left' | 'note' }

export type MigratedDocument = {
  /** Of the file. */
  readonly edits: readonly Edit[]
  /** Of the texts of the tree, to compare with what the changed file gives. */
  readonly editsByText: ReadonlyMap<TreeText, readonly Edit[]>
  readonly findings: readonly Finding[]
  readonly counts: Counts
}

export type Recorded = ReadonlyMap<string, LabelScope>

export function migrateDocument(found: Found, wish: Wish, recorded: Recorded): MigratedDocument {
  const surroundings = { ...wish, recorded, translatedVariables: new Map<string, string>() }
  const translated = translatedVariables(found, surroundings)
  return writeDocument(found, { ...surroundings, translatedVariables: translated })
}

/**
 * A variable that offers the values of a label whose values become others can do so only if everything that it is used in follows. So
 * all are tried, and those that something speaks against are given up until nothing does.
 */
function translatedVariables(found: Found, surroundings: Surroundings): ReadonlyMap<string, string> {
  const candidates = candidatesIn(found, surroundings)
  for (;;) {
    const bad = [...candidates.keys()].filter(name =>
      isRefused(name, found, { ...surroundings, translatedVariables: candidates }),
    )
    if (bad.length === 0) return candidates
    for (const name of bad) candidates.delete(name)
  }
}

/** One variable may ask by the values of another, so that it can be translated if the other is. */
function candidatesIn({ variables }: Found, surroundings: Surroundings): Map<string, string> {
  const candidates = new Map<string, string>()
  let before = -1
  while (candidates.size > before) {
    before = candidates.size
    for (const variable of variables) {
      if (candidates.has(variable.name)) continue
      const around = { ...surroundings, translatedVariables: candidates }
      const { translatedTo, remarks } = rewriteVariable(variable, around)
      if (translatedTo !== undefined && remarks.length === 0) candidates.set(variable.name, translatedTo)
    }
  }
  return candidates
}

/** Whether something that uses the variable, or itself, would be left as it is, or not follow. */
function isRefused(name: string, found: Found, surroundings: Surroundings): boolean {
  const uses = new RegExp(`\\$${name}\\b|\\$\\{${name}[.:}]|\\[\\[${name}[\\].:]`)
  return (
    found.foreign.some(({ text }) => uses.test(text)) ||
    found.queries.some(
      ({ text: { text } }) => uses.test(text) && rewriteExpression(text, surroundings).remarks.length > 0,
    ) ||
    found.variables.some(variable => {
      if (variable.name !== name && !uses.test(variable.query.text)) return false
      const { remarks, translatedTo } = rewriteVariable(variable, surroundings)
      return remarks.length > 0 || (translatedTo !== undefined && !surroundings.translatedVariables.has(variable.name))
    })
  )
}

function writeDocument(found: Found, surroundings: Surroundings): MigratedDocument {
  const pen = createPen()
  const scopes = new Map<Query, LabelScope>()
  for (const query of found.queries) {
    const rewriting = pen.rewrite(query.text, rewriteExpression(query.text.text, surroundings))
    scopes.set(query, rewriting.scope)
    const { scope } = rewriting
    for (const legend of query.legends) {
      pen.relabel(labelsOfLegend(legend), scope)
      const at = rewriting.edits.length === 0 ? -1 : legend.text.search(/\{\{\s*__name__\s*\}\}/)
      if (at >= 0)
        pen.note(legend, { at, message: 'the name of the metric is shown here, and another one is asked for now' })
    }
    if (query.tagKeys !== undefined) pen.relabel(labelsOfTagKeys(query.tagKeys), scope)
  }
  for (const variable of found.variables) writeVariable(variable, surroundings, pen)
  for (const { kind, map, queries } of found.groups) {
    const scope = besideEachOther(queries.map(query => scopes.get(query)!))
    if (scope.shape === '') continue
    const places = kind === 'panel' ? labelsOfPanel(map) : labelsOfRule(map)
    // A text that asks for metrics itself does not follow by its labels alone.
    pen.relabel(
      places.filter(({ text }) => namedMetric(text.text, surroundings.vocabulary) === undefined),
      scope,
    )
    if (kind !== 'panel') continue
    for (const text of regexesOfPanel(map)) remarkRegex(text, scope, surroundings.vocabulary, pen)
    for (const text of textsOfPanel(map)) remarkLabels(text, scope, pen)
  }
  for (const filter of found.filters) {
    const changes = [...surroundings.vocabulary.changes.values()].flat()
    const one = changes.find(({ labels }) => labels.has(filter.text))
    if (one === undefined) continue
    pen.remark(filter, {
      at: 0,
      message: `"${filter.text}" filters or groups every query; it changes for ${one.name}, among others`,
    })
  }
  for (const text of found.rest) remarkMetric(text, surroundings.vocabulary, pen)
  for (const problem of found.problems) pen.problem(problem)
  return pen.finish()
}

/** A regular expression that finds a label would find another one, or none, by its new name. */
function remarkRegex(text: TreeText, scope: LabelScope, { changes }: Vocabulary, pen: Pen): void {
  const regex = pen.isDone(text) ? undefined : regexFrom(text.text)
  if (regex === undefined) return
  const labels = new Set([...changes.values()].flatMap(its => its.flatMap(change => [...change.labels.keys()])))
  for (const label of labels) {
    const resolution = scope.resolve(label)
    if (resolution.kind !== 'renamed' && resolution.kind !== 'gone') continue
    const to = resolution.kind === 'renamed' ? resolution.to : undefined
    if (regex.test(label) === (to !== undefined && regex.test(to))) continue
    const becomes = to === undefined ? 'has no successor' : `becomes "${to}"`
    return pen.remark(text, { at: 0, message: `this may be meant to find label "${label}", which ${becomes}` })
  }
}

/** As Grafana reads it: with or without slashes, for any part of a name. */
function regexFrom(text: string): RegExp | undefined {
  const [, body = text, flags = ''] = /^\/(.*)\/([a-z]*)$/s.exec(text) ?? []
  try {
    return new RegExp(body, flags.replaceAll(/[gy]/g, ''))
  } catch {
    return undefined
  }
}

/** In a place that nothing is known of, such as a transformation. */
function remarkLabels(text: TreeText, scope: LabelScope, pen: Pen): void {
  if (pen.isDone(text)) return
  for (const { 0: word, index } of text.text.matchAll(/(?<![\w.])[A-Za-z_]\w*/g)) {
    const resolution = scope.resolve(word)
    if (resolution.kind !== 'renamed' && resolution.kind !== 'gone') continue
    const becomes = resolution.kind === 'renamed' ? `becomes "${resolution.to}"` : 'has no successor'
    return pen.remark(text, { at: index, message: `label "${word}", which ${becomes}, may be meant here` })
  }
}

/** In texts that are no queries: templates of alerts that ask for metrics, choices of a variable, what other programs read. */
function remarkMetric(text: TreeText, vocabulary: Vocabulary, pen: Pen): void {
  const found = pen.isDone(text) ? undefined : namedMetric(text.text, vocabulary)
  if (found === undefined) return
  const { name, to, at } = found
  const becomes = to === undefined ? `has no successor in ${vocabulary.to}` : `becomes ${to}`
  pen.remark(text, { at, message: `${name}, which ${becomes}, is named here, and this is no query that is known` })
}

/** The first metric in a text that has another name now, or none. */
function namedMetric(text: string, { changes }: Vocabulary) {
  for (const { 0: name, index } of text.matchAll(/[A-Za-z_:][\w:]*/g)) {
    const [first] = changes.get(name) ?? []
    if (first !== undefined && first.to !== name) return { name, to: first.to, at: index }
  }
  return undefined
}

function writeVariable(variable: DashboardVariable, surroundings: Surroundings, pen: Pen): void {
  const { name, query, copies, metric, label, filtered, regex } = variable
  const rewriting = refuseUntranslated(name, rewriteVariable(variable, surroundings), surroundings)
  pen.rewrite(query, withNoteOf(name, rewriting))
  for (const copy of copies) pen.change(copy, rewriting.edits)
  if (rewriting.edits.length > 0) {
    const selector =
      metric === undefined ? undefined : rewriteExpression(metric.text, { ...surroundings, wantsLabels: true })
    if (selector !== undefined) pen.change(metric!, selector.edits)
    for (const text of [...(label === undefined ? [] : [label]), ...filtered]) {
      if (selector !== undefined) pen.relabel([{ text, label: text.text, start: 0 }], selector.scope)
    }
  }
  if (regex !== undefined) pen.change(regex, rewriting.regexEdits)
}

function refuseUntranslated(
  name: string,
  rewriting: VariableRewriting,
  { translatedVariables }: Surroundings,
): VariableRewriting {
  if (rewriting.translatedTo === undefined || translatedVariables.has(name)) return rewriting
  const message = `"${rewriting.translatedTo}" has other values, and not all that variable "${name}" is used in can follow`
  return { ...rewriting, edits: [], regexEdits: [], notes: [], remarks: [{ at: 0, message }], scope: UNCHANGED }
}

function withNoteOf(name: string, rewriting: VariableRewriting): VariableRewriting {
  const { translatedTo, edits, regexEdits, notes } = rewriting
  if (translatedTo === undefined || edits.length + regexEdits.length === 0) return rewriting
  const message = `variable "${name}" offers values of "${translatedTo}" now, which are others`
  return { ...rewriting, notes: [...notes, { at: 0, message }] }
}

const NOT_TAKEN = 'the way this text is written in the file does not take the change; in quotes it might'

type Pen = ReturnType<typeof createPen>

/** Collects what is to be changed and said. */
function createPen() {
  const edits: Edit[] = []
  const editsByText = new Map<TreeText, readonly Edit[]>()
  const findings: Finding[] = []
  const done = new Set<TreeText>()
  const rewritten = new Set<TreeText>()
  const counts = { expressions: 0, understood: 0, rewritten: 0, reported: 0 }

  /** Whether every place is known; if not, nothing is changed. */
  function change(text: TreeText, itsEdits: readonly Edit[]): boolean {
    // An anchor and its alias, or a copy of a copy: once is enough.
    done.add(text)
    const known = editsByText.get(text)
    if (known !== undefined) return JSON.stringify(known) === JSON.stringify(itsEdits)
    if (itsEdits.length === 0) return true
    const inFile = itsEdits.flatMap(edit => {
      const [start, end] = [text.originOf(edit.start), text.originOf(edit.end)]
      const spelling = text.spell(edit.text)
      return start === undefined || end === undefined || spelling === undefined ? [] : [{ start, end, text: spelling }]
    })
    if (inFile.length < itsEdits.length) return false
    edits.push(...inFile)
    editsByText.set(text, itsEdits)
    return true
  }

  /** Nothing more is said of it. */
  function say(text: TreeText, { at, message }: Remark, kind: Finding['kind']): void {
    done.add(text)
    findings.push({ offset: text.originOf(at) ?? text.start, message, kind })
  }

  function rewrite<T extends Rewriting>(text: TreeText, rewriting: T): T {
    const isDone = change(text, rewriting.edits)
    // What an alias stands for was counted where its anchor is.
    if (rewritten.has(text) && isDone) return rewriting
    rewritten.add(text)
    const remarks = isDone ? rewriting.remarks : [{ at: 0, message: NOT_TAKEN }]
    for (const remark of remarks) say(text, remark, 'left')
    // Once for an expression, however often it uses the metric.
    const notes = new Map(rewriting.notes.toReversed().map(note => [note.message, note]))
    for (const note of notes.values()) say(text, note, 'note')
    counts.expressions++
    if (rewriting.isUnderstood) counts.understood++
    if (isDone && rewriting.edits.length > 0) counts.rewritten++
    if (remarks.length + rewriting.notes.length > 0) counts.reported++
    return isDone ? rewriting : { ...rewriting, edits: [], scope: UNCHANGED }
  }

  function relabelAll(places: readonly LabelPlace[], scope: LabelScope): void {
    if (scope.shape === '') return
    const byText = Map.groupBy(places, ({ text }) => text)
    for (const [text, its] of byText) {
      const itsEdits: Edit[] = []
      for (const place of its) {
        const relabelled = relabel(place, scope)
        if (relabelled === undefined) continue
        if ('remark' in relabelled) say(text, { at: place.start, message: relabelled.remark }, 'left')
        else itsEdits.push(relabelled.edit)
        if ('note' in relabelled) say(text, { at: place.start, message: relabelled.note }, 'note')
      }
      if (itsEdits.length > 0 && !change(text, itsEdits)) say(text, { at: 0, message: NOT_TAKEN }, 'left')
    }
  }

  return {
    change,
    isDone: (text: TreeText) => done.has(text),
    rewrite,
    relabel: relabelAll,
    remark: (text: TreeText, remark: Remark) => say(text, remark, 'left'),
    note: (text: TreeText, remark: Remark) => say(text, remark, 'note'),
    problem: ({ offset, message }: SyntaxProblem) =>
      void findings.push({ offset, message: `${message}; this looks like a dashboard or rules`, kind: 'left' }),
    finish: (): MigratedDocument => ({ edits, editsByText, findings, counts }),
  }
}

/** What becomes of the labels of what rules make, over all documents that are migrated at once. */
export function recordedScopes(documents: readonly Found[], wish: Wish): Recorded {
  const rules = documents.flatMap(({ queries }) => queries.filter(({ made }) => made !== undefined))
  let recorded = new Map<string, LabelScope>()
  // A rule may use what another records; a chain is as long as there are rules, and no honest one is longer than this.
  for (let round = 0; round < 10; round++) {
    const next = new Map<string, LabelScope>()
    for (const { text, made } of rules) {
      const { scope } = rewriteExpression(text.text, { ...wish, recorded, translatedVariables: new Map() })
      const given = made!.labels.reduce(withMadeLabel, scope)
      for (const name of made!.names) {
        const known = next.get(name)
        next.set(name, known === undefined ? given : eitherOf(known, given))
      }
    }
    const isStable =
      next.size === recorded.size && [...next].every(([name, { shape }]) => recorded.get(name)?.shape === shape)
    recorded = next
    if (isStable) break
  }
  return recorded
}
