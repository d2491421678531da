/** Which devices a pod has and by which rule, and why it has not those that name it. It decides nothing itself. */
import { assignDevice } from './assign-device.ts'
import type { AssignmentRules } from './assignment-rules.ts'
import type { FoundPod, PodReader } from './find-pod.ts'
import { marksOf } from './gpu-marks.ts'
import type { Holder, SeenDevice } from './seen.ts'

export type ExplainedDevice = {
  readonly device: SeenDevice
  readonly node: string | undefined
  /** Those of the pod that the exporter names. */
  readonly containers: readonly string[]
  readonly isShared: boolean
  /** What the pod has of it, 0 if it is only named. */
  readonly share: number
  readonly because: string
}

/** `namespace` is undefined where any is meant. */
export type Asked = { readonly name: string; readonly namespace: string | undefined }

/** Undefined if no devices are known at all. */
export function explainDevices(
  reader: PodReader,
  asked: Asked,
  found: FoundPod | undefined,
  rules: AssignmentRules,
): ExplainedDevice[] | undefined {
  const { devices } = reader.seen
  if (devices.size === 0) return undefined
  const mayBeUnnamed = found !== undefined && marksOf(found.pod).length > 0
  const explained: ExplainedDevice[] = []
  for (const device of devices.values()) {
    const named = device.holders.filter(holder => isNamed(holder, asked))
    if (named.length > 0 || mayBeUnnamed) explained.push(...explainDevice(reader, device, named, asked, rules))
  }
  return explained
}

function isNamed({ pod, namespace }: Holder, asked: Asked): boolean {
  return pod === asked.name && (asked.namespace === undefined || (namespace ?? asked.namespace) === asked.namespace)
}

/** One for each job that runs inside of the pod, else one. */
function explainDevice(
  reader: PodReader,
  device: SeenDevice,
  named: readonly Holder[],
  { name, namespace }: Asked,
  rules: AssignmentRules,
): ExplainedDevice[] {
  const { node, holdings, passed, isShared } = assignDevice(reader, device, rules)
  const containers = named.map(({ container }) => container).filter(container => container !== undefined)
  const common = { device, node, containers, isShared }
  const held = holdings.filter(
    ({ pod }) => pod?.pod.name === name && (namespace === undefined || pod.pod.namespace === namespace),
  )
  if (held.length > 0) {
    return held.map(({ share, job, because }) => ({
      ...common,
      share,
      because: job === undefined ? because : `${because} ${job}`,
    }))
  }
  if (named.length === 0) return []
  const reason = passed.find(({ holder }) => named.includes(holder))?.because
  return [{ ...common, share: 0, because: reason ?? 'it only reserves the GPU for others' }]
}
