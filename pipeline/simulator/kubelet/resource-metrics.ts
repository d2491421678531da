/** `/metrics/resource`: CPU and memory of the node, its pods and their containers, each sample with the time at which it was taken. */
import type { NodeSample, PodSample, Use } from '../accounting.ts'
import { familyText, joinFamilies, singleText, type FamilyText } from '../exposition.ts'
import { formatDecimal, formatShortest } from '../go-number.ts'

export function renderResourceMetrics(sample: NodeSample, skewMs: number): string {
  const stamp = ` ${sample.timeMs + skewMs}`
  const pods = sample.pods.toSorted(byNamespaceAndName)
  const running = pods.filter(({ container }) => container !== undefined).toSorted(byContainerName)
  const errorHelp = '1 if something could not be read.'

  function family(
    name: string,
    type: 'counter' | 'gauge',
    help: string,
    shown: readonly PodSample[],
    value: (pod: PodSample) => string,
  ): FamilyText {
    const withContainer = name.startsWith('container_')
    let text = ''
    for (const pod of shown) text += `${name}{${labelsOf(pod, withContainer)}} ${value(pod)}\n`
    return familyText(name, type, help, text)
  }

  return joinFamilies([
    family(
      'container_cpu_usage_seconds_total',
      'counter',
      '[STABLE] CPU time of the container, in core-seconds',
      running,
      ({ container }) => cpu(container!) + stamp,
    ),
    family(
      'container_memory_working_set_bytes',
      'gauge',
      '[STABLE] Working set of the container, in bytes',
      running,
      ({ container }) => memory(container!) + stamp,
    ),
    // The one family without a time of its own.
    family(
      'container_start_time_seconds',
      'gauge',
      '[STABLE] When the container started, in seconds since 1970',
      running,
      ({ container }) => formatShortest(container!.startedMs / 1000),
    ),
    singleText(
      'node_cpu_usage_seconds_total',
      'counter',
      '[STABLE] CPU time of the node, in core-seconds',
      cpu(sample.whole) + stamp,
    ),
    singleText(
      'node_memory_working_set_bytes',
      'gauge',
      '[STABLE] Working set of the node, in bytes',
      memory(sample.whole) + stamp,
    ),
    family(
      'pod_cpu_usage_seconds_total',
      'counter',
      '[STABLE] CPU time of the pod, in core-seconds',
      pods,
      ({ whole }) => cpu(whole) + stamp,
    ),
    family(
      'pod_memory_working_set_bytes',
      'gauge',
      '[STABLE] Working set of the pod, in bytes',
      pods,
      ({ whole }) => memory(whole) + stamp,
    ),
    singleText('resource_scrape_error', 'gauge', `[STABLE] ${errorHelp}`, '0'),
    singleText('scrape_error', 'gauge', `[ALPHA] (Deprecated since 1.29.0) ${errorHelp}`, '0'),
  ])
}

function cpu({ cpuMicros }: Use): string {
  return formatDecimal(cpuMicros, 6)
}

function memory({ memoryBytes }: Use): string {
  return formatDecimal(memoryBytes, 0)
}

function labelsOf({ pod }: PodSample, withContainer: boolean): string {
  const labels = `namespace="${pod.namespace}",pod="${pod.name}"`
  return withContainer ? `container="${pod.container}",${labels}` : labels
}

function byNamespaceAndName({ pod: a }: PodSample, { pod: b }: PodSample): number {
  if (a.namespace !== b.namespace) return a.namespace < b.namespace ? -1 : 1
  return a.name < b.name ? -1 : 1
}

/** Those of one name stay in the order of their pods. */
function byContainerName({ pod: a }: PodSample, { pod: b }: PodSample): number {
  return a.container === b.container ? 0 : a.container < b.container ? -1 : 1
}
