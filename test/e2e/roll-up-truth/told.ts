/**
 * What PromQL cannot say of Kubernetes objects, asked of the API by this test alone: to which workload pods belong, because it cannot
 * walk over owners; the groups of pods with several, because they are in the names of labels; numbers that are in labels; and when the
 * first container of a pod began, because kube-state-metrics does not show it of one that began anew.
 */
import { get } from '../../support/gpucol-process.ts'

type Reference = { readonly kind: string; readonly name: string; readonly uid: string; readonly controller?: boolean }
type Metadata = {
  readonly name: string
  readonly namespace: string
  readonly uid: string
  readonly creationTimestamp: string
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
  readonly ownerReferences?: readonly Reference[]
}
type KubernetesObject = {
  readonly kind: string
  readonly metadata: Metadata
  readonly status?: { readonly phase?: string; readonly containerStatuses?: readonly ContainerStatus[] }
}
type ContainerState = Readonly<Partial<Record<'running' | 'terminated', { readonly startedAt: string }>>>
type ContainerStatus = { readonly state?: ContainerState; readonly lastState?: ContainerState }
type Resource = { readonly name: string; readonly kind: string; readonly verbs: readonly string[] }
type Belongs = Readonly<Record<string, string>>

const RESERVATIONS = ['runai-reservation', 'kai-resource-reservation']

/** A page for Prometheus to scrape. */
export async function toldOfObjects(api: string): Promise<string> {
  const objects = await everything(api)
  return [...owners(objects), ...groups(objects), ...numbers(objects), ...begins(objects)].join('')
}

function series(name: string, labels: Readonly<Record<string, string>>, value = 1): string {
  const block = Object.entries(labels).map(([label, text]) => `${label}=${JSON.stringify(text)}`)
  return `${name}{${block.join()}} ${value}\n`
}

const GROUP = 'runai-gpu-group/'

function groups(objects: readonly KubernetesObject[]): string[] {
  return objects
    .filter(({ kind }) => kind === 'Pod')
    .flatMap(({ metadata: { uid, name, namespace, labels = {} } }) =>
      Object.entries(labels)
        .filter(([label]) => label.startsWith(GROUP))
        .map(([, label_runai_gpu_group]) =>
          series('told:group', { pod_uuid: uid, pod_name: name, pod_namespace: namespace, label_runai_gpu_group }),
        ),
    )
}

/** All of them, and the slices that MIG profiles have. */
function numbers(objects: readonly KubernetesObject[]): string[] {
  const texts = objects.flatMap(({ metadata: { labels = {}, annotations = {} } }) => [
    ...Object.values(labels),
    ...Object.values(annotations),
  ])
  const found = new Set([...texts.filter(text => /^\d+(\.\d+)?$/.test(text)), '1', '2', '3', '4', '7'])
  return Array.from(found, text => series('number', { text }, Number(text)))
}

function begins(objects: readonly KubernetesObject[]): string[] {
  return objects
    .filter(({ kind }) => kind === 'Pod')
    .flatMap(({ metadata: { uid }, status }) => {
      const states = (status?.containerStatuses ?? []).flatMap(({ state, lastState }) => [state, lastState])
      const times = states.flatMap(state => [state?.running, state?.terminated]).filter(one => one !== undefined)
      const seconds = Math.min(...times.map(({ startedAt }) => Date.parse(startedAt) / 1000))
      return seconds === Infinity ? [] : [series('told:began', { pod_uuid: uid }, seconds)]
    })
}

/** One series for each pod that is no reservation. */
function owners(objects: readonly KubernetesObject[]): string[] {
  const byUid = new Map(objects.map(object => [object.metadata.uid, object]))
  const namespaces = new Map(objects.filter(({ kind }) => kind === 'Namespace').map(one => [one.metadata.name, one]))
  const pods = objects.filter(({ kind, metadata }) => kind === 'Pod' && !RESERVATIONS.includes(metadata.namespace))
  const found = pods.sort(liveAndOldestFirst).map(pod => belongs(pod, byUid, namespaces.get(pod.metadata.namespace)))
  // A workload is one series, also where its pods say different things.
  const first = new Map<string, Belongs>()
  for (const one of found) if (!first.has(one['workload_id']!)) first.set(one['workload_id']!, one)
  return found.map(one =>
    series('told:belongs', {
      ...first.get(one['workload_id']!)!,
      pod_uuid: one['pod_uuid']!,
      project: one['project']!,
    }),
  )
}

async function everything(api: string): Promise<KubernetesObject[]> {
  const { groups } = JSON.parse(await get(`${api}/apis`)) as {
    groups: { versions: { groupVersion: string }[] }[]
  }
  // Kinds of one group may be in different versions of it.
  const versions = groups.flatMap(group => group.versions.map(({ groupVersion }) => `${api}/apis/${groupVersion}`))
  const roots = [`${api}/api/v1`, ...versions]
  const lists = roots.map(async root => {
    const { resources } = JSON.parse(await get(root)) as { resources: Resource[] }
    const listed = resources.filter(({ name, verbs }) => verbs.includes('list') && !name.includes('/'))
    return Promise.all(
      listed.map(async ({ name, kind }) => {
        const { items } = JSON.parse(await get(`${root}/${name}`)) as { items: KubernetesObject[] }
        return items.map(item => ({ ...item, kind }))
      }),
    )
  })
  return (await Promise.all(lists)).flat(2)
}

function liveAndOldestFirst(a: KubernetesObject, b: KubernetesObject): number {
  const rank = ({ status, metadata }: KubernetesObject): string =>
    `${['Succeeded', 'Failed'].includes(status?.phase ?? '')} ${metadata.creationTimestamp} ${metadata.uid}`
  return rank(a) < rank(b) ? -1 : 1
}

function belongs(
  pod: KubernetesObject,
  byUid: ReadonlyMap<string, KubernetesObject>,
  namespace: KubernetesObject | undefined,
): Belongs {
  const { uid, labels = {}, annotations = {}, ownerReferences } = pod.metadata
  const owner = topOwner(pod, byUid)
  const ownerLabels = owner.metadata.labels ?? {}
  const ofNamespace = namespace?.metadata.labels ?? {}
  const controller = ownerReferences?.find(reference => reference.controller === true)
  const name = labels['workloadName'] ?? owner.metadata.name
  const id = annotations['workloadId'] ?? labels['run.ai/top-owner-uid'] ?? owner.metadata.uid
  const job = annotations['runai-job-id']
  return {
    source: 'api',
    pod_uuid: uid,
    workload_id: id,
    workload_name: name,
    kind: labels['workloadKind'] ?? owner.kind,
    project:
      labels['project'] ??
      ownerLabels['project'] ??
      ownerLabels['runai/queue'] ??
      labels['runai/queue'] ??
      ofNamespace['runai/queue'] ??
      ofNamespace['project'] ??
      pod.metadata.namespace,
    user: annotations['user'] ?? owner.metadata.annotations?.['user'] ?? labels['user'] ?? ownerLabels['user'] ?? '',
    job_uuid: job ?? controller?.uid ?? id,
    job_name: labels['release'] ?? (job === undefined ? controller?.name : undefined) ?? name,
  }
}

/** The last one that can be reached; a pod that a node owns, or nobody, is its own. */
function topOwner(object: KubernetesObject, byUid: ReadonlyMap<string, KubernetesObject>): KubernetesObject {
  const reference = object.metadata.ownerReferences?.find(({ controller }) => controller === true)
  const owner = reference && byUid.get(reference.uid)
  return owner === undefined || owner.kind === 'Node' ? object : topOwner(owner, byUid)
}
