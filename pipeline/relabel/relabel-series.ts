/** Relabelling rules as a function on series, for processors and for what is scraped. */
import type { SeriesMap } from '../model/label-processor.ts'
import { labelPairs, labelsFrom } from '../model/labels.ts'
import { metricFrom, type Metric } from '../model/series.ts'
import { compileRegex } from './regex.ts'
import { compileRelabel } from './relabel.ts'
import { completeRule, type RelabelRule } from './rule.ts'

const NAME = '__name__'

/** Runs once per label set where no rule can see or change the name of a series, else once per series. */
export function relabelSeries(rules: readonly RelabelRule[]): SeriesMap {
  const relabel = compileRelabel(rules)
  if (!rules.some(concernsName)) {
    return {
      by: 'labels',
      map(labels) {
        const changed = relabel(new Map(labelPairs(labels)))
        return changed && labelsFrom(changed)
      },
    }
  }
  return {
    by: 'series',
    map({ metric, labels }) {
      const changed = relabel(new Map([...labelPairs(labels), [NAME, metric.name]]))
      const name = changed?.get(NAME) ?? ''
      // Without a name it is no series any more.
      if (changed === undefined || name === '') return []
      return [{ metric: renamed(metric, name), labels: labelsFrom([...changed].filter(([label]) => label !== NAME)) }]
    },
  }
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
