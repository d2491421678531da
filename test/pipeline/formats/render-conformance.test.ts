/**
 * The Python client's own cases for writing expositions and escaping names. What we do differently on purpose is listed with the
 * reason, and a listed case that passes is a failure, too.
 */
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Batch } from '../../../pipeline/model/batch.ts'
import { labelsFrom } from '../../../pipeline/model/labels.ts'
import { layoutFromSeries } from '../../../pipeline/model/layout.ts'
import { metricFrom, type MetricType } from '../../../pipeline/model/series.ts'
import { escapeLabelName, escapeMetricName, type Escaping } from '../../../pipeline/formats/render-names.ts'
import { renderText } from '../../../pipeline/formats/render-text.ts'
import { createSource } from '../../support/batch-from-text.ts'

type Sample = {
  name: string
  labels: Record<string, string>
  value: string
  timestamp_seconds?: string
  exemplar?: unknown
  native_histogram?: unknown
}
type ExpositionCase = {
  name: string
  format: 'prometheus-text' | 'openmetrics-text'
  escaping: Escaping
  families: { name: string; type: MetricType; help: string; unit: string; samples: Sample[] }[]
  expect: 'text' | 'error'
  output?: string
}
type NameCase = { name: string; kind: 'metric' | 'label'; input: string } & Record<Escaping, string>

const EXEMPLARS = 'exemplars do not travel the pipeline'
const NATIVE = 'native histograms do not travel the pipeline: they arrive as classic buckets'

/** By format and name. */
const DEVIATIONS: Readonly<Record<string, string>> = {
  'openmetrics-text test_counter_exemplar': EXEMPLARS,
  'openmetrics-text test_counter_non_total_exemplar': EXEMPLARS,
  'openmetrics-text test_histogram_exemplar#0': EXEMPLARS,
  'openmetrics-text test_histogram_exemplar#1': EXEMPLARS,
  'openmetrics-text test_histogram_non_bucket_exemplar': EXEMPLARS,
  'openmetrics-text test_untyped_exemplar': EXEMPLARS,
  'openmetrics-text test_native_histogram': NATIVE,
  'openmetrics-text test_native_histogram_utf8': NATIVE,
  'openmetrics-text test_native_histogram_utf8_stress': NATIVE,
  'openmetrics-text test_native_histogram_version_comparison#0': 'a family without samples has no header',
  'openmetrics-text test_native_histogram_version_comparison#1': NATIVE,
  'openmetrics-text test_native_histogram_with_classic_histogram': NATIVE,
  'openmetrics-text test_native_histogram_with_labels': NATIVE,
  'openmetrics-text test_native_histogram_with_labels_utf8': NATIVE,
  'openmetrics-text test_native_plus_classic_histogram_two_labelsets': NATIVE,
  'openmetrics-text test_nh_histogram_with_exemplars': NATIVE,
  'openmetrics-text test_nh_longer_spans': NATIVE,
  'openmetrics-text test_nh_no_observation': NATIVE,
  'openmetrics-text test_timestamp': 'timestamps are milliseconds: what is finer is rounded when it arrives',
}

const folder = resolve('../shared/conformance/client-python-exposition')

describe('client_python exposition conformance', function () {
  if (!existsSync(folder)) {
    it('is skipped: ../shared/conformance is not there')
    return
  }

  it('holds for all cases but those that are listed', () => {
    const failed: string[] = []
    const cases = read<ExpositionCase>('exposition.json')
    for (const one of cases) if (!passes(one)) failed.push(`${one.format} ${one.name}`)
    assert.equal(cases.length, 51)
    assert.deepEqual(failed.sort(), Object.keys(DEVIATIONS).sort())
  })

  for (const { name, kind, input, ...expected } of read<NameCase>('escape-names.json')) {
    it(`escapes ${kind} names: ${name.replace(/^.*: /, '')}`, () => {
      const escape = kind === 'metric' ? escapeMetricName : escapeLabelName
      for (const escaping of ['underscores', 'dots', 'values'] as const) {
        assert.equal(escape(input, escaping), expected[escaping], escaping)
      }
    })
  }
})

function read<Case>(file: string): Case[] {
  return (JSON.parse(readFileSync(`${folder}/${file}`, 'utf8')) as { cases: Case[] }).cases
}

function passes({ families, format, escaping, expect, output }: ExpositionCase): boolean {
  const rendered = renderText([batchOf(families)], {
    syntax: format === 'prometheus-text' ? 'text' : 'openmetrics',
    escaping,
    timestamps: families.some(({ samples }) => samples.some(sample => sample.timestamp_seconds !== undefined)),
  })
  return expect === 'text' && normalize(rendered) === normalize(output!)
}

function batchOf(families: ExpositionCase['families']): Batch {
  const samples = families.flatMap(({ name: family, type, help, unit, samples: own }) =>
    own
      .filter(sample => sample.native_histogram === undefined)
      .map(sample => ({ ...sample, metric: metricFrom({ name: sample.name, family, type, help, unit }) })),
  )
  return {
    source: createSource(),
    timeMs: 0,
    outcome: 'ok',
    layout: layoutFromSeries(
      samples.map(({ metric, labels }) => ({ metric, labels: labelsFrom(Object.entries(labels)) })),
    ),
    values: Float64Array.from(samples, ({ value }) => Number(value.replace(/^MyNumber\((.*)\)$/, '$1'))),
    times: Float64Array.from(samples, ({ timestamp_seconds: seconds }) =>
      seconds === undefined ? NaN : Math.trunc(Number(seconds) * 1000),
    ),
  }
}

/** Numbers as that client writes them, its order of families, and that of sum and count, are a matter of style. */
function normalize(text: string): string {
  const plain = text
    .replace(/^([^#].*) (\S+)\.0$/gm, '$1 $2')
    .replace(/^([^#].*) (\S+)\.0 (-?[\d.]+)$/gm, '$1 $2 $3')
    .replace(/^(.*_g?count.*)\n(.*_g?sum.*)$/gm, '$2\n$1')
  return plain
    .split(/^(?=# HELP|# EOF)/m)
    .sort()
    .join('')
}
