/**
 * What the model of a large cluster costs: 100,000 pods on 12,500 nodes with their owners, read by `kubernetes_api` over HTTP, then 200
 * pods a second that change, then pods that come while samples of them are joined. The simulated API runs in a process of its own.
 * With and without metrics.
 */
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { createSystemClock } from '../../pipeline/clock/system-clock.ts'
import { clusterTables } from '../../pipeline/cluster/tables.ts'
import type { Host } from '../../pipeline/component.ts'
import { createNetwork } from '../../pipeline/http/network.ts'
import type { Batch } from '../../pipeline/model/batch.ts'
import { getLabel } from '../../pipeline/model/labels.ts'
import { createSimulatedCluster } from '../../pipeline/simulator/cluster.ts'
import type { GivenObject } from '../../pipeline/simulator/kubernetes-api/object-identity.ts'
import { createObjectStore, type ObjectStore } from '../../pipeline/simulator/kubernetes-api/object-store.ts'
import { serveKubernetesApi } from '../../pipeline/simulator/kubernetes-api/serve.ts'
import type { KubernetesObject } from '../../pipeline/simulator/kubernetes-object.ts'
import { joinWorkload } from '../../processors/join-workload.ts'
import { kubernetesApi } from '../../receivers/kubernetes-api.ts'
import { batchFromText } from '../support/batch-from-text.ts'
import { configOf } from '../support/config-of.ts'
import { heapBytes } from '../support/garbage.ts'
import { testHost } from '../support/test-host.ts'
import { print } from './measure.ts'

const PODS = 100_000
const NODES = 12_500
const CHANGES_PER_SECOND = 200
const CHANGE_SECONDS = 15
const PAUSE_MS = 50
const PROBES = 40
const PROBE_PAUSE_MS = 100

const [, , role, mode] = process.argv
if (role === 'serve') await serve()
else if (role === 'measure') await measureReceiver(mode === 'metrics')
else for (const each of ['model', 'metrics']) await run(each)

async function run(each: string): Promise<void> {
  const server = fork(import.meta.filename, ['serve'])
  const [address] = (await once(server, 'message')) as [string]
  const client = fork(import.meta.filename, ['measure', each])
  client.send(address)
  client.on('message', message => server.send(message))
  server.on('message', message => client.send(message))
  await once(client, 'exit')
  server.kill()
}

async function serve(): Promise<void> {
  const clock = createSystemClock()
  const cluster = createSimulatedCluster({ seed: 7, nodes: NODES, gpusPerNode: 8, startMs: 1_700_000_000_000 })
  const objects = [...cluster.objects()]
  const known = objects.filter(({ kind }) => kind === 'Pod')
  // The simulated cluster has fewer: they come several times, under other names and with marks of their own.
  const pods = Array.from({ length: PODS }, (_, i) => copy(known[i % known.length]!, i))
  const store = createObjectStore()
  store.replaceAll([...objects.filter(({ kind }) => kind !== 'Pod'), ...pods] as GivenObject[])
  const served = await serveKubernetesApi(store, createNetwork(clock), '127.0.0.1:0', { clock, builtIn: true })
  process.send!(served.address)
  process.on('message', message => void (message === 'change' ? change(pods, store) : bringProbes(pods[0]!, store)))
}

/** Pods that nobody has heard of, one after the other. The client is told when each of them came. */
async function bringProbes(pod: KubernetesObject, store: ObjectStore): Promise<void> {
  for (let i = 0; i < PROBES; i++) {
    await setTimeout(PROBE_PAUSE_MS)
    const { resourceVersion: _, ...rest } = pod.metadata
    const metadata = { ...rest, name: `probe-${i}`, uid: `probe-${i}`, labels: { project: `project-${i}` } }
    const cameMs = nowMs()
    store.apply([{ type: 'ADDED', object: { ...pod, metadata } as GivenObject }])
    process.send!({ probe: i, namespace: metadata.namespace, cameMs })
  }
}

/** The same clock in both processes. */
function nowMs(): number {
  return performance.timeOrigin + performance.now()
}

function copy(pod: KubernetesObject, i: number): KubernetesObject {
  const { name, uid, labels } = pod.metadata
  const marked = { ...labels, 'apps.kubernetes.io/pod-index': `${i}` }
  const metadata = {
    ...pod.metadata,
    name: `${name}-${i}`,
    uid: `${i}`.padStart(8, '0') + uid.slice(8),
    labels: marked,
  }
  return { ...pod, metadata }
}

