/** There and back again: what a generation can say of a series, whatever its labels and value are. */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { createCatalogs } from '../../pipeline/catalog/catalogs.ts'
import { generationOf } from '../../pipeline/catalog/generations.ts'
import type { OutputCatalog } from '../../pipeline/catalog/output-schema.ts'
import { writeIdentities } from '../../pipeline/cluster/identities.ts'
import type { Batch } from '../../pipeline/model/batch.ts'
import { packageFile } from '../../pipeline/package-files.ts'
import { rename } from '../../processors/rename.ts'
import { batchFromText } from '../support/batch-from-text.ts'
import { configOf } from '../support/config-of.ts'
import { testHost } from '../support/test-host.ts'
import { textFromBatch } from '../support/text-from-batch.ts'

const catalogs = createCatalogs(packageFile('configs', 'catalogs'))
const newest = catalogs.load('runai-2.17') as OutputCatalog

type Known = Readonly<Record<string, string>>
type Example = { readonly metric: string; readonly thing: Known; readonly value: number }

/** A few workloads with pods on a few nodes: what is said of one is always the same. */
function thingOf(workload: number, pod: number): Known {
  const [id, uid] = [`w-${workload}`, `${workload}-${pod}`]
  return {
    cluster: 'c',
    workload_id: id,
    workload_name: `name-${workload % 3}`,
    workload_type: workload % 2 === 0 ? 'training' : 'interactive',
    job_id: `j-${workload}`,
    job_name: `job-${workload % 4}`,
    // By the contract a job is of the type of its workload.
    job_type: workload % 2 === 0 ? 'training' : 'interactive',
    project: `project-${workload % 2}`,
    department: 'research',
    ...(workload % 3 !== 0 && { user: `user-${workload}` }),
    pod: `pod-${uid}`,
    namespace: 'ns',
    pod_uid: `p-${uid}`,
    node: `node-${pod}`,
    nodepool: 'default',
    gpu: String(pod),
    model: 'A100',
    ready: 'true',
    schedulable: pod === 1 ? 'false' : 'true',
    queue: `queue-${workload}`,
    gpu_quota: '1',
    cpu_quota: '2',
    memory_quota: '3',
  }
}

const things = [0, 1, 2, 3].flatMap(workload => [0, 1].map(pod => thingOf(workload, pod)))
const examples = fc.array(
  fc.record({
    metric: fc.constantFrom(...newest.metrics.map(({ metric }) => metric)),
    thing: fc.constantFrom(...things),
    value: fc.integer({ min: 0, max: 1_000_000_000 }),
  }),
  { maxLength: 60 },
)

function textOf(all: readonly Example[]): string {
  const lines = new Map<string, number>()
  for (const { metric, thing, value } of all) {
    const { labels } = newest.metrics.find(one => one.metric === metric)!
    const pairs = labels.map(name => [name, thing[newest.labels[name]!]]).filter(([, text]) => text !== undefined)
    lines.set(`${metric}{${pairs.map(([name, text]) => `${name}="${text}"`).join(',')}}`, value)
  }
  return Array.from(lines, ([series, value]) => `${series} ${value}\n`).join('')
}

const described = (known: Known): { get(attribute: string): string | undefined } => ({
  get: attribute => known[attribute],
})

/** One after the other, in a cluster whose ids are known. */
function through(text: string, ...configs: readonly object[]): Batch {
  const host = testHost()
  let result: Batch | undefined
  let consume = (batch: Batch): void => void (result = batch)
  for (const config of configs.toReversed()) {
    const processor = rename.create(configOf(rename, config), host, consume)
    consume = batch => processor.consume(batch)
  }
  const workloads = new Map(things.map(thing => [thing['workload_id']!, described(thing)]))
  writeIdentities(host.cluster, {
    workloads: workloads.values(),
    pods: things.map(described),
    nodes: things.slice(0, 2).map(described),
    workloadOf: pod => workloads.get(pod.get('workload_id')!),
  })
  consume(batchFromText(text))
  return result!
}

function sorted(text: string): string[] {
  return text
    .split('\n')
    .filter(line => line !== '')
    .sort()
}

describe('names of Run:ai, there and back', () => {
  for (const older of ['runai-2.16', 'runai-2.12']) {
    it(`${older} gives back what went in`, () => {
      fc.assert(
        fc.property(examples, all => {
          const text = textOf(all)
          const back = through(text, { from: 'runai-2.17', to: older }, { from: older, to: 'runai-2.17' })
          assert.deepEqual(sorted(textFromBatch(back)), sorted(textFromBatch(batchFromText(text))))
        }),
        { numRuns: 100 },
      )
    })

    it(`${older} has the labels that it is said to have, and nothing of what came after it`, () => {
      const generation = generationOf(catalogs, older)
      fc.assert(
        fc.property(examples, all => {
          for (const line of sorted(textFromBatch(through(textOf(all), { from: 'runai-2.17', to: older })))) {
            const [, metric, inner] = /^(\w+)\{(.*)\}/.exec(line)!
            const shape = generation.shapesOf(metric!)?.[0]
            if (metric === 'runai_queue_info') continue
            assert.ok(shape !== undefined, `${older} has no ${metric}`)
            for (const [, label] of inner!.matchAll(/(\w+)="/g)) assert.ok(shape.labels!.includes(label!), line)
          }
        }),
        { numRuns: 50 },
      )
    })

    it(`${older} beside the original changes nothing of that`, () => {
      fc.assert(
        fc.property(examples, all => {
          const text = textOf(all)
          const both = new Set(
            sorted(textFromBatch(through(text, { from: 'runai-2.17', to: older, keep_original: true }))),
          )
          const alone = sorted(textFromBatch(through(text, { from: 'runai-2.17', to: older })))
          const expected = new Set([...sorted(textFromBatch(batchFromText(text))), ...alone])
          assert.deepEqual([...both].sort(), [...expected].sort())
        }),
        { numRuns: 50 },
      )
    })
  }
})
