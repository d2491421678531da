/** A Prometheus that scrapes the exporters of a simulated cluster itself, with rules of its own. */
import { join } from 'node:path'
import { stringify } from 'yaml'
import { get } from '../../support/gpucol-process.ts'
import type { Sample } from './samples.ts'

export type Places = {
  readonly port: number
  readonly nodes: number
  /** Where the test itself answers. */
  readonly own: string
  readonly clock: 'stands' | 'goes'
}

/** One spelling for all exporters. */
const SPELLING = [
  { source_labels: ['uid'], regex: '(.+)', target_label: 'pod_uuid' },
  { source_labels: ['pod'], regex: '(.+)', target_label: 'pod_name' },
  { source_labels: ['namespace'], regex: '(.+)', target_label: 'pod_namespace' },
  { source_labels: ['Hostname'], regex: '(.+)', target_label: 'node' },
]

export function prometheusConfig({ port, nodes, own, clock }: Places): string {
  const eachNode = Array.from({ length: nodes }, (_, i) => ({
    targets: [`127.0.0.1:${port + 1 + i}`],
    labels: { node: `node-${i}` },
  }))
  const job = (job_name: string, metrics_path: string, more: object): object => ({
    job_name,
    metrics_path,
    honor_labels: true,
    static_configs: eachNode,
    metric_relabel_configs: SPELLING,
    ...more,
  })
  // A clock that stands is not that of Prometheus, which takes no samples of long ago.
  const kubelet = { honor_timestamps: clock === 'goes' }
  return stringify({
    global: { scrape_interval: '1s', scrape_timeout: '1s', evaluation_interval: '1s' },
    rule_files: [join(import.meta.dirname, 'rules.yaml')],
    scrape_configs: [
      job('dcgm', '/metrics', {}),
      job('resource', '/metrics/resource', kubelet),
      job('cadvisor', '/metrics/cadvisor', kubelet),
      job('node-exporter', '', { static_configs: hostTargets(own, nodes) }),
      job('runai-node-exporter', '/runai-node-exporter/metrics', {
        metric_relabel_configs: [
          { source_labels: ['gpu'], regex: '(.+)', target_label: 'UUID' },
          { regex: 'gpu|node', action: 'labeldrop' },
        ],
      }),
      job('kube-state-metrics', '/kube-state-metrics/metrics', {
        static_configs: [{ targets: [`127.0.0.1:${port}`] }],
      }),
      job('owners', '/metrics', { static_configs: [{ targets: [own] }], metric_relabel_configs: [] }),
    ],
  })
}

export function hostTargets(own: string, nodes: number): object[] {
  return Array.from({ length: nodes }, (_, i) => ({
    targets: [own],
    labels: { node: `node-${i}`, __metrics_path__: `/nodes/node-${i}/node-exporter/metrics` },
  }))
}

const HOLD_SECONDS = 10

/**
 * Pages of node-exporters that stay the same for ten seconds, as those of kubelets and dcgm-exporters do, and say when CPU times were
 * taken: two engines that scrape at different times agree on rates only by that.
 */
export class HostPages {
  readonly #pages = new Map<string, { readonly text: string; readonly turn: number }>()

  async page(url: string): Promise<string> {
    const text = await get(url)
    const seconds = Number(/^node_time_seconds (\S+)$/m.exec(text)?.[1])
    const turn = Math.floor(seconds / HOLD_SECONDS)
    const known = this.#pages.get(url)
    if (known?.turn === turn) return known.text
    const stamped = text.replace(/^node_cpu_seconds_total\{.*$/gm, line => `${line} ${seconds * 1000}`)
    this.#pages.set(url, { text: stamped, turn })
    return stamped
  }
}

type Health = { data: { activeTargets: { health: string; lastScrape: string }[]; groups: Group[] } }
type Group = { lastEvaluation: string; rules: { name: string; health: string; lastError?: string }[] }

/** What its rules say, evaluated after every target was scraped; undefined before that. */
export async function truth(api: string): Promise<Sample[] | undefined> {
  const targets = (JSON.parse(await get(`${api}/targets`)) as Health).data.activeTargets
  if (targets.some(({ health }) => health !== 'up')) return undefined
  const { groups } = (JSON.parse(await get(`${api}/rules`)) as Health).data
  for (const { rules } of groups) {
    const failed = rules.find(({ health }) => health === 'err')
    if (failed !== undefined) throw new Error(`${failed.name}: ${failed.lastError}`)
  }
  const { data } = JSON.parse(
    await get(
      `${api}/query?query=${encodeURIComponent('{__name__=~"runai_.*|.*:(busy|started|ran_from|ran_to|waited_from|waited_to)",job=""}')}`,
    ),
  ) as {
    data: { result: { metric: Record<string, string>; value: [number, string] }[] }
  }
  return data.result.map(({ metric: { __name__, ...labels }, value }) => ({
    name: __name__!,
    labels,
    value: Number(value[1]),
  }))
}
