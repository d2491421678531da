/** gpucol as users run it, in front of a cluster, and what its endpoint shows of the pods that have a GPU. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { samplesIn, type Sample } from '../../pipeline/simulator/samples.ts'
import { eventually, freePorts, get, startGpucol } from '../../support/gpucol-process.ts'
import type { Texts } from './objects.ts'

/** What was joined to the series of each pod, by the name of the pod. */
export type Joined = Readonly<Record<string, Texts>>

export type Collector = {
  /** The path of its config. */
  readonly config: string
  /** Its log. */
  output(): string
  /** Resolves when the log matches. */
  until(pattern: RegExp): Promise<void>
  /** What the receivers of the cluster handed on, as they did. */
  facts(): Promise<Sample[]>
  /** A metric of its own, summed over the series whose labels match. */
  own(name: string, labels: Texts): Promise<number>
  /** Looks until the labels are as expected. Until then each pod belongs to its workload of before, or to none, and to no other. */
  becomes(expected: Joined): Promise<void>
  stop(): Promise<void>
}

/** On a busy machine servers take their time, and who was refused asks again later and later. */
const PATIENCE_MS = 60_000
const TIMES = { scrape_interval: '500ms', scrape_timeout: '500ms' }
/** What dcgm-exporter says itself, and where it was scraped. */
const ITS_OWN = /^(gpu|UUID|device|modelName|Hostname|container|namespace|pod|instance|job|hw_.*|host_name)$/

/** Receivers are those of the cluster; one for GPUs is added. Those that are scraped are so twice a second. */
export async function startCollector(
  receivers: Readonly<Record<string, object>>,
  gpus: { readonly url: string },
): Promise<Collector> {
  const folder = mkdtempSync(join(tmpdir(), 'gpucol-'))
  const config = join(folder, 'gpucol.yaml')
  const [port, factPort, ownPort] = (await freePorts(3)) as [number, number, number]
  const all = { dcgm: { ...TIMES, static_targets: [gpus.url] }, ...receivers }
  const add = { team: 'namespace.label.team', tier: 'owner.label.tier', contact: 'owner.annotation.contact' }
  writeFileSync(
    config,
    stringify({
      receivers: all,
      processors: { normalize: {}, join_workload: { add } },
      exporters: {
        prometheus: { endpoint: `127.0.0.1:${port}` },
        'prometheus/facts': { endpoint: `127.0.0.1:${factPort}` },
      },
      service: {
        pipelines: {
          metrics: {
            receivers: Object.keys(all),
            processors: ['normalize', 'join_workload'],
            exporters: ['prometheus'],
          },
          'metrics/facts': { receivers: Object.keys(receivers), exporters: ['prometheus/facts'] },
        },
        telemetry: { metrics: { address: `127.0.0.1:${ownPort}` } },
      },
    }),
  )
  const gpucol = startGpucol(['run', '--config', config])
  let before: Joined = {}

  const samplesAt = async (its: number): Promise<Sample[]> => samplesIn(await get(`http://127.0.0.1:${its}/metrics`))

  async function joined(): Promise<Joined> {
    const rows = (await samplesAt(port)).filter(({ name, labels }) => name === 'hw_gpu_utilization' && labels['pod'])
    return Object.fromEntries(
      rows.map(({ labels }) => [
        labels['pod']!,
        Object.fromEntries(Object.entries(labels).filter(([label]) => !ITS_OWN.test(label))),
      ]),
    )
  }

  return {
    config,
    output: gpucol.output,
    until: pattern => gpucol.until(pattern, PATIENCE_MS),
    facts: () => samplesAt(factPort),
    async own(name, labels) {
      return (await samplesAt(ownPort))
        .filter(one => one.name === name && Object.entries(labels).every(([label, text]) => one.labels[label] === text))
        .reduce((sum, { value }) => sum + Number(value), 0)
    },
    async becomes(expected) {
      const wrong: unknown[] = []
      let last: Joined = {}
      const isSo = (labels: Joined): boolean => {
        last = labels
        for (const [pod, its] of Object.entries(labels)) {
          const known = ['', workloadOf(before[pod]), workloadOf(expected[pod])]
          if (!known.includes(workloadOf(its))) wrong.push({ [pod]: its })
        }
        return isEqual(labels, expected)
      }
      await eventually(joined, isSo, PATIENCE_MS).catch(() => assert.deepEqual(last, expected, gpucol.output()))
      assert.deepEqual(wrong, [], 'pods were shown under workloads that are not theirs')
      before = { ...expected }
    },
    async stop() {
      gpucol.child.kill('SIGKILL')
      await gpucol.ended
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

export function scraped(url: string): object {
  return { ...TIMES, static_targets: [url] }
}

function workloadOf(labels: Texts = {}): string {
  const { pod_uuid: pod = '', workload_id: id, workload_kind: kind, workload_name: name } = labels
  return id === undefined ? '' : `${pod} ${id} ${kind} ${name}`
}

function isEqual(a: unknown, b: unknown): boolean {
  try {
    assert.deepEqual(a, b)
    return true
  } catch {
    return false
  }
}
