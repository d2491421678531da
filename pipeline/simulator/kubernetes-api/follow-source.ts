/** Keeps a store the same as whoever has the objects. */
import type { ObjectSource } from '../kubernetes-object.ts'
import type { ObjectStore } from './object-store.ts'

/** Takes over all objects of a source, with their versions, and every change from now on, until the returned function is called. */
export function followSource(store: ObjectStore, source: ObjectSource): () => void {
  store.replaceAll([...source.objects()])
  return source.watch(change => store.apply([change]))
}
