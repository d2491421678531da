/** Who reads the owners of which kind: one reader for each kind that is referred to. Pods are read anyway. */
import type { OwnerReference } from '../../pipeline/cluster/objects.ts'
import type { Clock } from '../../pipeline/component.ts'
import { createKindReader, type KindReader, type KindReaderOptions } from './kind-reader.ts'
import type { OwnerReader } from './owners.ts'

export type OwnerReaders = {
  of(reference: OwnerReference): OwnerReader
  stop(): void
}

/** Jobs come and go: a kind that nothing refers to any more may be needed again soon. */
const IDLE_MS = 300_000

export type OwnerReadersOptions = KindReaderOptions & {
  readonly clock: Clock
  readonly pods: OwnerReader
}

export function createOwnerReaders(options: OwnerReadersOptions): OwnerReaders {
  const { clock, pods } = options
  const readers = new Map<string, KindReader>()
  const idle = new Map<string, () => void>()

  function create(name: string, group: string, kind: string): KindReader {
    const reader = createKindReader({ group, kind }, options)
    const kept: KindReader = {
      get size() {
        return reader.size
      },
      want(wanted) {
        idle.get(name)?.()
        idle.delete(name)
        reader.want(wanted)
      },
      release(wanted) {
        reader.release(wanted)
        if (reader.size > 0 || idle.has(name)) return
        const cancel = clock.after(IDLE_MS, () => {
          idle.delete(name)
          readers.delete(name)
          reader.stop()
        })
        idle.set(name, cancel)
      },
      stop: () => reader.stop(),
    }
    readers.set(name, kept)
    return kept
  }

  return {
    of({ group = '', kind }) {
      if (group === '' && kind === 'Pod') return pods
      const name = `${kind}.${group}`
      return readers.get(name) ?? create(name, group, kind)
    },
    stop() {
      for (const cancel of idle.values()) cancel()
      for (const reader of readers.values()) reader.stop()
    },
  }
}
