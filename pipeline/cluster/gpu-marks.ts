/**
 * What pods say of the GPUs that they have, beside what exporters say: the group of those that share a GPU, the GPU that a
 * reservation pod holds for a group, and the instance that Run:ai made for a pod.
 *
 * A mark is a text that pods are found by. kube-state-metrics writes the group into the name of a label, where pods are in several
 * groups, so groups are compared in its spelling.
 */
import { getLabel, type Labels } from '../model/labels.ts'
import { BY_NOTHING } from './indexed.ts'
import { inAnySpelling, metricSpelling } from './look-up.ts'
import type { Pod } from './objects.ts'

const GROUP_LABELS = ['runai-gpu-group', 'runai_gpu_group']
/** Before the name of a group, on pods that have a part of several GPUs. */
const GROUP_PREFIXES = ['runai-gpu-group/', 'runai_gpu_group_']
/** It holds the UUID of the GPU, whatever its name says. */
const RESERVED_GPU = 'run.ai/reserve_for_gpu_index'
const MIG_DEVICE = 'runai-mig-device'
const ANNOTATIONS = [RESERVED_GPU, MIG_DEVICE].flatMap(name => [name, metricSpelling(name)])

const reservedGpu = inAnySpelling(RESERVED_GPU)
const migDevice = inAnySpelling(MIG_DEVICE)

function groupMark(group: string): string {
  return `group/${metricSpelling(group)}`
}

export function reservedMark(uuid: string): string {
  return `gpu/${uuid}`
}

/** `index` is the number of the board in its node, `instance` that of the GPU instance. */
export function instanceMark(node: string, index: string, instance: string): string {
  return `mig/${node}/${index}/${instance}`
}

/** What a pod is found by. Most pods have no mark. */
export function marksOf(pod: Pod): readonly string[] {
  const hasAnnotation = mayMark(pod.annotations)
  if (!hasAnnotation && !mayMark(pod.labels)) return BY_NOTHING
  const marks = groupsOf(pod)
  if (!hasAnnotation) return marks
  const uuid = reservedGpu(pod.annotations)
  const instance = instanceOf(pod)
  return [...marks, ...(uuid === undefined ? [] : [reservedMark(uuid)]), ...(instance === undefined ? [] : [instance])]
}

/** The marks of the groups that a pod is in. */
export function groupsOf({ labels }: Pod): string[] {
  if (!mayMark(labels)) return []
  const marks = new Set<string>()
  for (const name of labels.names) {
    if (GROUP_LABELS.includes(name)) marks.add(groupMark(getLabel(labels, name)!))
    const prefix = GROUP_PREFIXES.find(one => name.startsWith(one))
    if (prefix !== undefined) marks.add(groupMark(name.slice(prefix.length)))
  }
  return [...marks]
}

/** The number of the instance is told since Run:ai 2.9; before that only its place on the board, which does not tell the number. */
function instanceOf({ annotations, node }: Pod): string | undefined {
  const text = migDevice(annotations)
  if (text === undefined) return undefined
  try {
    const { gpuindex: index, gpuinstanceid: instance } = JSON.parse(text) as Record<string, unknown>
    return isNumber(index) && isNumber(instance) ? instanceMark(node, `${index}`, `${instance}`) : undefined
  } catch {
    return undefined
  }
}

/** Both are written with and without quotation marks. */
function isNumber(value: unknown): value is number | string {
  return /^\d+$/.test(`${value as string}`)
}

// Label sets of one kind of pods share their list of names.
const marking = new WeakMap<readonly string[], boolean>()

/** Whether labels or annotations have names that may be marks; `prefix` is what a source puts in front of names. */
export function mayMark({ names }: Labels, prefix = ''): boolean {
  let isMarking = marking.get(names)
  if (isMarking === undefined) {
    const beginnings = [...GROUP_LABELS, ...ANNOTATIONS].map(name => `${prefix}${name}`)
    isMarking = names.some(name => beginnings.some(one => name.startsWith(one)))
    marking.set(names, isMarking)
  }
  return isMarking
}
