/** Relabelling rules as a function on series, for processors and for what is scraped. */
import type { SeriesMap } from '../model/label-processor.ts'
import { labelPairs, labelsFrom, type Labels } from '../model/labels.ts'
import { metricFrom, type Metric, type Series } from '../model/series.ts'
import { compileRegex } from './regex.ts'
import { compileRelabel } from './relabel.ts'
import { completeRule, type RelabelRule } from './rule.ts'

const NAME = '__name__'

/**
 * Rules run once per label set where none of them can see or change the name of a series, else once per series. Those that only choose
 * by the name run once per name: what they say does not depend on what the others do.
 */
export function relabelSeries(rules: readonly RelabelRule[]): SeriesMap {
  const ofNames = rules.filter(onlyChoosesByName)
  const others = rules.filter(rule => !onlyChoosesByName(rule))
  if (!others.some(concernsName)) {
    if (ofNames.length === 0) return { by: 'labels', map: labelsMap(others) }
    return others.length === 0 ? nameMap(ofNames) : separateMap(ofNames, labelsMap(others))
  }
  return { by: 'series', map: oneByOne(rules) }
}

/** What comes in goes on as it is, and what the rules make of it beside it. */
export function relabelBeside(rules: readonly RelabelRule[]): SeriesMap {
  const relabel = oneByOne(rules)
  return {
    by: 'series',
    map(series) {
      const isChanged = ({ metric, labels }: Series) => metric !== series.metric || labels !== series.labels
      return [series, ...relabel(series).filter(isChanged)]
    },
  }
}

function oneByOne(rules: readonly RelabelRule[]): (series: Series) => readonly Series[] {
  const relabel = compileRelabel(rules)
  return ({ metric, labels }) => {
    const changed = relabel(new Map([...labelPairs(labels), [NAME, metric.name]]))
    const name = changed?.get(NAME) ?? ''
    // Without a name it is no series any more.
    if (changed === undefined || name === '') return []
    return [{ metric: renamed(metric, name), labels: labelsFrom([...changed].filter(([label]) => label !== NAME)) }]
  }
}

function labelsMap(rules: readonly RelabelRule[]): (labels: Labels) => Labels | undefined {
  const relabel = compileRelabel(rules)
  return labels => {
    const changed = relabel(new Map(labelPairs(labels)))
    return changed && labelsFrom(changed)
  }
}

function nameMap(rules: readonly RelabelRule[]): SeriesMap {
  const isChosen = nameChoice(rules)
  return { by: 'metric', map: metric => (isChosen(metric) ? [{ metric }] : []) }
}

function nameChoice(rules: readonly RelabelRule[]): (metric: Metric) => boolean {
  const choose = compileRelabel(rules)
  return ({ name }) => choose(new Map([[NAME, name]])) !== undefined
}

/** The series is dropped, or has other labels: one by its name, the other by its labels. */
function separateMap(
  ofNames: readonly RelabelRule[],
  relabelLabels: (labels: Labels) => Labels | undefined,
): SeriesMap {
  const isChosen = remembering(nameChoice(ofNames))
  const changed = remembering(relabelLabels)
  return {
    by: 'series',
    map(series) {
      const { metric, labels } = series
      if (!isChosen.ask(metric)) return []
      const after = changed.ask(labels)
      if (after === undefined) return []
      return after === labels ? [series] : [{ metric, labels: after }]
    },
    forget: changed.forget,
  }
}

/** Of each thing asks once, for as long as it lives and nobody says that it is needed no more. */
function remembering<K extends object, V>(ask: (key: K) => V): { ask: (key: K) => V; forget: () => void } {
  let answers = new WeakMap<K, V>()
  let isEmpty = true
  return {
    ask(key) {
      const known = answers.get(key)
      if (known !== undefined || answers.has(key)) return known as V
      const answer = ask(key)
      answers.set(key, answer)
      isEmpty = false
      return answer
    },
    forget() {
      if (isEmpty) return
      answers = new WeakMap()
      isEmpty = true
    },
  }
}

function onlyChoosesByName(given: RelabelRule): boolean {
  const { action, source_labels } = completeRule(given)
  return (
    (action === 'keep' || action === 'drop') && source_labels.length > 0 && source_labels.every(name => name === NAME)
  )
}

function concernsName(given: RelabelRule): boolean {
  const { action, source_labels, target_label, replacement, regex } = completeRule(given)
  if (source_labels.includes(NAME)) return true
  switch (action) {
    case 'labeldrop':
      return compileRegex(regex).matches(NAME)
    case 'labelkeep':
      return !compileRegex(regex).matches(NAME)
    case 'labelmap':
      return replacement.includes('$') || replacement === NAME || compileRegex(regex).matches(NAME)
    default:
      return target_label === NAME || target_label.includes('$')
  }
}

/** The parts of a histogram stay its parts where the new name has the same ending. */
function renamed(metric: Metric, name: string): Metric {
  if (name === metric.name) return metric
  const ending = metric.name.startsWith(metric.family) ? metric.name.slice(metric.family.length) : undefined
  if (ending !== undefined && name.endsWith(ending) && name.length > ending.length) {
    return metricFrom({ ...metric, name, family: name.slice(0, name.length - ending.length) })
  }
  const isPart = metric.name !== metric.family
  return metricFrom({ ...metric, name, family: name, type: isPart ? 'unknown' : metric.type })
}
