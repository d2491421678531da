/** Of several who tell of one pod, one counts. */
import type { Tracked } from '../model/tracked.ts'
import type { SeenTables } from './find-pod.ts'
import { nameKey } from './seen-names.ts'
import type { SeenObject } from './seen-object.ts'
import { podNameKey, type ClusterTables } from './tables.ts'

/** Reads a table, and takes note of it or not. */
export type Read = <V>(table: Tracked<V>, key: string) => V | undefined

/**
 * Whether the Kubernetes API, or another series, tells of the same pod, also that it is gone. One without uid is the pod that has
 * its name.
 */
export function isToldElsewhere(
  { namespace, name, uid }: SeenObject,
  read: Read,
  { pods, gonePods, podNames }: ClusterTables,
  { names }: SeenTables,
): boolean {
  if (uid !== undefined) return read(pods, uid) !== undefined || read(gonePods, uid) !== undefined
  if ((read(names, nameKey('Pod', namespace, name)) ?? []).length > 1) return true
  return read(podNames, podNameKey(namespace ?? '', name)) !== undefined
}
