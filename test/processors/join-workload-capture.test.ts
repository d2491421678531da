/** A real cluster, asked at one moment through the Kubernetes API and through kube-state-metrics: both say the same of every pod. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { keepPod } from '../../pipeline/cluster/keep-pod.ts'
import type { SentObject } from '../../pipeline/cluster/keep-metadata.ts'
import type { Pod } from '../../pipeline/cluster/objects.ts'
import { podFromSeen } from '../../pipeline/cluster/seen-metadata.ts'
import type { SeenObject } from '../../pipeline/cluster/seen-object.ts'
import { clusterTables } from '../../pipeline/cluster/tables.ts'
import { forEachSample, type Batch } from '../../pipeline/model/batch.ts'
import { getLabel } from '../../pipeline/model/labels.ts'
import { labelsAt } from '../../pipeline/model/layout.ts'
import { joinWorkload } from '../../processors/join-workload.ts'
import { normalize } from '../../processors/normalize.ts'
import { batchFromText, createSource } from '../support/batch-from-text.ts'
import { putPod } from '../support/cluster-objects.ts'
import { configOf } from '../support/config-of.ts'
import { sharedPath } from '../support/shared.ts'
import { testHost, type TestHost } from '../support/test-host.ts'

const folder = sharedPath('captures', 'newrelic-k8s-1_34')

if (folder !== undefined) {
  describe('join_workload on a real cluster', () => {
    const { items } = parse(readFileSync(join(folder, 'pods.yaml'), 'utf8')) as { items: SentObject[] }
    const pods = items.map(keepPod)

    it('says the same with the Kubernetes API, with kube-state-metrics and with both', () => {
      const told = workloads(withMetrics(testHost()), pods)
      const both = workloads(withPods(withMetrics(testHost()), pods), pods)
      assert.ok(told.size > 10)
      assert.ok([...told.values()].every(text => !text.includes('undefined')))
      assert.ok([...told.values()].some(text => text.startsWith('Deployment ')))
      assert.deepEqual(both, told)
      // The capture has no owners: with the API alone a walk ends at the reference of the pod.
      const alone = workloads(withPods(testHost(), pods), pods)
      const direct = (text: string): boolean => !/^(Deployment|CronJob) /.test(text)
      assert.deepEqual(
        [...alone].filter(([pod]) => direct(told.get(pod)!)),
        [...told].filter(([, text]) => direct(text)),
      )
    })

    it('knows of pods by kube-state-metrics what it knows of them by the API', () => {
      const host = withMetrics(testHost())
      const seen = [...host.cluster.table<SeenObject>('seen_objects').values()].filter(({ kind }) => kind === 'Pod')
      assert.deepEqual(summaries(seen.map(podFromSeen)), summaries(pods))
    })
  })
}

function withMetrics(host: TestHost): TestHost {
  const metrics = readFileSync(join(folder!, 'ksm_metrics'), 'utf8')
  const processor = normalize.create(configOf(normalize, {}), host, () => {})
  processor.consume(batchFromText(metrics, { source: createSource('ksm') }))
  return host
}

function withPods(host: TestHost, pods: readonly Pod[]): TestHost {
  for (const pod of pods) {
    putPod(host.cluster, pod)
    for (const { uid } of pod.owners) clusterTables(host.cluster).owners.set(uid, 'unreadable')
  }
  return host
}

/** Kind, name and node by the pod's uid. */
function workloads(host: TestHost, pods: readonly Pod[]): Map<string, string> {
  const out: Batch[] = []
  const processor = joinWorkload.create(configOf(joinWorkload, {}), host, batch => void out.push(batch))
  processor.consume(
    batchFromText(pods.map(({ namespace, name }) => `a{namespace="${namespace}",pod="${name}"} 1`).join('\n')),
  )
  const found = new Map<string, string>()
  forEachSample(out[0]!, column => {
    const [uid, ...texts] = ['pod_uuid', 'workload_kind', 'workload_name', 'node', 'project'].map(name =>
      getLabel(labelsAt(out[0]!.layout, column), name),
    )
    found.set(uid!, texts.join(' '))
  })
  return found
}

/** What both can tell. */
function summaries(pods: readonly Pod[]): unknown[] {
  return pods
    .map(({ uid, namespace, name, node, phase, podIp, createdMs, startedMs, containers, owners }) => ({
      uid,
      namespace,
      name,
      node,
      phase,
      podIp,
      createdMs,
      startedMs,
      owners: owners.map(owner => `${owner.kind}/${owner.name} ${owner.controller}`),
      requests: containers
        .filter(({ requests, limits }) => requests.size + limits.size > 0)
        .map(container => `${container.name} ${texts(container.requests)} ${texts(container.limits)}`)
        .sort(),
    }))
    .sort((a, b) => (a.uid < b.uid ? -1 : 1))
}

function texts(amounts: ReadonlyMap<string, number>): string {
  return [...amounts]
    .map(([name, amount]) => `${name}=${amount}`)
    .sort()
    .join(',')
}
