/**
 * Turns what exporters emit, in every generation of them, into facts: one name, one unit and one spelling of labels for each.
 *
 * Place it first: all that comes after it then needs to know nothing about exporters.
 */
import { INPUT_CATALOGS, inputCatalogProblems, loadInputCatalog } from '../pipeline/catalog/catalogs.ts'
import { defineProcessor, type ConfigSchema } from '../pipeline/component.ts'
import { seenOf } from '../pipeline/cluster/seen.ts'
import { runComposed } from '../pipeline/model/compose.ts'
import type { SeriesMap } from '../pipeline/model/label-processor.ts'
import { createSeriesProcessor } from '../pipeline/series-processor.ts'
import { factFrom } from './normalize/facts.ts'
import { createRules } from './normalize/rules.ts'
import { createTargets, type TargetContext } from './normalize/targets.ts'

const config = {
  type: 'object',
  properties: {
    catalogs: {
      type: 'array',
      items: { type: 'string', format: 'catalog' },
      default: INPUT_CATALOGS,
      description:
        'Input catalogs, by name or by the path of a file of your own. Of two that know one name the later counts.',
    },
    keep_raw: {
      type: 'boolean',
      default: false,
      description: 'Whether series that became facts are also passed on as they came.',
    },
  },
  additionalProperties: false,
} as const satisfies ConfigSchema

export const normalize = defineProcessor({
  type: 'normalize',
  summary: 'Turns what exporters emit, in every generation of them, into facts with one name and unit.',
  config,
  example: { keep_raw: true },
  check: ({ catalogs }) =>
    inputCatalogProblems(catalogs).map(({ index, message }) => ({ path: ['catalogs', index], message })),

  create({ catalogs, keep_raw: keepRaw }, host, next) {
    const rules = createRules(catalogs.map(name => loadInputCatalog(host.catalogs, name)))
    const seen = seenOf(host.cluster)
    const targets = createTargets(rules, (source, devices) => seen.devices(source, devices))

    const map: SeriesMap = {
      by: 'context',
      context: (layout, source) => targets.contextOf(source, layout),
      map(series, _look, context) {
        const rule = rules.byName.get(series.metric.name)
        const facts = rule && factFrom(series, rule, context as TargetContext)
        if (facts === undefined) return [series]
        // A fact that has the name of its source stands for both.
        return keepRaw && rule!.fact.name !== series.metric.name ? [series, ...facts] : facts
      },
    }
    const processor = createSeriesProcessor(map, host, batch => {
      if (batch.outcome === 'ok' && batch.source.isModelled !== true) seen.objects(batch, rules.objectOf)
      next(batch)
    })
    return {
      consume(batch) {
        if (batch.outcome !== 'ok') seen.ended(batch.source, batch.outcome)
        if (batch.outcome === 'removed') targets.forget(batch.source)
        processor.consume(batch)
      },
      step(source, layout) {
        const step = processor.step(source, layout)
        if (step === undefined || source.isModelled === true) return step
        const speaksOfObjects = step.plan.output.metrics.some(({ name }) => rules.objectOf(name) !== undefined)
        return speaksOfObjects
          ? { ...step, after: { see: (batch, way) => seen.objects(runComposed(way, batch), rules.objectOf) } }
          : step
      },
      release(source) {
        targets.release(source)
        return processor.release(source)
      },
    }
  },
})
