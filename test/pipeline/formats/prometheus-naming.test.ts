import assert from 'node:assert/strict'
import {
  prometheusLabelName,
  prometheusName,
  prometheusUnit,
  translateLabels,
  translateMetric,
  type LabelNaming,
  type TranslationStrategy,
} from '../../../pipeline/formats/prometheus-naming.ts'
import { labelPairs, labelsFrom } from '../../../pipeline/model/labels.ts'
import { metricFrom, type Metric, type MetricType } from '../../../pipeline/model/series.ts'
import { sharedJson } from '../../support/shared.ts'

type MetricCase = {
  name: string
  strategy: TranslationStrategy
  namespace: string
  metric: { name: string; unit: string; type: string }
  expect: 'ok' | 'error'
  prometheus_name?: string
  prometheus_unit?: string
}
type LabelResult = { name?: string; error?: string } | null
type LabelCase = { label: string } & Record<keyof typeof LABEL_SETTINGS, LabelResult>

/** OpenTelemetry's types in ours. */
const TYPES: Readonly<Record<string, Pick<Metric, 'type' | 'isUpDown'>>> = {
  Gauge: { type: 'gauge' },
  MonotonicCounter: { type: 'counter' },
  NonMonotonicCounter: { type: 'gauge', isUpDown: true },
  Histogram: { type: 'histogram' },
  ExponentialHistogram: { type: 'histogram' },
  Summary: { type: 'summary' },
  Unknown: { type: 'unknown' },
}

const LABEL_SETTINGS = {
  default: {},
  underscore_label_sanitization: { underscoreSanitization: true },
  preserve_multiple_underscores: { preserveMultipleUnderscores: true },
  preserve_and_sanitize: { underscoreSanitization: true, preserveMultipleUnderscores: true },
  utf8_allowed: { utf8: true },
} satisfies Record<string, LabelNaming>

describe('names in Prometheus of what came by OTLP', () => {
  const metrics = sharedJson<{ cases: MetricCase[] }>('conformance', 'otlp-prom-naming', 'metric-names.json')
  for (const one of metrics?.cases ?? []) {
    it(`${one.strategy}: ${one.name} (${one.metric.name}, ${one.metric.unit})`, () => {
      const parts = { ...one.metric, ...TYPES[one.metric.type]! }
      const name = prometheusName(parts, { strategy: one.strategy, namespace: one.namespace })
      assert.equal(name, one.expect === 'ok' ? one.prometheus_name : undefined)
      if (one.prometheus_unit !== undefined) {
        assert.equal(prometheusUnit(one.metric.unit, one.strategy), one.prometheus_unit)
      }
    })
  }

  const labels = sharedJson<{ cases: LabelCase[] }>('conformance', 'otlp-prom-naming', 'label-names.json')
  for (const one of labels?.cases ?? []) {
    it(`names the attribute "${one.label}"`, () => {
      for (const [setting, options] of Object.entries(LABEL_SETTINGS)) {
        const expected = one[setting as keyof typeof LABEL_SETTINGS]
        if (expected !== null) assert.equal(prometheusLabelName(one.label, options), expected.name, setting)
      }
    })
  }

  it('does not say twice what one word of the name says already, as in Prometheus', () => {
    const strategy = 'UnderscoreEscapingWithSuffixes'
    const cases: [name: string, unit: string, type: MetricType, expected: string][] = [
      ['io.bytes', 'By', 'gauge', 'io_bytes'],
      ['bytes.io', 'By/s', 'gauge', 'bytes_io_per_second'],
      ['requests_per_second', '1/s', 'gauge', 'requests_per_second_per_second'],
      ['cpu.custom_unit', 'custom_unit', 'gauge', 'cpu_custom_unit_custom_unit'],
      ['total.requests', '', 'counter', 'requests_total'],
      ['speed', 'km/h', 'gauge', 'speed_km_per_hour'],
      ['temperature', '°F', 'gauge', 'temperature_F'],
      ['weird', '+=.:,!* & #', 'gauge', 'weird'],
      ['redundant', '__test $/°C', 'gauge', 'redundant_test_per_C'],
    ]
    for (const [name, unit, type, expected] of cases) {
      assert.equal(prometheusName({ name, unit, type }, { strategy }), expected)
    }
  })

  it('takes only a gauge for a ratio, not a sum that may fall', () => {
    const metric = { name: 'queue.length', unit: '1', type: 'gauge' } as const
    for (const [strategy, name] of [
      ['UnderscoreEscapingWithSuffixes', 'queue_length'],
      ['NoUTF8EscapingWithSuffixes', 'queue.length'],
    ] as const) {
      assert.equal(prometheusName(metric, { strategy }), `${name}_ratio`)
      assert.equal(prometheusName({ ...metric, isUpDown: true }, { strategy }), name)
    }
  })

  it('names the parts of a distribution by their family', () => {
    const metric = metricFrom({
      name: 'rpc.time_bucket',
      family: 'rpc.time',
      type: 'histogram',
      unit: 'ms',
      isOtel: true,
    })
    assert.deepEqual(translateMetric(metric, { strategy: 'UnderscoreEscapingWithSuffixes', namespace: 'our' }), {
      name: 'our_rpc_time_milliseconds_bucket',
      family: 'our_rpc_time_milliseconds',
      unit: 'milliseconds',
    })
    assert.deepEqual(translateMetric(metric, { strategy: 'NoTranslation' }), {
      name: 'rpc.time_bucket',
      family: 'rpc.time',
      unit: 'ms',
    })
    const nothing = metricFrom({ name: '字符', isOtel: true })
    assert.equal(translateMetric(nothing, { strategy: 'UnderscoreEscapingWithSuffixes' }), undefined)
  })

  it('joins the values of attributes that become one label, and says which', () => {
    const attributes = labelsFrom(
      Object.entries({ 'a-b': '1', 'a.b': '2', a_b: '3', 'c.d': '4', __name__: 'x', 字: 'y', z: '9' }),
    )
    const collisions: unknown[] = []
    const translated = translateLabels(attributes, 'UnderscoreEscapingWithSuffixes', (name, names) =>
      collisions.push([name, names]),
    )
    assert.deepEqual(Object.fromEntries(labelPairs(translated)), { a_b: '1;2;3', c_d: '4', z: '9' })
    assert.deepEqual(collisions, [['a_b', ['a-b', 'a.b', 'a_b']]])
    assert.deepEqual(Object.fromEntries(labelPairs(translateLabels(attributes, 'NoTranslation'))), {
      'a-b': '1',
      'a.b': '2',
      a_b: '3',
      'c.d': '4',
      字: 'y',
      z: '9',
    })
  })
})
