/**
 * Gives metrics another unit of the same dimension: bytes for MiB, ratios for percentages, seconds for milliseconds.
 *
 * Place it last, before the exporters: `roll_up` and `normalize` know the units of what they read.
 */
import { unitFromName, unitFromText, wordOf } from '../pipeline/catalog/unit-words.ts'
import { isUnit, scaleBetween, unitNames } from '../pipeline/catalog/units.ts'
import type { ConfigSchema, Host, Problem } from '../pipeline/component.ts'
import type { Mapped } from '../pipeline/model/label-processor.ts'
import { getLabel, withLabels } from '../pipeline/model/labels.ts'
import { ONE, type Scale } from '../pipeline/model/scale.ts'
import { metricFrom, type Metric, type Series } from '../pipeline/model/series.ts'
import { checkSelectors, compileSelectors, selectors } from '../pipeline/relabel/select-series.ts'
import { defineSeriesProcessor } from '../pipeline/series-processor.ts'
import { scaleBound } from './convert-units/bucket-bound.ts'
import { withUnitInName } from './convert-units/unit-name.ts'

const config = {
  type: 'object',
  properties: {
    rules: {
      type: 'array',
      minItems: 1,
      description: 'What is converted. Of several rules for a series the first counts.',
      items: {
        type: 'object',
        properties: {
          match: selectors(
            'Selectors of the series that are meant, as in PromQL. Without any, all that have a unit of the dimension of `to`.',
          ),
          from: {
            type: 'string',
            description:
              'The unit that the numbers are in, whatever the source says. Default: what the source says, else the unit at the end of the name.',
          },
          to: { type: 'string', description: `The unit that is wanted: ${unitNames().join(', ')}.` },
          rename: {
            type: 'boolean',
            default: false,
            description:
              'Whether the unit at the end of the name changes, too (`_bytes` to `_mebibytes`); a name without one gets one.',
          },
        },
        required: ['to'],
        additionalProperties: false,
      },
    },
  },
  required: ['rules'],
  additionalProperties: false,
} as const satisfies ConfigSchema

type RuleConfig = {
  readonly match: readonly string[]
  readonly from?: string | undefined
  readonly to: string
  readonly rename: boolean
}

export const convertUnits = defineSeriesProcessor({
  type: 'convert_units',
  summary: 'Converts metrics to another unit of the same dimension.',
  config,
  example: { rules: [{ match: ['DCGM_FI_DEV_FB_USED'], from: 'MiB', to: 'By', rename: true }, { to: 's' }] },
  check: ({ rules }) => [
    ...rules.flatMap((rule, i) => checkRule(rule, ['rules', i])),
    ...unreachable(rules as readonly RuleConfig[]),
  ],

  create({ rules }, host) {
    const compiled = (rules as readonly RuleConfig[]).map(rule => compileRule(rule, host))
    return {
      by: 'series',
      map(series) {
        for (const convert of compiled) {
          const converted = convert(series)
          if (converted !== undefined) return [converted]
        }
        return [series]
      },
    }
  },
})

/** Undefined: the rule does not mean this series. */
type Convert = (series: Series) => Mapped | undefined

function compileRule({ match, from, to, rename }: RuleConfig, { counters, log }: Host): Convert {
  const selector = compileSelectors(match)
  let hasWarned = false

  /** Others are told once by a line, and always by the number. */
  function refuse(series: Series, unit: string | undefined): Mapped {
    counters.add('gpucol_processor_unconverted_series', 1)
    if (!hasWarned) {
      const why = unit === undefined ? 'nobody says what unit it has' : `its unit is "${unit}"`
      log.warn(`cannot convert to "${to}": ${why}`, { metric: series.metric.name })
    }
    hasWarned = true
    return series
  }

  return series => {
    if (match.length > 0 && !selector.selects(series)) return undefined
    const { metric } = series
    if (NO_QUANTITY.has(metric.type)) return match.length > 0 ? series : undefined
    const unit = from ?? unitOf(metric)
    const scale = unit === undefined ? undefined : scaleBetween(unit, to)
    if (scale === undefined) return match.length > 0 ? refuse(series, unit) : undefined
    return converted(series, scale, metricIn(metric, unit!, to, rename))
  }
}

const NO_QUANTITY: ReadonlySet<string> = new Set(['info', 'stateset'])

function unitOf({ unit, family, name }: Metric): string | undefined {
  const base = name.startsWith(family) ? family : name
  return unitFromText(unit) ?? unitFromName(base.replace(/_total$/, ''))
}

/** A source that says units by words (`bytes`) goes on to do so. dcgm-exporter also has them in its help, as `(in MiB)`. */
function metricIn(metric: Metric, from: string, to: string, rename: boolean): Metric {
  const unit = metric.unit !== '' && metric.unit === wordOf(from) ? wordOf(to)! : to
  const help = metric.help.replace(`(in ${from})`, `(in ${wordOf(to)})`)
  const described = metricFrom({ ...metric, unit, help })
  return rename ? withUnitInName(described, from, to) : described
}

/** Parts of histograms and summaries that are numbers of observations, not what was observed. */
const COUNTS: ReadonlySet<string> = new Set(['_bucket', '_count', '_gcount'])
const IN_PARTS: ReadonlySet<string> = new Set(['histogram', 'gaugehistogram', 'summary'])

function converted({ metric: { name, family, type }, labels }: Series, scale: Scale, metric: Metric): Mapped {
  const bound = getLabel(labels, 'le')
  const isBucket = bound !== undefined && name.endsWith('_bucket')
  const isCount = isBucket || (IN_PARTS.has(type) && COUNTS.has(name.slice(family.length)))
  return {
    metric,
    labels: isBucket ? withLabels(labels, [['le', scaleBound(bound, scale)]]) : labels,
    scale: isCount ? ONE : scale,
  }
}

function checkRule(
  { match, from, to }: { match: readonly string[]; from?: string | undefined; to: string },
  path: readonly (string | number)[],
): Problem[] {
  const problems = checkSelectors(match, [...path, 'match'])
  for (const [key, unit] of [
    ['from', from],
    ['to', to],
  ] as const) {
    if (unit !== undefined && wordOf(unit) === undefined) {
      const known = unitFromText(unit)
      const hint = known === undefined ? `there are ${unitNames().join(', ')}` : `write "${known}"`
      problems.push({ path: [...path, key], message: `unknown unit "${unit}"; ${hint}` })
    }
  }
  if (problems.length > 0 || from === undefined) return problems
  if (from === to) return [{ path: [...path, 'to'], message: `"${to}" is the unit that it has already` }]
  if (match.length === 0) {
    return [{ path: [...path, 'from'], message: '`from` says what unit some series have: `match` has to say which' }]
  }
  if (isUnit(from) && scaleBetween(from, to) === undefined) {
    return [
      { path: [...path, 'to'], message: `"${from}" cannot be converted to "${to}": they measure different things` },
    ]
  }
  return []
}

/** A selector that an earlier rule has, too. */
function unreachable(rules: readonly RuleConfig[]): Problem[] {
  return rules.flatMap(({ match }, i) =>
    match.flatMap((text, j) => {
      const earlier = rules.slice(0, i).findIndex(rule => rule.match.includes(text))
      if (earlier < 0) return []
      const message = `\`rules[${earlier}]\` has "${text}", too, and comes first`
      return [{ path: ['rules', i, 'match', j], message }]
    }),
  )
}
