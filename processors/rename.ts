/**
 * Brings metrics from one generation of names, labels and units to another, older or newer, with or without the original beside it.
 *
 * Place it after `roll_up` to emit older names, and before whoever selects metrics by name to bring older ones up to date.
 */
import {
  loadTranslation,
  olderMetrics,
  type MetricTranslation,
  type Translation,
} from '../pipeline/catalog/translation.ts'
import { olderNameProblems, translationProblems } from '../pipeline/catalog/translation-problems.ts'
import { usualWorkloadRules } from '../pipeline/catalog/workload-rules.ts'
import { identities, identityKey, wantIdentities } from '../pipeline/cluster/identities.ts'
import { joinerNear } from '../pipeline/cluster/joiners.ts'
import { createMappedAgain } from '../pipeline/cluster/mapped-again.ts'
import type { WorkloadRules } from '../pipeline/cluster/pod-identity.ts'
import { createLiveIdentities } from '../pipeline/cluster/live-identities.ts'
import { defineProcessor, type ConfigSchema, type Problem } from '../pipeline/component.ts'
import type { Look, Mapped, SeriesMap } from '../pipeline/model/label-processor.ts'
import type { Series } from '../pipeline/model/series.ts'
import { createSeriesProcessor } from '../pipeline/series-processor.ts'
import { createDeprecatedSeries } from './rename/deprecated-series.ts'
import { ALL_OTHERS, createEmission, isDate, type EmissionRules } from './rename/emission.ts'
import { namesTaken, type NamesTaken } from './rename/names-taken.ts'
import { isTranslated, translateSeries, type Translator } from './rename/translate-series.ts'

const config = {
  type: 'object',
  properties: {
    from: { type: 'string', format: 'catalog', description: 'The catalog whose names come in: a name, or a path.' },
    to: { type: 'string', format: 'catalog', description: 'The catalog whose names go out.' },
    keep_original: {
      type: 'boolean',
      default: false,
      description: 'Whether what came in also goes on as it is, so that dashboards can be changed one by one.',
    },
    variant: {
      type: 'string',
      minLength: 1,
      description:
        'Where the older catalog knows several shapes of one metric, the one that is emitted, or taken for granted where labels do not tell; its first if this is missing.',
    },
    metrics: {
      type: 'object',
      default: {},
      additionalProperties: { type: 'string', minLength: 1 },
      description:
        'By the older name whether the metric is emitted by it: on, off, or a date (UTC) from whose beginning on it is not; `*` is for all that are not named. Where no older name is emitted, the newer one stays. What was removed has none, so that it is left out.',
    },
  },
  required: ['from', 'to'],
  additionalProperties: false,
} as const satisfies ConfigSchema

