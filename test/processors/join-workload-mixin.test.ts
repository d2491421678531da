/**
 * The cases of kubernetes-mixin: series of kube-state-metrics, and the workload or the node that recording rules of Prometheus find for
 * each pod. What is different on purpose is listed, with the reason, in `join-workload-mixin-deviations.json`; a listed case that
 * passes is a failure, too.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import type { Pod } from '../../pipeline/cluster/objects.ts'
import { podFromSeen } from '../../pipeline/cluster/seen-metadata.ts'
import type { SeenObject } from '../../pipeline/cluster/seen-object.ts'
import { joinedPipeline, type JoinedPipeline } from '../support/joined-pipeline.ts'
import { sharedJson } from '../support/shared.ts'

type Texts = Readonly<Record<string, string>>
type Series = { readonly labels: Texts; readonly values: string }
type Sample = { readonly labels: Texts; readonly value: string }
type Case = {
  readonly name: string
  readonly input_series: readonly Series[]
  readonly expect: readonly { readonly samples: readonly Sample[] }[]
}

const { cases: deviations } = JSON.parse(
  readFileSync(new URL('join-workload-mixin-deviations.json', import.meta.url), 'utf8'),
) as { cases: { readonly case: string; readonly reason: string }[] }

/** The rules write these kinds in their own way. */
const KINDS: Texts = {
  barepod: 'Pod',
  staticpod: 'Pod',
  deployment: 'Deployment',
  replicaset: 'ReplicaSet',
  statefulset: 'StatefulSet',
  daemonset: 'DaemonSet',
  job: 'Job',
}

/** How to check a case, by what its name begins with. */
const CHECKS: readonly (readonly [RegExp, (one: Case) => void])[] = [
  [/^owner: /, checkOwners],
  [/ namespace_(cpu|memory):/, checkSums],
  [/ node_namespace_pod_container:/, checkNodes],
]

describe('conformance with the cases of kubernetes-mixin', () => {
  const cases = ['owner', 'joins'].flatMap(
    file => sharedJson<{ cases: Case[] }>('conformance', 'kubernetes-mixin-owner', `${file}.json`)?.cases ?? [],
  )
  if (cases.length === 0) return
  const listed = new Map(deviations.map(one => [one.case, one.reason]))

  for (const one of cases) {
    const check = CHECKS.find(([pattern]) => pattern.test(one.name))![1]
    const reason = listed.get(one.name)
    if (reason === undefined) it(one.name, () => check(one))
    else it(`${one.name} is not passed: ${reason}`, () => assert.throws(() => check(one), 'it passes'))
  }

  it('has as many cases as are run or listed, and lists none that does not exist', () => {
    const names = new Set(cases.map(({ name }) => name))
    assert.deepEqual(
      deviations.filter(one => !names.has(one.case)),
      [],
    )
    process.stdout.write(`      ${cases.length} cases, ${deviations.length} of them listed\n`)
    assert.equal(names.size, 17)
  })
})

function checkOwners({ input_series: series, expect }: Case): void {
  for (const { labels } of samplesOf(expect)) {
    const { cluster, namespace, pod, workload, workload_type: type } = labels
    // A model is of one cluster, and the series of several are told apart by their label.
    const { scrape } = scraped(series.filter(one => one.labels['cluster'] === cluster))
    const text = scrape('dcgm', `a{namespace="${namespace}",pod="${pod}"} 1`)
    assert.match(text, new RegExp(`workload_kind="${KINDS[type!] ?? type}",workload_name="${workload}"`))
  }
}

function checkNodes({ input_series: series, expect }: Case): void {
  const labels = { node: 'node', project: '', workload_id: '', workload_kind: '' }
  const { scrape } = scraped(series.filter(isOfKubeStateMetrics), { labels })
  for (const sample of samplesOf(expect)) {
    const text = scrape('cadvisor', `a{namespace="${sample.labels['namespace']}",pod="${sample.labels['pod']}"} 1`)
    assert.match(text, new RegExp(`node="${sample.labels['node']}"`))
  }
  // The mixin drops the series of a pod without node. Here they stay as they are, without that label.
  const text = scrape('cadvisor', 'a{namespace="monitoring",pod="alertmanager-main-1"} 1')
  assert.match(text, /pod="alertmanager-main-1"/)
  assert.doesNotMatch(text, /node=/)
}

/** What the pods of a namespace ask for that have not finished. */
function checkSums({ input_series: series, expect }: Case): void {
  const { host } = scraped(series.filter(isOfKubeStateMetrics))
  const objects = [...host.cluster.table<SeenObject>('seen_objects').values()].filter(({ kind }) => kind === 'Pod')
  const pods = objects.map(podFromSeen).filter(({ phase }) => phase === 'Pending' || phase === 'Running')
  for (const { labels, value } of samplesOf(expect)) {
    const [, resource] = /^namespace_(cpu|memory):/.exec(labels['__name__']!)!
    const own = pods.filter(({ namespace }) => namespace === labels['namespace'])
    assert.equal(
      own.reduce((sum, pod) => sum + requested(pod, resource!), 0),
      Number(value),
    )
  }
}

function requested({ containers }: Pod, resource: string): number {
  return containers.reduce((sum, { requests }) => sum + (requests.get(resource) ?? 0), 0)
}

const isOfKubeStateMetrics = ({ labels }: Series): boolean => labels['job'] === 'kube-state-metrics'

function samplesOf(expect: Case['expect']): readonly Sample[] {
  return expect.flatMap(({ samples }) => samples)
}

/** Each instance of kube-state-metrics is a target of its own. */
function scraped(series: readonly Series[], config: object = {}): JoinedPipeline {
  const pipeline = joinedPipeline(config)
  for (const [instance, own] of Map.groupBy(series, ({ labels }) => labels['instance']!)) {
    const lines = own.map(({ labels: { __name__: name, ...labels }, values }) => {
      const pairs = Object.entries(labels).map(([label, value]) => `${label}="${value}"`)
      return `${name}{${pairs.join(',')}} ${/^[\dE.]+/.exec(values)![0]}`
    })
    pipeline.scrape(instance, lines.join('\n'))
  }
  return pipeline
}
