/**
 * Keeps the series that somebody wants and drops the others.
 *
 * Place it as early as what it looks at is there: what is dropped costs nothing further on.
 */
import type { ConfigSchema, Problem } from '../pipeline/component.ts'
import { checkSelectors, compileSelectors, keepSeries, looksAt, selectors } from '../pipeline/relabel/select-series.ts'
import { defineSeriesProcessor } from '../pipeline/series-processor.ts'

const config = {
  type: 'object',
  properties: {
    include: selectors(
      'Selectors as in PromQL, `up{job="dcgm"}` or `{__name__=~"DCGM_.*"}`. A series that none of them selects is dropped; without any, none is. The name of a histogram or summary selects all its parts, `lat_bucket` the buckets alone.',
    ),
    exclude: selectors('Selectors of series that are dropped, also where `include` selects them.'),
  },
  additionalProperties: false,
} as const satisfies ConfigSchema

export const filter = defineSeriesProcessor({
  type: 'filter',
  summary: 'Keeps or drops series by their names and labels.',
  config,
  example: { include: ['{__name__=~"DCGM_.*"}'], exclude: ['{__name__=~"DCGM_FI_PROF_.*",gpu!="0"}'] },
  check({ include, exclude }) {
    const problems = [...checkSelectors(include, ['include']), ...checkSelectors(exclude, ['exclude'])]
    return problems.length > 0 ? problems : contradictions(include, exclude)
  },

  create({ include, exclude }) {
    const [wanted, unwanted] = [compileSelectors(include), compileSelectors(exclude)]
    const looks =
      include.length === 0
        ? unwanted.looks
        : exclude.length === 0
          ? wanted.looks
          : looksAt(wanted.looks, unwanted.looks)
    return keepSeries(looks, series => (include.length === 0 || wanted.selects(series)) && !unwanted.selects(series))
  },
})

function contradictions(include: readonly string[], exclude: readonly string[]): Problem[] {
  if (include.length === 0 && exclude.length === 0) {
    return [{ path: [], message: 'it keeps everything: `include` or `exclude` is needed' }]
  }
  return exclude.flatMap((text, i) =>
    include.includes(text)
      ? [{ path: ['exclude', i], message: `\`include\` has the same selector "${text}": nothing of it is kept` }]
      : [],
  )
}