export const rename = defineProcessor({
  type: 'rename',
  summary: 'Gives metrics the names, labels and units of an older or newer generation.',
  config,
  example: { from: 'runai-2.17', to: 'runai-2.16', keep_original: true },
  check({ from, to, variant, metrics }) {
    const { translation, problems } = translationProblems(from, to, variant)
    if (translation === undefined) return problems
    return metricProblems(metrics, translation)
  },

  create({ from, to, keep_original: keepOriginal, variant, metrics }, host, next) {
    const { catalogs, cluster, clock, counters, log } = host
    const translation = loadTranslation(catalogs, from, to, variant)
    const deprecated = createDeprecatedSeries(translation)
    const emission = createEmission(
      olderMetrics(translation).map(({ name }) => name),
      metrics,
      clock,
      log,
    )
    const removed = new Set(translation.removed.map(({ metric }) => metric))
    const told = identities(cluster)
    let usual: WorkloadRules | undefined
    const live = createLiveIdentities(
      cluster,
      () => joinerNear(host)?.workload ?? (usual ??= usualWorkloadRules(catalogs)),
      clock,
    )
    const translator: Translator = {
      ...translation,
      knownAs: (kind, id, look) => look(told.entry(identityKey(kind, id))) ?? live.find(kind, id, look),
    }
    const warned = new Set<string>()
    let isMissing = false
    if (looksUp(translation)) wantIdentities(cluster)

    function translationsOf(name: string): readonly MetricTranslation[] {
      const other = translation.metrics.has(name) ? undefined : translation.other(name)
      return other === undefined ? (translation.metrics.get(name) ?? []) : [other]
    }

    /** Undefined if the series is not meant. */
    function translated(series: Series, its: MetricTranslation, look: Look, taken: NamesTaken): Mapped[] | undefined {
      const result = translateSeries(series, its, translator, look)
      if (result === 'other') return undefined
      const { name } = series.metric
      if (result === 'unknown') {
        counters.add('gpucol_processor_untranslated_series', 1, { metric: name, reason: 'unknown id' })
        isMissing = true
        return []
      }
      if (isSame(result, series) || taken.get(result.metric.name)?.has(result.labels) !== true) return [result]
      counters.add('gpucol_processor_untranslated_series', 1, { metric: name, reason: 'name taken' })
      if (!warned.has(name)) {
        warned.add(name)
        log.warn('two metrics are one: that counts which has the name already', { metric: name, is: its.to })
      }
      return []
    }

    /** Whether what comes in goes on whatever else becomes of it. */
    function isKept({ metric }: Series, look: Look): boolean {
      return keepOriginal && (translation.older === 'to' || emission.isOn(metric.name, look))
    }

    const map: SeriesMap = {
      by: 'context',
      context: layout => namesTaken(layout, translation),
      map(series, look, context) {
        const { name, family } = series.metric
        const gone = removed.has(name) ? name : family
        if (removed.has(gone)) return emission.isOn(gone, look) ? [series] : []
        const all = translationsOf(name)
        if (all.every(its => its.to === undefined) || all.some(its => isTranslated(series, its))) return [series]
        const wanted = all.filter(({ to: becomes, status }) => {
          return translation.older === 'from' || status === 'same' || emission.isOn(becomes!, look)
        })
        const results = wanted.map(its => translated(series, its, look, context as NamesTaken)).filter(isMeant)
        const mapped = results.flat()
        if (results.length > 0 && !isKept(series, look)) return mapped
        return [series, ...mapped.filter(result => !isSame(result, series))]
      },
    }
    const again = createMappedAgain(batch => {
      deprecated.note(batch)
      next(batch)
    })
    const processor = createSeriesProcessor(map, host, again.next)
    // Whoever runs on a virtual clock compares what there is at the end of a step, when ids may be known.
    const keepsAll = clock.aligned === true && looksUp(translation)
    let unobserve = (): void => {}
    return {
      start() {
        emission.announce()
        unobserve = counters.observe('gpucol_deprecated_series', () =>
          Array.from(deprecated.totals(), ([metric, value]) => ({ value, labels: { metric } })),
        )
      },
      consume(batch) {
        emission.check()
        live.check()
        again.forget(batch.source)
        if (keepsAll) again.keep(batch)
        processor.consume(batch)
        if (told.size + live.size > 0) log.state('ids', 'ok')
        else if (isMissing)
          log.state('ids', 'failing', 'series are left out: no receiver tells of pods, so that nobody knows their ids')
      },
      flush() {
        live.check()
        again.run(batch => processor.consume(batch))
      },
      stop() {
        unobserve()
        again.clear()
      },
      describe: () => `${from} to ${to}, ${translation.metrics.size} metrics`,
    }
  },
})

function isMeant<T>(result: T | undefined): result is T {
  return result !== undefined
}

function isSame({ metric, labels, scale }: Mapped, series: Series): boolean {
  return metric === series.metric && labels === series.labels && scale === undefined
}

/** Whether any label has to be looked up. */
function looksUp({ metrics }: Translation): boolean {
  const shapes = [...metrics.values()].flat().flatMap(its => its.shapes)
  return shapes.some(({ labels }) => labels.added.length > 0 || labels.renamed.some(({ sameValue }) => !sameValue))
}

function metricProblems(metrics: EmissionRules, translation: Translation): Problem[] {
  const named = Object.keys(metrics).filter(name => name !== ALL_OTHERS)
  const problems = olderNameProblems(named, translation)
  for (const [name, rule] of Object.entries(metrics)) {
    if (rule === 'on' || rule === 'off' || isDate(rule)) continue
    problems.push({ path: [name], message: `must be on, off or a day such as 2027-03-31, found "${rule}"` })
  }
  return problems.map(({ path, message }) => ({ path: ['metrics', ...path], message }))
}
