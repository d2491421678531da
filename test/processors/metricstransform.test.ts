/** Cases of the OpenTelemetry Collector's metricstransform, by the processors that do the same here. */
import assert from 'node:assert/strict'
import type { ProcessorDefinition } from '../../pipeline/component.ts'
import type { Batch } from '../../pipeline/model/batch.ts'
import { convertUnits } from '../../processors/convert-units.ts'
import { filter } from '../../processors/filter.ts'
import { relabel } from '../../processors/relabel.ts'
import { setLabels } from '../../processors/set-labels.ts'
import { batchFromText } from '../support/batch-from-text.ts'
import { sharedJson } from '../support/shared.ts'
import { testHost } from '../support/test-host.ts'
import { textFromBatch } from '../support/text-from-batch.ts'
import deviations from './metricstransform-deviations.json' with { type: 'json' }

type Point = {
  attributes?: { key: string; value: { stringValue: string } }[]
  asInt?: string
  asDouble?: number
  count?: string
  sum?: number
  explicitBounds?: number[]
  bucketCounts?: string[]
}
type Data = { dataPoints: Point[] }
type OtlpMetric = { name: string; gauge?: Data; sum?: Data; histogram?: Data; exponentialHistogram?: Data }
type Operation = {
  action: string
  label?: string
  new_label?: string
  new_value?: string
  label_value?: string
  value_actions?: { value: string; new_value: string }[]
  experimental_scale?: number
}
type Transform = {
  include: string
  match_type: 'strict' | 'regexp'
  action: string
  new_name?: string
  submatch_case?: 'lower' | 'upper' | ''
  aggregation_type?: string
  experimental_match_labels?: Record<string, string>
  operations?: Operation[]
}
type Case = { name: string; transforms: Transform[]; in: OtlpMetric[]; out: OtlpMetric[] }

const file = sharedJson<{ cases: Case[] }>('conformance', 'otel-metricstransform', 'cases.json')

type Step = readonly [definition: ProcessorDefinition, config: object]

const DEFAULTS = { match: [], from: {}, separator: '/', set: {}, overwrite: true, hash: [], hash_salt: '', delete: [] }

function stepsOf(transform: Transform): Step[] {
  if (transform.action === 'insert') return [[relabel, { rules: rulesOfCopy(transform), keep_original: true }]]
  if (transform.action === 'combine') return [[relabel, { rules: rulesOfCombination(transform), keep_original: false }]]
  const match = [selectorOf(transform)]
  const operations = (transform.operations ?? []).flatMap((operation): Step[] => {
    const { label = '', new_label = '', new_value = '', label_value = '' } = operation
    switch (operation.action) {
      case 'add_label':
        return [[setLabels, { ...DEFAULTS, match, set: { [new_label]: new_value }, overwrite: false }]]
      case 'update_label':
        return [
          ...(operation.value_actions ?? []).map((change): Step => [
            relabel,
            {
              keep_original: false,
              rules: [
                {
                  source_labels: ['__name__', label],
                  regex: `${nameRegex(transform)};${literal(change.value)}`,
                  target_label: label,
                  replacement: change.new_value,
                },
              ],
            },
          ]),
          ...(new_label === ''
            ? []
            : [[setLabels, { ...DEFAULTS, match, from: { [new_label]: label }, delete: [label] }] as const]),
        ]
      case 'delete_label_value':
        return [[filter, { include: [], exclude: [selectorOf(transform, { [label]: label_value })] }]]
      case 'experimental_scale_value':
        // The only factor of theirs that lies between two units.
        return operation.experimental_scale === 100
          ? [[convertUnits, { rules: [{ match, from: '1', to: '%', rename: false }] }]]
          : []
      case 'toggle_scalar_data_type':
        // Numbers have one type here: nothing has to be done, and the same comes out.
        return []
      default:
        throw new Error(`nothing does ${operation.action}`)
    }
  })
  if (transform.new_name === undefined) return operations
  const rename = {
    source_labels: ['__name__'],
    regex: nameRegex(transform),
    target_label: '__name__',
    replacement: transform.new_name,
  }
  return [...operations, [relabel, { rules: [rename], keep_original: false }]]
}

/** What is chosen is copied: it gets its new labels, and last its new name. */
function rulesOfCopy(transform: Transform): object[] {
  const labels = Object.entries(transform.experimental_match_labels ?? {})
  const regexOf = (value: string) => (transform.match_type === 'regexp' ? `(?:${unanchored(value)})` : literal(value))
  const chosen = {
    action: 'keep',
    source_labels: ['__name__', ...labels.map(([label]) => label)],
    regex: [nameRegex(transform), ...labels.map(([, value]) => regexOf(value))].join(';'),
  }
  const updates = (transform.operations ?? []).flatMap(({ action, label = '', new_label = '', value_actions = [] }) => {
    if (action !== 'update_label') throw new Error(`nothing does ${action} to a copy`)
    const values = value_actions.map(({ value, new_value: replacement }) => ({
      source_labels: [label],
      regex: literal(value),
      target_label: label,
      replacement,
    }))
    const moved = [
      { source_labels: [label], regex: '(.+)', target_label: new_label, replacement: '$1' },
      { action: 'labeldrop', regex: literal(label) },
    ]
    return [...values, ...(new_label === '' ? [] : moved)]
  })
  return [chosen, ...updates, { target_label: '__name__', replacement: transform.new_name }]
}

