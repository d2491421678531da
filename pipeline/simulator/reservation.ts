/** The pods that hold a GPU for those who share it. */
import { RESERVATION_NAMESPACES } from './namespaces.ts'
import type { FractionGroup } from './placement.ts'
import { podIpOf } from './pod-address.ts'
import type { Pod, Sharer } from './pod.ts'
import type { Random } from './random.ts'

type Style = Pick<Pod, 'labels' | 'annotations' | 'container' | 'image' | 'schedulerName'>

type ReservationStyle = {
  readonly prefix: string
  style(name: string, uid: string): Style
}

const STYLES: Readonly<Record<Sharer, ReservationStyle>> = {
  runai: {
    prefix: 'runai-reservation-gpu',
    style: (name, uid) => ({
      labels: { app: 'runai-reservation', 'app.runai.resource.reservation': 'runai-reservation-gpu' },
      annotations: { 'runai-job-id': uid, 'pod-group-name': `pg-${name}-${uid}` },
      container: 'runai-reservation',
      image: 'registry.example.com/runai/resource-reservation:2.17',
      schedulerName: 'runai-scheduler',
    }),
  },
  kai: {
    prefix: 'gpu-reservation',
    style: () => ({
      labels: { app: 'kai-resource-reservation' },
      annotations: { 'karpenter.sh/do-not-disrupt': 'true' },
      container: 'resource-reservation',
      image: 'registry.example.com/kai/resource-reservation:0.9',
      schedulerName: 'default-scheduler',
    }),
  },
}

/** For a group that has an id. */
export function makeReservation({ node, device, sharedBy, id }: FractionGroup, random: Random, timeMs: number): Pod {
  const uid = random.uuid()
  const { prefix, style } = STYLES[sharedBy]
  const name = `${prefix}-${node.name}-${random.suffix(5)}`
  const { labels, annotations, ...rest } = style(name, uid)
  return {
    name,
    namespace: RESERVATION_NAMESPACES[sharedBy],
    uid,
    labels: { ...labels, 'runai-gpu-group': id! },
    annotations: { ...annotations, 'run.ai/reserve_for_gpu_index': device.gpu.uuid },
    ...rest,
    restartPolicy: 'Always',
    request: { kind: 'whole', count: 1 },
    cpuMillis: 0,
    memoryMiB: 0,
    createdMs: timeMs,
    phase: 'Running',
    nodeName: node.name,
    podIp: podIpOf(random),
    claims: [],
    scheduledMs: timeMs,
    runningMs: timeMs,
    restarts: 0,
    version: 0,
  }
}
