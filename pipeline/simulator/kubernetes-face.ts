/** The Kubernetes API of the cluster, at the root: `/api`, `/apis`, `/version` and so on. */
import type { Clock } from '../component.ts'
import type { Face } from './face.ts'
import type { Fault, FaultKind, FaultSchedule } from './faults.ts'
import { followSource } from './kubernetes-api/follow-source.ts'
import { createKubernetesApi, type KubernetesApi, type KubernetesApiFaults } from './kubernetes-api/handler.ts'
import { createObjectStore } from './kubernetes-api/object-store.ts'
import { answerHttp } from './kubernetes-api/serve.ts'
import type { ObjectSource } from './kubernetes-object.ts'
import { CUSTOM_KINDS } from './workload-kinds/custom-kinds.ts'

export type KubernetesFaceOptions = {
  /** Answer watches that ask for the initial state, as API servers from 1.34 on do. */
  readonly streamingLists: boolean
}

const PATH = /^\/(?:api|apis|version|healthz|livez|readyz|openapi)(?:\/|$)/
const ENDPOINT = 'api'

const OWN_FAULTS: ReadonlySet<FaultKind> = new Set([
  'error',
  'truncate',
  'drop_watches',
  'hang_watches',
  'expire_watches',
])
const WATCH_FAULTS = { drop_watches: 'drop', hang_watches: 'hang', expire_watches: 'expire' } as const

export function createKubernetesFace(
  source: ObjectSource,
  { streamingLists }: KubernetesFaceOptions,
  { faults, clock }: { readonly faults: FaultSchedule; readonly clock: Clock },
): Face {
  let api: KubernetesApi | undefined
  let unfollow: (() => void) | undefined
  let currentFaults = '{}'

  /** Objects are made for the first who asks: a benchmark of exporters pays nothing for them. */
  function open(): KubernetesApi {
    const store = createObjectStore()
    unfollow = followSource(store, source)
    return createKubernetesApi(store, { clock, builtIn: true, kinds: CUSTOM_KINDS, streamingLists })
  }

  function misbehave(timeMs: number): void {
    const wanted = apiFaults(faults.active('kubernetes_api', ENDPOINT, timeMs))
    const text = JSON.stringify(wanted)
    if (text === currentFaults) return
    currentFaults = text
    api?.setFaults(wanted)
  }

  return {
    name: 'kubernetes_api',
    ownFaults: OWN_FAULTS,
    endpointOf: path => (PATH.test(path) ? ENDPOINT : undefined),
    paths: () => ['/api', '/apis'],
    respond(_endpoint, { request, response, timeMs }) {
      if (api === undefined) {
        api = open()
        currentFaults = '{}'
      }
      misbehave(timeMs)
      answerHttp(api, request, response)
    },
    passTime: misbehave,
    close() {
      unfollow?.()
      api?.close()
    },
  }
}

function apiFaults(active: readonly Fault[]): KubernetesApiFaults {
  let faults: KubernetesApiFaults = {}
  for (const { kind, status } of active) {
    if (kind === 'error') faults = { ...faults, errorStatus: status ?? 500 }
    else if (kind === 'truncate') faults = { ...faults, truncate: true }
    else if (kind in WATCH_FAULTS) faults = { ...faults, watches: WATCH_FAULTS[kind as keyof typeof WATCH_FAULTS] }
  }
  return faults
}
