/** The configs that are compared: of gpucol, for roll-ups alone and with the raw series of GPUs, and of Prometheus. */
import { exporters } from '../../../exporters/registry.ts'
import { targetAddress } from './addresses.ts'

export const VARIANTS = ['roll_ups', 'raw'] as const
export type Variant = (typeof VARIANTS)[number]

export type Places = {
  readonly targets: number
  readonly targetsPort: number
  readonly kubeconfig: string
  readonly sinkPort: number
  readonly exporterPort: number
  readonly interval: number
}

/** Rules as users have them: labels that nobody needs, one that all get, metrics that are not wanted. */
const RULES = [
  { action: 'labeldrop', regex: 'pci_bus_id|device' },
  { action: 'labeldrop', regex: 'DCGM_FI_DRIVER_VERSION' },
  { target_label: 'cluster', replacement: 'bench' },
  { source_labels: ['Hostname'], regex: '([^.]+)[.].*', target_label: 'short_name', replacement: '$1' },
  { action: 'drop', source_labels: ['__name__'], regex: 'go_.*|process_.*' },
]
const ROLL_UPS_ONLY = [{ action: 'keep', source_labels: ['__name__'], regex: 'runai_.*|kube_.*|gpucol_.*' }]

export const pushes: boolean = Object.hasOwn(exporters, 'otlp_http')

export function gpucolConfig(variant: Variant, places: Places): object {
  const { targets, targetsPort, kubeconfig, sinkPort, exporterPort, interval } = places
  const outputs = ['prometheus', ...(pushes ? ['otlp_http'] : [])]
  const rollUps = {
    receivers: ['dcgm', 'kubernetes_api'],
    processors: ['relabel', 'normalize', 'join_workload', 'roll_up', 'relabel/roll_ups_only'],
    exporters: outputs,
  }
  const raw = { receivers: ['dcgm'], processors: ['relabel', 'join_workload'], exporters: outputs }
  return {
    receivers: {
      dcgm: {
        scrape_interval: `${interval}s`,
        scrape_timeout: `${interval - 1}s`,
        static_targets: addresses(targets, targetsPort).map(address => `http://${address}/${variant}`),
      },
      // The cluster's own series would come on top of those that are counted here.
      kubernetes_api: { kubeconfig, metrics: false },
    },
    processors: {
      relabel: { rules: RULES },
      normalize: {},
      join_workload: {},
      roll_up: { catalog: 'runai-2.17', interval: `${interval}s`, cluster_id: 'bench' },
      'relabel/roll_ups_only': { rules: ROLL_UPS_ONLY },
    },
    exporters: {
      prometheus: { endpoint: `127.0.0.1:${exporterPort}` },
      ...(pushes && {
        otlp_http: { metrics_endpoint: `http://127.0.0.1:${sinkPort}/${variant}`, compression: 'none' },
      }),
    },
    service: {
      pipelines: { 'metrics/roll_ups': rollUps, ...(variant === 'raw' && { 'metrics/raw': raw }) },
      telemetry: { metrics: { address: 'none' } },
    },
  }
}

export function prometheusConfig({ targets, targetsPort, interval }: Places): object {
  return {
    global: { scrape_interval: `${interval}s`, scrape_timeout: `${interval - 1}s` },
    scrape_configs: [
      {
        job_name: 'dcgm',
        metrics_path: '/prometheus',
        static_configs: [{ targets: addresses(targets, targetsPort) }],
      },
    ],
  }
}

export function kubeconfig(port: number): object {
  return {
    clusters: [{ name: 'bench', cluster: { server: `http://127.0.0.1:${port}` } }],
    users: [{ name: 'bench', user: {} }],
    contexts: [{ name: 'bench', context: { cluster: 'bench', user: 'bench' } }],
    'current-context': 'bench',
  }
}

function addresses(count: number, port: number): string[] {
  return Array.from({ length: count }, (_, target) => `${targetAddress(target)}:${port}`)
}
