/**
 * Reads the Kubernetes API: which pods there are, where they run, what they asked for, what owns them and what they may use.
 *
 * It fills the model of the cluster that `join_workload` and roll-ups read, so it belongs in every pipeline that has one of these.
 */
import { defineReceiver, type ConfigSchema } from '../pipeline/component.ts'
import { duration, parseDuration } from '../pipeline/config/fields.ts'
import { createKubernetesClient } from '../pipeline/kubernetes/client.ts'
import { createKubernetesCredentials } from '../pipeline/kubernetes/credentials.ts'
import { createFactSources, type FactSources } from './kubernetes-api/fact-sources.ts'
import { followCluster, type FollowedCluster } from './kubernetes-api/follow-cluster.ts'
import { rulesOfCluster } from './kubernetes-api/rbac.ts'

const config = {
  type: 'object',
  properties: {
    kubeconfig: {
      type: 'string',
      default: '',
      description:
        'Path of a kubeconfig, or several as in the variable KUBECONFIG. Empty means the service account of the pod that this runs in.',
    },
    context: { type: 'string', description: 'Context of the kubeconfig, instead of its current one.' },
    namespaces: {
      type: 'array',
      items: { type: 'string', minLength: 1, description: 'Name of a namespace.' },
      default: [],
      description: 'Only these namespaces are read, for service accounts that may read no others. Empty means all.',
    },
    grace: duration('How long a pod that is gone is remembered, so that samples that come late still find it.', '5m'),
    metrics: {
      type: 'boolean',
      default: true,
      description:
        'Hand on what is known of pods, nodes and quotas as metrics, named as in kube-state-metrics. Turn it off where kube-state-metrics is scraped as well.',
    },
    interval: duration(
      'How often metrics are handed on that have not changed; those that have are within a second.',
      '1m',
    ),
  },
  additionalProperties: false,
} as const satisfies ConfigSchema

export const kubernetesApi = defineReceiver({
  type: 'kubernetes_api',
  summary: 'Watches the Kubernetes API and fills the model of the cluster.',
  config,
  example: { kubeconfig: '/etc/gpucol/kubeconfig', namespaces: ['team-a', 'team-b'] },
  check: ({ namespaces }) =>
    namespaces.flatMap((name, i) =>
      namespaces.indexOf(name) < i ? [{ path: ['namespaces', i], message: `namespace "${name}" is here twice` }] : [],
    ),
  rbac: ({ namespaces }, catalogs) => rulesOfCluster(namespaces, catalogs),

  create({ kubeconfig, context, namespaces, grace, metrics, interval }, host, next) {
    const { network, clock, log, counters } = host
    const credentials = createKubernetesCredentials({ kubeconfig, ...(context !== undefined && { context }), clock })
    let followed: FollowedCluster | undefined
    let facts: FactSources | undefined

    return {
      /** The API may be away for now: it is asked until it answers. */
      start() {
        const client = createKubernetesClient({ credentials, network, clock, log, counters })
        const sources = createFactSources(host, next, { hasMetrics: metrics, intervalMs: parseDuration(interval) })
        facts = sources
        followed = followCluster(host, {
          client,
          namespaces,
          graceMs: parseDuration(grace),
          pod: sources.pod,
          node: sources.node,
          scheduler: sources.scheduler,
          complete: sources.begin,
        })
      },
      stop() {
        followed?.stop()
        facts?.stop()
      },
      describe: () => `${credentials.describe()}${namespaces.length === 0 ? '' : `, ${namespaces.length} namespaces`}`,
    }
  },
})