/** Every pod in turn, a few at a time: its phase changes. */
async function change(pods: readonly KubernetesObject[], store: ObjectStore): Promise<void> {
  const startMs = performance.now()
  for (let made = 0; made < CHANGES_PER_SECOND * CHANGE_SECONDS;) {
    await setTimeout(PAUSE_MS)
    const due = ((performance.now() - startMs) / 1000) * CHANGES_PER_SECOND
    for (; made < due; made++) {
      const pod = pods[(made * 7919) % pods.length]!
      const { resourceVersion: _, ...metadata } = pod.metadata
      const status = { ...(pod['status'] as object), phase: 'Unknown' }
      store.apply([{ type: 'MODIFIED', object: { ...pod, metadata, status } as GivenObject }])
    }
  }
}

async function measureReceiver(metrics: boolean): Promise<void> {
  const [address] = (await once(process as unknown as ChildProcess, 'message')) as [string]
  const folder = mkdtempSync(join(tmpdir(), 'gpucol-'))
  const kubeconfig = join(folder, 'config')
  const contexts = [{ name: 'here', context: { cluster: 'c', user: 'u' } }]
  const clusters = [{ name: 'c', cluster: { server: `http://${address}` } }]
  writeFileSync(kubeconfig, JSON.stringify({ clusters, users: [{ name: 'u', user: {} }], contexts }))
  const clock = createSystemClock()
  const network = createNetwork(clock)
  const host = testHost({ id: 'kubernetes_api', clock, network })
  const tables = clusterTables(host.cluster)
  const complete = Promise.withResolvers<void>()
  let points = 0
  const config = configOf(kubernetesApi, { kubeconfig, context: 'here', metrics })
  const before = await heapBytes()
  const startMs = performance.now()
  const startCpuMs = cpuMs()
  const receiver = kubernetesApi.create(config, host, ({ values }) => {
    points += values.length
    if (tables.feeds.entry('kubernetes_api').value === 'complete') complete.resolve()
  })
  await receiver.start?.()
  await complete.promise
  const name = metrics ? 'model and metrics' : 'model'
  print(`${name}, initial sync`, (performance.now() - startMs) / 1000, 's')
  print(`${name}, initial sync, CPU`, (cpuMs() - startCpuMs) / 1000, 's')
  await setTimeout(2000)
  print(`${name}, largest resident size during the sync`, process.resourceUsage().maxRSS / 1024, 'MiB')
  print(
    `${name}, heap for ${tables.pods.size} pods, ${tables.owners.size} owners, ${tables.nodes.size} nodes`,
    ((await heapBytes()) - before) / 2 ** 20,
    'MiB',
  )
  print(`${name}, resident after the sync`, process.memoryUsage().rss / 2 ** 20, 'MiB')
  if (metrics) print(`${name}, series`, points, '')
  const counted = (): number => host.counted.get('gpucol_receiver_kubernetes_changes{resource="pods"}') ?? 0
  const changesBefore = counted()
  const changeCpuMs = cpuMs()
  points = 0
  process.send!('change')
  await setTimeout((CHANGE_SECONDS + 1) * 1000)
  const changes = counted() - changesBefore
  const usedMs = cpuMs() - changeCpuMs
  print(`${name}, CPU at ${CHANGES_PER_SECOND} changes a second`, (usedMs / CHANGE_SECONDS / 1000) * 100, '% of a core')
  print(`${name}, CPU per change`, (usedMs * 1000) / changes, 'µs')
  print(`${name}, changes heard`, changes, '')
  if (metrics) print(`${name}, points per change`, points / changes, '')
  const delays = await labelDelays(host)
  print(`${name}, from a pod event to the first labelled sample, median`, delays[delays.length >> 1]!, 'ms')
  print(`${name}, from a pod event to the first labelled sample, longest`, delays.at(-1)!, 'ms')
  await receiver.stop?.(clock.monotonic())
  rmSync(folder, { recursive: true })
  process.exit(0)
}

/** Samples of all probes are joined again and again. Sorted. */
async function labelDelays(host: Host): Promise<number[]> {
  const cameMs = new Map<string, number>()
  const labelledMs = new Map<string, number>()
  let batch: Batch | undefined
  process.on('message', ({ probe, namespace, cameMs: ms }: { probe: number; namespace: string; cameMs: number }) => {
    cameMs.set(`project-${probe}`, ms)
    const lines = Array.from({ length: PROBES }, (_, i) => `a{namespace="${namespace}",pod="probe-${i}"} 1`)
    batch ??= batchFromText(lines.join('\n'))
  })
  const processor = joinWorkload.create(configOf(joinWorkload, {}), host, ({ layout }) => {
    for (const labels of layout.labels) {
      const project = getLabel(labels, 'project') ?? ''
      if (project !== '' && !labelledMs.has(project)) labelledMs.set(project, nowMs())
    }
  })
  process.send!('probes')
  while (labelledMs.size < PROBES) {
    if (batch !== undefined) processor.consume(batch)
    await setTimeout(1)
  }
  return Array.from(labelledMs, ([project, ms]) => ms - cameMs.get(project)!).sort((a, b) => a - b)
}

function cpuMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}
