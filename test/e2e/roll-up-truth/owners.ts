/**
 * To which workload pods belong, asked of the Kubernetes API by this test alone: PromQL cannot walk over owners. Prometheus scrapes the
 * answer as a series for each pod.
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
  readonly status?: { readonly phase?: string }
}
type Resource = { readonly name: string; readonly kind: string; readonly verbs: readonly string[] }
type Belongs = Readonly<Record<string, string>>

const RESERVATIONS = ['runai-reservation', 'kai-resource-reservation']

/** One series for each pod that is no reservation, in text. */
export async function ownersOfPods(api: string): Promise<string> {
  const objects = await everything(api)
  const byUid = new Map(objects.map(object => [object.metadata.uid, object]))
  const namespaces = new Map(objects.filter(({ kind }) => kind === 'Namespace').map(one => [one.metadata.name, one]))
  const pods = objects.filter(({ kind, metadata }) => kind === 'Pod' && !RESERVATIONS.includes(metadata.namespace))
  const found = pods.sort(liveAndOldestFirst).map(pod => belongs(pod, byUid, namespaces.get(pod.metadata.namespace)))
  // A workload is one series, also where its pods say different things.
  const first = new Map<string, Belongs>()
  for (const one of found) if (!first.has(one['workload_id']!)) first.set(one['workload_id']!, one)
  return found
    .map(one => ({ ...first.get(one['workload_id']!)!, pod_uuid: one['pod_uuid']!, project: one['project']! }))
    .map(
      labels =>
        `told:belongs{${Object.entries(labels).map(([name, value]) => `${name}=${JSON.stringify(value)}`)}} 1\n`,
    )
    .join('')
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
