/**
 * Scrapes the kubelet of every node: CPU and memory of pods and containers.
 *
 * `/metrics/cadvisor` also has rows for whole pods and for the groups above them, which hold the containers' numbers once more:
 * these rows are left out, so that a sum over containers is the sum.
 */
import { defineReceiver, type ConfigOf, type ConfigSchema, type RbacRule } from '../pipeline/component.ts'
import type { RelabelRule } from '../pipeline/relabel/rule.ts'
import { kubernetesRules } from './scraping/discovery/kubernetes.ts'
import { checkScrapeConfig, hasTargets, scrapeFields } from './scraping/scrape-config.ts'
import { createScrapeReceiver, type ReceiverKind } from './scraping/scrape-receiver.ts'

const { metrics_path: _, ...commonFields } = scrapeFields

const config = {
  type: 'object',
  properties: {
    ...commonFields,
    metrics_paths: {
      type: 'array',
      items: { type: 'string', minLength: 1 },
      minItems: 1,
      uniqueItems: true,
      default: ['/metrics/resource', '/metrics/cadvisor'],
      description: 'Pages of each kubelet to scrape. Their series have the path as label `metrics_path`.',
    },
    keep_aggregates: {
      type: 'boolean',
      default: false,
      description: 'Keep the rows of cAdvisor that are sums of others: pods, and the groups above them.',
    },
  },
  additionalProperties: false,
} as const satisfies ConfigSchema

const kind: ReceiverKind = {
  urls: { scheme: 'https', port: 10_250, path: '/metrics/resource' },
  fallback: 'text',
  emptyIsFailure: false,
  isOfNode: true,
}

/**
 * Only rows of cAdvisor have an `id`. Those of groups above pods have no pod; those of a whole pod have no container or no image,
 * or the container that holds the network of the pod (POD). Names that begin with `container_net` are left alone: there the row of
 * the pod is the only one.
 */
const WITHOUT_AGGREGATES: readonly RelabelRule[] = [
  { source_labels: ['id', '__name__', 'pod'], regex: '.+;container_.*;', action: 'drop' },
  ...['container', 'image'].map(label => ({
    source_labels: ['id', '__name__', label],
    regex: '.+;container_([^n].*|n[^e].*|ne[^t].*);(POD)?',
    action: 'drop',
  })),
]

export const kubelet = defineReceiver({
  type: 'kubelet',
  summary: 'Scrapes the kubelets of all nodes.',
  config,
  example: {
    static_targets: ['https://10.0.0.1:10250'],
    authorization: { credentials_file: '/var/run/secrets/kubernetes.io/serviceaccount/token' },
    tls: { ca_file: '/var/run/secrets/kubernetes.io/serviceaccount/ca.crt' },
  },
  check: config => checkScrapeConfig(config, kind.urls),
  rbac: config => [...(asksKubelets(config) ? pageRules(config.metrics_paths) : []), ...kubernetesRules(config)],

  create({ metrics_paths, keep_aggregates, ...config }, host, next) {
    const rules = keep_aggregates ? [] : WITHOUT_AGGREGATES
    return createScrapeReceiver(config, { ...kind, paths: metrics_paths, rules }, host, next)
  },
})

/** What is asked through the API server is asked by the API server. */
function asksKubelets({ kubernetes_nodes, ...others }: ConfigOf<typeof config>): boolean {
  return kubernetes_nodes?.through_api_server !== true || hasTargets(others)
}

function pageRules(paths: readonly string[]): RbacRule[] {
  return Array.from(new Set(paths.map(subresourceOf)), subresource => ({
    group: '',
    resources: [`nodes/${subresource}`],
    verbs: ['get'],
    why: 'pages of the kubelets',
  }))
}

/** What the kubelet asks the API about whoever wants a page of it: https://kubernetes.io/docs/reference/access-authn-authz/kubelet-authn-authz/. */
function subresourceOf(path: string): string {
  const [, first] = /^\/*([^/?]*)/.exec(path)!
  return first === 'metrics' || first === 'stats' ? first : 'proxy'
}
