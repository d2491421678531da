/** The Kubernetes API of the cluster, at the root: `/api`, `/apis`, `/version` and so on. */
import type { Clock } from '../component.ts'
import type { Face } from './face.ts'
import { KUBERNETES_API_FAULTS, type Fault, type FaultKind, type FaultSchedule } from './faults.ts'
import type { AccessToken, PolicyRule } from './kubernetes-api/access.ts'
import { followSource } from './kubernetes-api/follow-source.ts'
import { createKubernetesApi, type KubernetesApi, type KubernetesApiFaults } from './kubernetes-api/handler.ts'
import { createObjectStore } from './kubernetes-api/object-store.ts'
import { answerHttp } from './kubernetes-api/serve.ts'
import type { ObjectSource } from './kubernetes-object.ts'
import { CUSTOM_KINDS, QUOTA_KINDS } from './workload-kinds/custom-kinds.ts'

export type KubernetesFaceOptions = {
  /** Answer watches that ask for the initial state, as API servers from 1.34 on do. */
  readonly streamingLists: boolean
  /** Who may read what; without them everybody may read everything. */
  readonly tokens?: readonly AccessToken[]
}

const PATH = /^\/(?:api|apis|version|healthz|livez|readyz|openapi)(?:\/|$)/
const ENDPOINT = 'api'

const OWN_FAULTS: ReadonlySet<FaultKind> = new Set(['error', 'truncate', ...KUBERNETES_API_FAULTS])
const WATCH_FAULTS = { drop_watches: 'drop', hang_watches: 'hang', expire_watches: 'expire' } as const

export function createKubernetesFace(
  source: ObjectSource,
  options: KubernetesFaceOptions,
  { faults, clock }: { readonly faults: FaultSchedule; readonly clock: Clock },
): Face {
  let api: KubernetesApi | undefined
  let unfollow: (() => void) | undefined
  let currentFaults = '{}'

  /** Objects are made for the first who asks: a benchmark of exporters pays nothing for them. */
  function open(): KubernetesApi {
    const store = createObjectStore()
    unfollow = followSource(store, source)
    return createKubernetesApi(store, { clock, builtIn: true, kinds: [...CUSTOM_KINDS, ...QUOTA_KINDS], ...options })
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
  for (const fault of active) {
    const { kind, status } = fault
    if (kind === 'deny') faults = { ...faults, deny: [...(faults.deny ?? []), ...deniedRules(fault)] }
    else if (kind === 'error') faults = { ...faults, errorStatus: status ?? 500 }
    else if (kind === 'truncate') faults = { ...faults, truncate: true }
    else if (kind in WATCH_FAULTS) faults = { ...faults, watches: WATCH_FAULTS[kind as keyof typeof WATCH_FAULTS] }
  }
  return faults
}

/** `queues.scheduling.run.ai` is the resource queues of the group scheduling.run.ai; what has no dot is of the core group. */
function deniedRules({ resources = ['*'], verbs = ['*'] }: Fault): PolicyRule[] {
  return resources.map(resource => {
    const dot = resource.indexOf('.')
    const [name, group] = dot < 0 ? [resource, ''] : [resource.slice(0, dot), resource.slice(dot + 1)]
    return { apiGroups: [resource === '*' ? '*' : group], resources: [name], verbs }
  })
}
