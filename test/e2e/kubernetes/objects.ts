/** Makes objects in a real cluster in a few words. Nothing controls them: what owns what is written, too. */
import { eventually } from '../../support/gpucol-process.ts'
import type { KubeServers } from './kube-servers.ts'

export type Texts = Readonly<Record<string, string>>
export type Parts = { readonly labels?: Texts; readonly annotations?: Texts }
type Changes = Readonly<Record<string, string | null>>

export type Objects = {
  /** Defines a kind of custom resources and waits until it is served. */
  define(kind: string): Promise<void>
  make(what: string, parts?: Parts & { readonly owner?: string }): Promise<void>
  /** Null takes a label or annotation away. */
  change(what: string, metadata: { labels?: Changes; annotations?: Changes }): Promise<void>
  /** At once, with no time to end. What it owns stays. */
  remove(what: string): Promise<void>
  uid(what: string): string
}

const TEMPLATE = {
  metadata: { labels: { app: 'x' } },
  spec: { containers: [{ name: 'main', image: 'none' }], restartPolicy: 'Always' },
}
const WORKLOAD = { selector: { matchLabels: { app: 'x' } }, template: TEMPLATE }
const JOB = { template: { ...TEMPLATE, spec: { ...TEMPLATE.spec, restartPolicy: 'Never' } } }

type Kind = { readonly apiVersion: string; readonly plural: string; readonly spec?: object }

const KINDS: Readonly<Record<string, Kind>> = {
  Deployment: { apiVersion: 'apps/v1', plural: 'deployments', spec: WORKLOAD },
  ReplicaSet: { apiVersion: 'apps/v1', plural: 'replicasets', spec: WORKLOAD },
  StatefulSet: { apiVersion: 'apps/v1', plural: 'statefulsets', spec: { ...WORKLOAD, serviceName: 'x' } },
  Job: { apiVersion: 'batch/v1', plural: 'jobs', spec: JOB },
  CronJob: { apiVersion: 'batch/v1', plural: 'cronjobs', spec: { schedule: '0 3 * * *', jobTemplate: { spec: JOB } } },
  PyTorchJob: { apiVersion: 'kubeflow.org/v1', plural: 'pytorchjobs' },
  JobSet: { apiVersion: 'jobset.x-k8s.io/v1alpha2', plural: 'jobsets' },
  // Nobody has heard of these.
  Wombat: { apiVersion: 'example.com/v1', plural: 'wombats' },
  Zoo: { apiVersion: 'example.com/v1', plural: 'zoos' },
  Pod: {
    apiVersion: 'v1',
    plural: 'pods',
    spec: {
      nodeName: 'gpu-1',
      containers: [
        {
          name: 'main',
          image: 'none',
          resources: { requests: { cpu: '500m', memory: '1Gi' }, limits: { 'nvidia.com/gpu': '1' } },
        },
      ],
    },
  },
}

/** All that is made is in one namespace and called `Kind/name`. */
export function createObjects({ ask, write }: KubeServers, namespace: string): Objects {
  const uids = new Map<string, string>()

  function uid(what: string): string {
    const found = uids.get(what)
    if (found === undefined) throw new Error(`no ${what} was made`)
    return found
  }

  function place(what: string): { readonly kind: string; readonly name: string; readonly path: string } & Kind {
    const [kind, name] = what.split('/') as [string, string]
    const { apiVersion, plural, spec } = KINDS[kind]!
    const root = apiVersion === 'v1' ? '/api/v1' : `/apis/${apiVersion}`
    return { kind, name, apiVersion, plural, path: `${root}/namespaces/${namespace}/${plural}`, ...(spec && { spec }) }
  }

  function reference(what: string): object {
    const { apiVersion, kind, name } = place(what)
    return { apiVersion, kind, name, uid: uid(what), controller: true }
  }

  return {
    uid,
    async define(kind) {
      const { apiVersion, plural, path } = place(`${kind}/`)
      const [group, version] = apiVersion.split('/') as [string, string]
      const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } }
      await write('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
        metadata: { name: `${plural}.${group}` },
        spec: {
          group,
          scope: 'Namespaced',
          names: { plural, singular: kind.toLowerCase(), kind },
          versions: [{ name: version, served: true, storage: true, schema }],
        },
      })
      await eventually(
        () => ask(path),
        ({ status }) => status === 200,
      )
    },
    async make(what, { owner, ...parts } = {}) {
      const { apiVersion, kind, name, path, spec } = place(what)
      const ownerReferences = owner === undefined ? [] : [reference(owner)]
      const { metadata } = await write('POST', path, {
        apiVersion,
        kind,
        metadata: { name, ownerReferences, ...parts },
        ...(spec && { spec }),
      })
      uids.set(what, metadata.uid)
      if (kind !== 'Pod') return
      const status = { phase: 'Running', podIP: '10.0.0.9', hostIP: '10.0.0.1', startTime: '2026-01-01T00:00:00Z' }
      await write('PATCH', `${path}/${name}/status`, { status })
    },
    async change(what, metadata) {
      const { path, name } = place(what)
      await write('PATCH', `${path}/${name}`, { metadata })
    },
    async remove(what) {
      const { path, name } = place(what)
      await write('DELETE', `${path}/${name}?gracePeriodSeconds=0&propagationPolicy=Background`)
    },
  }
}
