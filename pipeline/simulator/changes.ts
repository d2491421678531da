/** Gives every change its resourceVersion and tells those who watch. Objects are built only if somebody does. */
import type { KubernetesObject, ObjectChange } from './kubernetes-object.ts'

type Versioned = { version: number }

export class Changes {
  #listeners = new Set<(change: ObjectChange) => void>()
  /** The first versions of a cluster are behind it when it comes into being. */
  version = 1000

  watch(listener: (change: ObjectChange) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  record<T extends Versioned>(type: ObjectChange['type'], subject: T, build: (subject: T) => KubernetesObject): void {
    subject.version = ++this.version
    if (this.#listeners.size === 0) return
    const change = { type, object: build(subject) }
    for (const listener of this.#listeners) listener(change)
  }
}
