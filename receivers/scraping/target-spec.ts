/**
 * From what discovery found to a target, by way of relabelling: the rules are those of Prometheus.
 *
 * Labels that begin with two underscores say how to scrape (`__address__`, `__scheme__`, `__metrics_path__`, `__param_*`,
 * `__scrape_interval__`, `__scrape_timeout__`) or what discovery knows (`__meta_*`). All others stay with the target.
 */
import { parseDuration } from '../../pipeline/config/fields.ts'
import { labelsFrom, type Labels } from '../../pipeline/model/labels.ts'
import type { Relabel } from '../../pipeline/relabel/relabel.ts'
import type { DiscoveredTarget, Through } from './discovery/discovery.ts'
import { instanceOf } from './target-address.ts'

export type TargetSpec = {
  readonly url: string
  readonly labels: Labels
  readonly intervalMs: number
  readonly timeoutMs: number
  readonly node?: string
  readonly through?: Through
}

/** What targets have that say nothing else. */
export type TargetDefaults = {
  readonly job: string
  readonly scheme: string
  readonly metricsPath: string
  /** Durations, as they are written. */
  readonly interval: string
  readonly timeout: string
  readonly params: Readonly<Record<string, readonly string[]>>
  readonly labels: Readonly<Record<string, string>>
  readonly relabel: Relabel
  /** `instance` always has a port. Prometheus leaves it as the address has it. */
  readonly spellsPort: boolean
  /** Whether what the target says is about the node it runs on. */
  readonly isOfNode: boolean
}

/** Why something that was found is no target. `labels` are those before relabelling. */
export type Rejection = { readonly labels: Labels; readonly reason: string }

export function specFrom(found: DiscoveredTarget, defaults: TargetDefaults): TargetSpec | Rejection {
  const discovered = withDefaults(found.labels, defaults)
  const relabelled = defaults.relabel(discovered)
  const rejected = (reason: string): Rejection => ({ labels: labelsFrom(discovered), reason })
  if (relabelled === undefined) return rejected('relabel_configs drop it')
  try {
    return specOf(relabelled, found, defaults)
  } catch (error) {
    return rejected((error as Error).message)
  }
}

/** Whether both are the same target, which may be found more than once. */
export function isSameTarget(a: TargetSpec, b: TargetSpec): boolean {
  return (
    a.url === b.url &&
    a.labels === b.labels &&
    a.intervalMs === b.intervalMs &&
    a.timeoutMs === b.timeoutMs &&
    a.node === b.node &&
    a.through?.name === b.through?.name
  )
}

function withDefaults(found: ReadonlyMap<string, string>, defaults: TargetDefaults): Map<string, string> {
  const labels = new Map(found)
  const usual: [string, string][] = [
    ['job', defaults.job],
    ...Object.entries(defaults.labels),
    ['__scheme__', defaults.scheme],
    ['__metrics_path__', defaults.metricsPath],
    ['__scrape_interval__', defaults.interval],
    ['__scrape_timeout__', defaults.timeout],
    ...Object.entries(defaults.params).map(([name, values]): [string, string] => [`__param_${name}`, values[0] ?? '']),
  ]
  for (const [name, value] of usual) if ((labels.get(name) ?? '') === '') labels.set(name, value)
  return labels
}

/** Throws an Error that says what is wrong with the labels. */
function specOf(
  labels: ReadonlyMap<string, string>,
  { url: written, labels: found, through }: DiscoveredTarget,
  defaults: TargetDefaults,
): TargetSpec {
  const url = urlFrom(labels, defaults.params, written)
  const { intervalMs, timeoutMs } = timesFrom(labels)
  const own = new Map([...labels].filter(([name]) => !name.startsWith('__')))
  if ((own.get('instance') ?? '') === '') {
    own.set('instance', defaults.spellsPort ? instanceOf(url) : labels.get('__address__')!)
  }
  for (const [name, value] of own) {
    if (!value.isWellFormed()) throw new Error(`the value of label "${name}" is not UTF-8`)
  }
  const targetLabels = labelsFrom(own)
  const node = defaults.isOfNode ? nodeFrom(own, found) : undefined
  return {
    url: url.href,
    labels: targetLabels,
    intervalMs,
    timeoutMs,
    ...(node !== undefined && { node }),
    ...(through && { through }),
  }
}

function urlFrom(labels: ReadonlyMap<string, string>, params: TargetDefaults['params'], written?: URL): URL {
  const address = labels.get('__address__') ?? ''
  const scheme = labels.get('__scheme__') ?? ''
  if (address === '') throw new Error('it has no address')
  if (scheme !== 'http' && scheme !== 'https') throw new Error(`"${scheme}" is neither http nor https`)
  const url = /[/?#@\s]/.test(address) ? null : URL.parse(`${scheme}://${address}`)
  if (url === null) throw new Error(`"${address}" is not a valid address, which is host:port`)
  url.pathname = labels.get('__metrics_path__') ?? ''
  if (written !== undefined && url.host === written.host) {
    url.username = written.username
    url.password = written.password
  }
  url.search = searchFrom(labels, params, written).toString()
  return url
}

/** A label holds the first value of a parameter; the others stay as they were written. */
function searchFrom(
  labels: ReadonlyMap<string, string>,
  params: TargetDefaults['params'],
  written: URL | undefined,
): URLSearchParams {
  const values = new Map(Object.entries(params).map(([name, given]) => [name, [...given]]))
  for (const name of written?.searchParams.keys() ?? []) values.set(name, written!.searchParams.getAll(name))
  for (const [label, value] of labels) {
    if (!label.startsWith('__param_')) continue
    const name = label.slice('__param_'.length)
    values.set(name, [value, ...(values.get(name) ?? []).slice(1)])
  }
  const search = new URLSearchParams()
  for (const [name, given] of [...values].sort(([a], [b]) => (a < b ? -1 : 1))) {
    for (const value of given) search.append(name, value)
  }
  return search
}

function timesFrom(labels: ReadonlyMap<string, string>): { intervalMs: number; timeoutMs: number } {
  const interval = labels.get('__scrape_interval__') ?? ''
  const timeout = labels.get('__scrape_timeout__') ?? ''
  const intervalMs = durationFrom(interval, '__scrape_interval__')
  const timeoutMs = durationFrom(timeout, '__scrape_timeout__')
  if (timeoutMs > intervalMs) throw new Error(`__scrape_timeout__ ${timeout} is longer than the interval ${interval}`)
  return { intervalMs, timeoutMs }
}

function durationFrom(text: string, label: string): number {
  let durationMs: number
  try {
    durationMs = parseDuration(text)
  } catch (cause) {
    throw new Error(`bad ${label}: ${(cause as Error).message}`, { cause })
  }
  if (durationMs <= 0) throw new Error(`bad ${label}: it must be above 0`)
  return durationMs
}

/** Where the ways to find targets in Kubernetes say on which node a target is. */
const NODE_LABELS = [
  '__meta_kubernetes_node_name',
  '__meta_kubernetes_pod_node_name',
  '__meta_kubernetes_endpointslice_endpoint_node_name',
  '__meta_kubernetes_endpoint_node_name',
]

/** A label `node` is what somebody wrote or made by a rule; that counts first. */
function nodeFrom(own: ReadonlyMap<string, string>, found: ReadonlyMap<string, string>): string | undefined {
  const known = [own.get('node'), ...NODE_LABELS.map(name => found.get(name))]
  return known.find(name => name !== undefined && name !== '')
}
