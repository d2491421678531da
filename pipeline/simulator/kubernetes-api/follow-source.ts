/** Keeps a store the same as whoever has the objects. */
import type { KubernetesObject, ObjectSource } from '../kubernetes-object.ts'
import type { ObjectStore } from './object-store.ts'

/** Takes over all objects of a source, with their versions, and every change from now on, until the returned function is called. */
export function followSource(store: ObjectStore, source: ObjectSource): () => void {
  // In the order of versions all of them can be kept. Nothing needs to be checked: the source knows its objects.
  const objects = [...source.objects()].sort((a, b) => versionOf(a) - versionOf(b))
  store.apply(objects.map(object => ({ type: 'ADDED', object })))
  return source.watch(change => store.apply([change]))
}

function versionOf({ metadata }: KubernetesObject): number {
  return Number(metadata.resourceVersion)
}
