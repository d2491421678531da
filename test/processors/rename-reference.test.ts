/**
 * Every row of the reference on Run:ai's older metrics, through the processor in both directions and in every shape that it describes:
 * name, labels, values of labels, and unit.
 */
import assert from 'node:assert/strict'
import { writeIdentities } from '../../pipeline/cluster/identities.ts'
import { rename } from '../../processors/rename.ts'
import { batchFromText } from '../support/batch-from-text.ts'
import { configOf } from '../support/config-of.ts'
import { sharedJson } from '../support/shared.ts'
import { testHost } from '../support/test-host.ts'
import { textFromBatch } from '../support/text-from-batch.ts'

type Shape = { readonly labels: readonly string[]; readonly unit: string }
type Row = {
  readonly old: string
  readonly new: string | null
  readonly unitChange: string
  readonly oldLabels: readonly string[]
  readonly oldVariants?: readonly Shape[]
  readonly fromVersion: string
}
type Reference = {
  readonly legacy: readonly Row[]
  readonly metrics: readonly { readonly name: string; readonly labels: readonly string[] }[]
}

/** One thing of each kind, by the labels that it has in any version. A job and its workload have different ids and names. */
const VALUES: Readonly<Record<string, string>> = {
  clusterId: 'c',
  job_uuid: 'j-1',
  job_name: 'llama-release',
  job_type: 'training',
  workload_id: 'w-1',
  workload_name: 'llama',
  workload_type: 'training',
  project: 'chat',
  user: 'ada',
  department: 'research',
  department_name: 'research',
  pod_name: 'llama-0',
  pod_namespace: 'runai-chat',
  pod_uuid: 'p-1',
  node: 'node-a',
  gpu: '0',
  modelName: 'A100',
  ready: 'true',
  schedulable: 'true',
  memory_quota: '3',
  cpu_quota: '2',
  gpu_guaranteed_quota: '1',
  image: 'llama:1',
  namespace_name: 'n',
  deployment_name: 'd',
  status: 'Running',
  le: '5',
}

const ATTRIBUTES: Readonly<Record<string, string>> = {
  workload_id: 'w-1',
  workload_name: 'llama',
  workload_type: 'training',
  job_id: 'j-1',
  job_name: 'llama-release',
  project: 'chat',
  department: 'research',
  user: 'ada',
  pod: 'llama-0',
  namespace: 'runai-chat',
  pod_uid: 'p-1',
  node: 'node-a',
  model: 'A100',
  ready: 'true',
  schedulable: 'true',
}

/** What leaves for one series that comes in. */
function through(config: object, metric: string, labels: readonly string[], value: number): string[] {
  const host = testHost()
  const one = { get: (attribute: string) => ATTRIBUTES[attribute] }
  let text = ''
  const processor = rename.create(configOf(rename, config), host, batch => void (text = textFromBatch(batch)))
  writeIdentities(host.cluster, { workloads: [one], pods: [one], nodes: [one], workloadOf: () => one })
  processor.consume(batchFromText(line(metric, labels, value)))
  return text.split('\n').filter(row => row !== '')
}

function line(metric: string, labels: readonly string[], value: number): string {
  const pairs = labels.toSorted().map(label => `${label}="${VALUES[label]}"`)
  return `${metric}{${pairs.join(',')}} ${value}`
}

/** What a value in the newer unit is multiplied by to be one in the older. */
function factorOf({ unitChange, old }: Row, unit: string | undefined): number {
  if (/mebibytes/.test(old)) return unit === 'Bytes' ? 1048576 : 1
  return unitChange.includes('1048576') ? 1048576 : unitChange.includes('1e6') ? 1e6 : 1
}

const reference = sharedJson<Reference>('reference', 'runai-catalog.json')

/** A job does not tell which of its pods is meant. */
const LOST = new Set([
  'runai_gpu_memory_used_mebibytes_per_pod_per_gpu',
  'runai_job_used_gpu_memory_bytes_with_gpu_node',
])

describe('older metrics of Run:ai as the reference has them', () => {
  for (const row of reference?.legacy ?? []) {
    const [older, newer] = row.fromVersion === '2.12' ? ['runai-2.12', 'runai-2.16'] : ['runai-2.16', 'runai-2.17']
    if (row.new === null) {
      it(`${row.old} of ${older} stays as it is where a source has it`, () => {
        const same = line(row.old, row.oldLabels, 5)
        assert.deepEqual(through({ from: older, to: newer }, row.old, row.oldLabels, 5), [same])
        assert.deepEqual(through({ from: newer, to: older }, row.old, row.oldLabels, 5), [same])
      })
      continue
    }
    const target = row.new
    const newLabels = labelsIn(newer!, target)
    const shapes: readonly Partial<Shape>[] = row.oldVariants ?? [{}]
    // The first table of 2.16 is that for before 2.9; where there is one table only, that is the shape.
    const isUsual = (i: number): boolean => i === shapes.length - 1
    shapes.forEach((shape, i) => {
      // The reference knows no labels of dcgm_gpu_utilization: those of the newer name.
      const oldLabels = shape.labels ?? (row.oldLabels.length > 0 ? row.oldLabels : newLabels)
      const factor = factorOf(row, shape.unit)
      const name = shapes.length === 1 ? row.old : `${row.old}{${oldLabels.join(', ')}}`

      it(`${name} of ${older} is ${target} in ${newer}`, () => {
        const isLost = LOST.has(row.old) && oldLabels.includes('job_uuid')
        const expected = isLost ? [] : [line(target, newLabels, 5)]
        assert.deepEqual(through({ from: older, to: newer }, row.old, oldLabels, 5 * factor), expected)
      })

      it(`${target} of ${newer} is ${name} in ${older}`, () => {
        const variant = isUsual(i) ? {} : { variant: 'before-2.9' }
        const made = through({ from: newer, to: older, ...variant }, target, newLabels, 5)
        const wanted = line(row.old, oldLabels, 5 * factor)
        assert.ok(made.includes(wanted), `${wanted} is not among\n${made.join('\n')}`)
        const beside = through({ from: newer, to: older, ...variant, keep_original: true }, target, newLabels, 5)
        assert.deepEqual(new Set(beside), new Set([line(target, newLabels, 5), ...made]))
      })
    })
  }
})

function labelsIn(generation: string, metric: string): readonly string[] {
  const old = reference!.legacy.find(row => row.old === metric && `runai-${row.fromVersion}` === generation)
  return old?.oldLabels ?? reference!.metrics.find(({ name }) => name === metric)!.labels
}
