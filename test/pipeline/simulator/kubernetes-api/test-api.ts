/** The simulated API with a clock that stands still, asked without any network. */
import { createVirtualClock, type VirtualClock } from '../../../../pipeline/clock/virtual-clock.ts'
import {
  createKubernetesApi,
  type KubernetesApi,
  type KubernetesApiOptions,
} from '../../../../pipeline/simulator/kubernetes-api/handler.ts'
import { createObjectStore, type ObjectStore } from '../../../../pipeline/simulator/kubernetes-api/object-store.ts'
import type { GivenObject } from '../../../../pipeline/simulator/kubernetes-api/object-identity.ts'

/** What lists and Statuses have that tests look at. */
export type Body = {
  kind: string
  apiVersion: string
  metadata: { name?: string; resourceVersion?: string; continue?: string; remainingItemCount?: number }
  items: readonly GivenObject[] | null
  code: number
  reason?: string
  message: string
  details?: unknown
}

export type Answer = {
  status: number
  headers: Readonly<Record<string, string>>
  text: string
  /** How it ended, if it has. */
  over: 'ended' | 'failed' | undefined
  /** The text as JSON document. */
  readonly body: Body
  /** The text as events, one per line: `ADDED default/a@7`, `BOOKMARK @7`, `ERROR 410`. */
  readonly events: string[]
  /** The client goes away. */
  leave(): void
}

export type TestApi = {
  readonly store: ObjectStore
  readonly clock: VirtualClock
  readonly api: KubernetesApi
  get(url: string, headers?: Readonly<Record<string, string>>): Answer
  ask(method: string, url: string, headers?: Readonly<Record<string, string>>): Answer
}

export const METADATA = { accept: 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1' }
export const METADATA_LIST = { accept: 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1' }

export function createTestApi(
  objects: readonly GivenObject[],
  options: Partial<KubernetesApiOptions> & { historyLimit?: number } = {},
): TestApi {
  const clock = createVirtualClock(Date.parse('2023-11-14T22:13:20Z'))
  const { historyLimit, ...rest } = options
  const store = createObjectStore(historyLimit === undefined ? {} : { historyLimit })
  store.replaceAll(objects)
  const api = createKubernetesApi(store, { clock, ...rest })

  function ask(method: string, url: string, headers: Readonly<Record<string, string>> = {}): Answer {
    let leave = (): void => {}
    const answer: Answer = {
      status: 0,
      headers: {},
      text: '',
      over: undefined,
      get body() {
        return JSON.parse(this.text) as Body
      },
      get events() {
        return this.text.split('\n').filter(Boolean).map(describeEvent)
      },
      leave: () => leave(),
    }
    leave = api.handle(
      { method, url, headers },
      {
        head: (status, responseHeaders) => Object.assign(answer, { status, headers: responseHeaders }),
        chunk: text => {
          answer.text += text
        },
        end: () => {
          answer.over = 'ended'
        },
        fail: () => {
          answer.over = 'failed'
        },
      },
    )
    return answer
  }
  return { store, clock, api, ask, get: (url, headers) => ask('GET', url, headers) }
}

function describeEvent(line: string): string {
  const { type, object } = JSON.parse(line) as { type: string; object: GivenObject & { code?: number } }
  if (type === 'ERROR') return `ERROR ${object.code}`
  const { namespace, name, resourceVersion, annotations } = object.metadata
  if (type === 'BOOKMARK')
    return `BOOKMARK @${resourceVersion}${annotations === undefined ? '' : ' initial events end'}`
  return `${type} ${namespace === undefined ? '' : `${namespace}/`}${name}@${resourceVersion}`
}

/** A pod; `rest` is merged over its parts. */
export function pod(
  name: string,
  rest: {
    namespace?: string
    uid?: string
    resourceVersion?: string
    labels?: Record<string, string>
    node?: string
    phase?: string
  } = {},
): GivenObject {
  const { namespace = 'default', node, phase, ...metadata } = rest
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace, ...metadata },
    spec: node === undefined ? {} : { nodeName: node },
    status: phase === undefined ? {} : { phase },
  }
}

export function object(apiVersion: string, kind: string, name: string, namespace?: string): GivenObject {
  return { apiVersion, kind, metadata: { name, ...(namespace !== undefined && { namespace }) } }
}

/** Names of the items of a list. */
export function names(answer: Answer): string[] {
  const { items } = answer.body
  return (items ?? []).map(({ metadata }) => metadata.name)
}

/** A pod a, a node n, its namespace, a PyTorchJob p and an object q of a kind that nobody knows; the store is at revision 6. */
export function smallCluster(options: Parameters<typeof createTestApi>[1] = {}): TestApi {
  return createTestApi(
    [
      pod('a', { uid: 'u', labels: { app: 'x' } }),
      object('v1', 'Node', 'n'),
      object('v1', 'Namespace', 'default'),
      object('kubeflow.org/v1', 'PyTorchJob', 'p', 'default'),
      object('example.com/v1', 'Policy', 'q'),
    ],
    options,
  )
}
