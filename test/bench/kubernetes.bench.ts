/**
 * What it costs to know all pods of a large cluster: the first sync and then 200 changes a second, over TLS, by streaming list and by
 * pages. The simulated API runs in a process of its own; of each pod a record of the size that the cluster model needs is kept.
 */
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout } from 'node:timers/promises'
import { createSystemClock } from '../../pipeline/clock/system-clock.ts'
import { createNetwork } from '../../pipeline/http/network.ts'
import type { ApiObject } from '../../pipeline/kubernetes/api-object.ts'
import { createKubernetesClient } from '../../pipeline/kubernetes/client.ts'
import { watchResource } from '../../pipeline/kubernetes/watch.ts'
import { createSimulatedCluster } from '../../pipeline/simulator/cluster.ts'
import { createKubernetesApi } from '../../pipeline/simulator/kubernetes-api/handler.ts'
import { createObjectStore } from '../../pipeline/simulator/kubernetes-api/object-store.ts'
import { answerHttp } from '../../pipeline/simulator/kubernetes-api/serve.ts'
import type { KubernetesObject } from '../../pipeline/simulator/kubernetes-object.ts'
import { createTestAuthority } from '../pipeline/http/test-certificates.ts'
import { heapBytes } from '../support/garbage.ts'
import { testHost } from '../support/test-host.ts'
import { print } from './measure.ts'

const PODS = 100_000
const NODES = 12_500
const CHANGES_PER_SECOND = 200
const CHANGE_SECONDS = 20

/** What API servers note about who wrote which field. */
const managedFields = ['kube-controller-manager', 'kubelet'].map(manager => ({
  manager,
  operation: 'Update',
  apiVersion: 'v1',
  time: '2024-05-01T00:00:00Z',
  fieldsType: 'FieldsV1',
  fieldsV1: Object.fromEntries(
    Array.from({ length: 40 }, (_, i) => [`f:field-number-${i}`, { '.': {}, 'f:value': {} }]),
  ),
}))

type Served = { readonly address: string; readonly ca: string; readonly bytes: number }

const [, , role, mode] = process.argv
if (role === 'serve') await serve(mode === 'stream')
else if (role === 'measure') await measureClient(mode!)
else for (const each of ['stream', 'pages']) await run(each)

async function run(each: string): Promise<void> {
  const server = fork(import.meta.filename, ['serve', each])
  const [served] = (await once(server, 'message')) as [Served]
  const client = fork(import.meta.filename, ['measure', each])
  client.send(served)
  client.on('message', message => server.send(message))
  await once(client, 'exit')
  server.kill()
}

async function serve(streamingLists: boolean): Promise<void> {
  const clock = createSystemClock()
  const network = createNetwork(clock)
  const store = createObjectStore()
  const pods = makePods()
  store.replaceAll(pods)
  const api = createKubernetesApi(store, { clock, streamingLists })
  const authority = createTestAuthority('CA')
  const tls = authority.issue('api', { addresses: ['127.0.0.1'] })
  const listener = await network.listen('127.0.0.1:0', (request, response) => answerHttp(api, request, response), {
    tls,
  })
  const bytes = JSON.stringify(pods[0]).length
  process.send!({ address: listener.address, ca: authority.cert, bytes } satisfies Served)
  process.on('message', () => void change(pods, store))
}

/** The simulated cluster's, some of them several times under other names. */
function makePods(): KubernetesObject[] {
  const cluster = createSimulatedCluster({ seed: 7, nodes: NODES, gpusPerNode: 8, startMs: 1_700_000_000_000 })
  const known = [...cluster.objects()].filter(({ kind }) => kind === 'Pod')
  return Array.from({ length: PODS }, (_, i) => {
    const pod = known[i % known.length]!
    const { name, uid } = pod.metadata
    const metadata = {
      ...pod.metadata,
      name: `${name}-${i}`,
      uid: `${i}`.padStart(8, '0') + uid.slice(8),
      managedFields,
    }
    return { ...pod, metadata }
  })
}

/** Every pod in turn, a few at a time. */
async function change(pods: readonly KubernetesObject[], store: ReturnType<typeof createObjectStore>): Promise<void> {
  const startMs = performance.now()
  for (let made = 0; made < CHANGES_PER_SECOND * CHANGE_SECONDS;) {
    await setTimeout(20)
    const due = ((performance.now() - startMs) / 1000) * CHANGES_PER_SECOND
    for (; made < due; made++) {
      const pod = pods[(made * 7919) % pods.length]!
      const status = { ...(pod['status'] as object), message: `change ${made}` }
      const { resourceVersion: _, ...metadata } = pod.metadata
      store.apply([{ type: 'MODIFIED', object: { ...pod, metadata, status } }])
    }
  }
}

type Kept = {
  readonly name: string
  readonly namespace: string
  readonly uid: string
  readonly node: string
  readonly phase: string
  readonly labels: readonly string[]
  readonly owner: string
}

function keep({ metadata, spec, status }: ApiObject): Kept {
  const { name, namespace = '', uid, labels = {}, ownerReferences = [] } = metadata
  return {
    name,
    namespace,
    uid,
    node: (spec as { nodeName?: string }).nodeName ?? '',
    phase: (status as { phase?: string }).phase ?? '',
    labels: Object.values(labels),
    owner: ownerReferences[0]?.uid ?? '',
  }
}

async function measureClient(how: string): Promise<void> {
  const [{ address, ca, bytes }] = (await once(process as unknown as ChildProcess, 'message')) as [Served]
  const clock = createSystemClock()
  const network = createNetwork(clock)
  const access = { server: `https://${address}`, headers: {}, tls: { ca } }
  const credentials = { access: async () => access, refused() {}, describe: () => '' }
  const client = createKubernetesClient({ ...testHost(), network, clock, credentials })
  const before = await heapBytes()
  const startMs = performance.now()
  const startCpuMs = cpuMs()
  let changes = 0
  const synced = Promise.withResolvers<void>()
  const count = (): unknown => changes++
  const watch = watchResource(
    client,
    { group: '', version: 'v1', resource: 'pods', keep },
    { added() {}, changed: count, removed() {}, synced: synced.resolve },
  )
  await synced.promise
  const name = `${watch.size} pods of ${(bytes / 1000).toFixed(1)} kB by ${how}`
  print(`${name}: first sync`, (performance.now() - startMs) / 1000, 's')
  print(`${name}: CPU of the first sync`, (cpuMs() - startCpuMs) / 1000, 's')
  print(`${name}: peak memory (RSS)`, process.resourceUsage().maxRSS / 1024, 'MiB')
  print(`${name}: steady memory for each`, ((await heapBytes()) - before) / watch.size, 'bytes')

  const idleCpuMs = cpuMs()
  await setTimeout(5000)
  const idle = (cpuMs() - idleCpuMs) / 5000
  const changeCpuMs = cpuMs()
  const changeStartMs = performance.now()
  process.send!('change')
  while (changes < CHANGES_PER_SECOND * CHANGE_SECONDS) await setTimeout(50)
  const used = (cpuMs() - changeCpuMs) / (performance.now() - changeStartMs)
  print(`${name}: CPU at rest`, idle * 100, '% of a core')
  print(`${name}: CPU at ${CHANGES_PER_SECOND} changes/s`, used * 100, '% of a core')
  print(`${name}: memory after that (RSS)`, process.memoryUsage().rss / 2 ** 20, 'MiB')
  watch.stop()
  await network.close()
  process.disconnect!()
}

function cpuMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}
