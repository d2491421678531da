/**
 * The cgroups of a node as cAdvisor shows them: the node and the slices above the pods without any name of a pod, each pod as a whole
 * and the container that holds its network without a name of a container, and the containers themselves. Whoever adds up all rows
 * counts everything several times.
 */
import { sumOf, type NodeSample, type PodSample, type Use } from '../accounting.ts'
import { containerHash } from '../objects/pod.ts'
import { qosClassOf, type Pod } from '../pod.ts'

export type CgroupKind = 'node' | 'slice' | 'pod' | 'pause' | 'container'

export type Cgroup = {
  readonly kind: CgroupKind
  readonly labels: CgroupLabels
  readonly use: Use
  readonly startedMs: number
  readonly cpuShares: number
  /** CPU time of those whose network is held here: as much as they do, they send and receive. */
  readonly networkMicros: number
}

/** The labels in three parts: a family's own labels stand between them, as names of labels are in order. */
export type CgroupLabels = {
  readonly container: string
  readonly id: string
  readonly name: string
}

const PAUSE_IMAGE = 'registry.example.com/pause:3.10.1'
const LEAST_SHARES = 2

/** In the order of their labels. */
export function createCgroupReader(): (sample: NodeSample) => Cgroup[] {
  const labelsOfPod = new WeakMap<Pod, PodLabels>()

  function cgroupsOfPod(pod: PodSample, bootMs: number, into: { unnamed: Cgroup[]; named: Cgroup[] }): void {
    let labels = labelsOfPod.get(pod.pod)
    if (labels === undefined || labels.restarts !== (pod.container?.restarts ?? labels.restarts)) {
      labelsOfPod.set(pod.pod, (labels = podLabels(pod)))
    }
    const { scheduledMs, cpuMillis } = pod.pod
    const cpuShares = Math.max(LEAST_SHARES, Math.floor((cpuMillis * 1024) / 1000))
    const whole = { startedMs: Math.max(scheduledMs ?? 0, bootMs), cpuShares, networkMicros: pod.whole.cpuMicros }
    into.unnamed.push(
      { kind: 'pod', labels: labels.pod, use: pod.whole, ...whole },
      { kind: 'pause', labels: labels.pause, use: pod.pause, ...whole, cpuShares: LEAST_SHARES },
    )
    if (pod.container === undefined) return
    const { startedMs } = pod.container
    into.named.push({ ...whole, kind: 'container', labels: labels.container, use: pod.container, startedMs })
  }

  return sample => {
    const unnamed = slicesOf(sample)
    const named: Cgroup[] = []
    for (const pod of sample.pods) cgroupsOfPod(pod, sample.bootMs, { unnamed, named })
    return [...unnamed.sort(byLabels), ...named.sort(byLabels)]
  }
}

type PodLabels = {
  readonly restarts: number
  readonly pod: CgroupLabels
  readonly pause: CgroupLabels
  readonly container: CgroupLabels
}

function podLabels({ pod, container }: PodSample): PodLabels {
  const restarts = container?.restarts ?? pod.restarts
  const folder = `/kubepods/${qosClassOf(pod).toLowerCase()}/pod${pod.uid}`
  const pause = `${pod.uid.replaceAll('-', '')}fe`
  const main = containerHash(pod, restarts)
  return {
    restarts,
    pod: makeLabels({ id: folder, pod }),
    pause: makeLabels({ id: `${folder}/${pause}`, image: PAUSE_IMAGE, name: pause, pod }),
    container: makeLabels({ id: `${folder}/${main}`, image: pod.image, name: main, pod, container: pod.container }),
  }
}

function slicesOf({ bootMs, classes, services, whole }: NodeSample): Cgroup[] {
  const slice = (id: string, use: Use, kind: CgroupKind = 'slice'): Cgroup => ({
    kind,
    labels: makeLabels({ id }),
    use,
    startedMs: bootMs,
    cpuShares: 1024,
    networkMicros: use.cpuMicros,
  })
  return [
    slice('/', whole, 'node'),
    slice('/kubepods', sumOf(Object.values(classes))),
    slice('/kubepods/besteffort', classes.BestEffort),
    slice('/kubepods/burstable', classes.Burstable),
    ...services.map(service => slice(`/system.slice/${service.name}`, service)),
  ]
}

function makeLabels(parts: { id: string; image?: string; name?: string; pod?: Pod; container?: string }): CgroupLabels {
  const { id, image = '', name = '', pod, container = '' } = parts
  return {
    container: `container="${container}"`,
    id: `,id="${id}",image="${image}"`,
    name: `,name="${name}",namespace="${pod?.namespace ?? ''}",pod="${pod?.name ?? ''}"`,
  }
}

function byLabels({ labels: a }: Cgroup, { labels: b }: Cgroup): number {
  if (a.container !== b.container) return a.container < b.container ? -1 : 1
  return a.id < b.id ? -1 : 1
}
