/**
 * Scrapes kube-state-metrics: pods, nodes, owners, namespaces and quotas as the Kubernetes API has them.
 *
 * Its text is large and little of it is needed here: families that nobody asks for are left out before anything else is done with
 * them. Where it runs in shards, name all of them: an object and its owner may be in different ones.
 */
import { clusterTables } from '../pipeline/cluster/tables.ts'
import { defineReceiver, type ConfigSchema, type Problem } from '../pipeline/component.ts'
import { compileRegex } from '../pipeline/relabel/regex.ts'
import { kubernetesRules } from './scraping/discovery/kubernetes.ts'
import { checkScrapeConfig, scrapeFields } from './scraping/scrape-config.ts'
import { createScrapeReceiver, type ReceiverKind } from './scraping/scrape-receiver.ts'

/** What workloads, projects, requests and capacity are made from, as 2.x writes it and, at the end of each list, as 1.x did. */
const FAMILIES = [
  'kube_pod_info',
  'kube_pod_owner',
  'kube_pod_labels',
  'kube_pod_annotations',
  'kube_pod_status_phase',
  'kube_pod_status_scheduled_time',
  'kube_pod_container_resource_requests',
  'kube_pod_container_resource_limits',
  'kube_pod_created',
  'kube_pod_start_time',
  'kube_pod_completion_time',
  'kube_pod_deletion_timestamp',
  'kube_pod_resourceclaim_info',
  'kube_pod_deleted',
  'kube_pod_container_resource_(requests|limits)_(cpu_cores|memory_bytes)',
  'kube_node_info',
  'kube_node_labels',
  'kube_node_spec_taint',
  'kube_node_spec_unschedulable',
  'kube_node_status_capacity',
  'kube_node_status_allocatable',
  'kube_node_status_condition',
  'kube_node_status_(capacity|allocatable)_(cpu_cores|memory_bytes|pods)',
  'kube_deployment_owner',
  'kube_replicaset_owner',
  'kube_replicationcontroller_owner',
  'kube_job_owner',
  'kube_namespace_labels',
  'kube_namespace_annotations',
  'kube_namespace_status_phase',
  'kube_resourcequota',
] as const

const config = {
  type: 'object',
  properties: {
    ...scrapeFields,
    families: {
      type: 'array',
      items: { type: 'string', minLength: 1 },
      minItems: 1,
      default: FAMILIES,
      description: 'Metrics to keep: RE2 expressions that match the whole name. `.*` keeps everything.',
    },
  },
  additionalProperties: false,
} as const satisfies ConfigSchema

const kind: ReceiverKind = {
  urls: { scheme: 'http', port: 8080, path: '/metrics' },
  fallback: 'text',
  emptyIsFailure: false,
  // It speaks of all nodes, not of the one that it happens to run on.
  isOfNode: false,
}

export const kubeStateMetrics = defineReceiver({
  type: 'kube_state_metrics',
  summary: 'Scrapes kube-state-metrics.',
  config,
  example: { scrape_interval: '30s', static_targets: ['http://kube-state-metrics.kube-system:8080/metrics'] },
  check: config => [...checkScrapeConfig(config, kind.urls), ...checkFamilies(config.families)],
  rbac: kubernetesRules,

  create({ families, ...config }, host, next) {
    const { feeds } = clusterTables(host.cluster)
    const receiver = createScrapeReceiver(config, { ...kind, isWantedName: nameTest(families) }, host, batch => {
      try {
        next(batch)
      } finally {
        tell()
      }
    })
    /**
     * What it shows of the cluster is complete when every shard was tried once; one that is away is not waited for. Where all are, and
     * nobody else has told of the cluster, nothing is known of it.
     */
    function tell(): void {
      if (feeds.entry(host.id).value !== 'reading') return
      const states = receiver.targets!().active.map(({ state }) => state)
      const isTold = states.includes('up') || [...feeds.values()].includes('complete')
      if (isTold && !states.includes('unknown')) feeds.set(host.id, 'complete')
    }
    return {
      ...receiver,
      start() {
        feeds.set(host.id, 'reading')
        return receiver.start!()
      },
      stop(deadlineMs) {
        feeds.delete(host.id)
        return receiver.stop!(deadlineMs)
      },
    }
  },
})

function checkFamilies(families: readonly string[]): Problem[] {
  return families.flatMap((family, index) => {
    try {
      compileRegex(family)
      return []
    } catch (error) {
      return [{ path: ['families', index], message: `bad regular expression: ${(error as Error).message}` }]
    }
  })
}

/** The parts of a histogram and the like belong to their family. */
const PART = /_(total|created|bucket|sum|count|gsum|gcount|info)$/

function nameTest(families: readonly string[]): (name: string) => boolean {
  const regex = compileRegex(families.map(family => `(?:${family})`).join('|'))
  return name => regex.matches(name) || (PART.test(name) && regex.matches(name.replace(PART, '')))
}