/** The groups that have names become labels, before what they are taken from gets the name that all have then. */
function rulesOfCombination(transform: Transform): object[] {
  const onName = { source_labels: ['__name__'], regex: nameRegex(transform) }
  const labels = Array.from(transform.include.matchAll(/\(\?P<(\w+)>/g), ([, label]) => label!)
  const { submatch_case: letters = '' } = transform
  return [
    ...labels.map(label => ({ ...onName, target_label: label, replacement: `\${${label}}` })),
    ...(letters === ''
      ? []
      : labels.map(label => ({ action: `${letters}case`, source_labels: [label], target_label: label }))),
    { ...onName, target_label: '__name__', replacement: transform.new_name },
  ]
}

function selectorOf(transform: Transform, labels: Record<string, string> = {}): string {
  const wanted = { ...transform.experimental_match_labels, ...labels }
  const matchers = Object.entries(wanted).map(([name, value]) => `,${name}=${JSON.stringify(value)}`)
  return `{__name__=~\`${nameRegex(transform)}\`${matchers.join('')}}`
}

function nameRegex({ include, match_type }: Transform): string {
  return match_type === 'regexp' ? unanchored(include) : literal(include)
}

function unanchored(regex: string): string {
  return regex.replace(/^\^|\$$/g, '')
}

function literal(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')
}

/** Prometheus text. A metric without points would not be seen: where a case has none at all, each metric gets one. */
function textOf(metrics: readonly OtlpMetric[], isBare: boolean): string {
  return metrics
    .flatMap(({ name, gauge, sum, histogram }) => {
      const type = gauge ? 'gauge' : sum ? 'counter' : 'histogram'
      const points = (gauge ?? sum ?? histogram)!.dataPoints
      return [
        `# TYPE "${name}" ${type}`,
        ...(isBare ? [{ asInt: '1' }] : points).flatMap(point => linesOf(name, point)),
      ]
    })
    .join('\n')
}

function linesOf(name: string, point: Point): string[] {
  const labels = (point.attributes ?? [])
    .filter(({ key }) => !(key in deviations.labels_left_out))
    .map(({ key, value }) => `"${key}"="${value.stringValue}"`)
  const line = (suffix: string, value: unknown, ...more: string[]) =>
    `{${[`"${name}${suffix}"`, ...labels, ...more].join(',')}} ${String(value)}`
  if (point.bucketCounts === undefined) return [line('', point.asInt ?? point.asDouble)]
  let count = 0
  const buckets = point.bucketCounts.map((inBucket, i) => {
    count += Number(inBucket)
    return line('_bucket', count, `le="${point.explicitBounds?.[i] ?? '+Inf'}"`)
  })
  return [...buckets, line('_sum', point.sum), line('_count', point.count)]
}

function run({ name, transforms, in: input, out }: Case): { found: string; expected: string } {
  const leftOut = deviations.metrics_left_out.find(one => one.case === name)?.metrics ?? []
  const isWanted = (metric: OtlpMetric) => !leftOut.includes(metric.name)
  const isBare = input.every(metric => (metric.gauge ?? metric.sum ?? metric.histogram)!.dataPoints.length === 0)
  let batch = batchFromText(textOf(input.filter(isWanted), isBare))
  for (const [definition, config] of transforms.flatMap(stepsOf)) {
    definition.create(config, testHost(), (next: Batch) => (batch = next)).consume(batch)
  }
  const expected = textFromBatch(batchFromText(textOf(out.filter(isWanted), isBare)))
  return { found: textFromBatch(batch), expected }
}

if (file !== undefined) {
  describe('metricstransform', () => {
    const usesOf = ({ transforms, in: input }: Case) => [
      ...transforms.flatMap(({ action, aggregation_type, operations = [] }) => [
        action,
        ...(aggregation_type ? ['aggregation_type'] : []),
        ...operations.map(operation => operation.action),
      ]),
      ...(input.some(metric => metric.exponentialHistogram) ? ['exponential_histogram'] : []),
    ]
    const applicable = file.cases.filter(one => !usesOf(one).some(use => use in deviations.not_applicable))

    it('leaves out some metrics of a case, and never all', () => {
      for (const { case: name, metrics } of deviations.metrics_left_out) {
        const one = applicable.find(each => each.name === name)
        assert.ok(one === undefined || metrics.length < one.in.length, `nothing of ${name} is left`)
      }
    })

    for (const one of applicable) {
      it(one.name.replaceAll('_', ' '), () => {
        const { found, expected } = run(one)
        assert.equal(found, expected)
      })
    }
  })
}
