/** The last values of series that are away: after a restart of the process or of a target, they may come back. */
import type { StateStore } from '../component.ts'
import { labelPairs } from '../model/labels.ts'
import { scaleOf, type Scale } from '../model/scale.ts'
import type { Series } from '../model/series.ts'

/** A number as its source wrote it, with the scale that it has. */
export type Last = { readonly value: number; readonly timeMs: number; readonly scale: Scale }

export type Parked = {
  readonly size: number
  put(series: Series, last: Last): void
  /** Takes a series out; undefined if it is not there, or was written in another scale, which would look like a new beginning. */
  take(series: Series, scale: Scale): Last | undefined
  /** Forgets what is older. */
  expire(beforeMs: number): void
  load(store: StateStore): Promise<void>
  save(store: StateStore): Promise<void>
}

type Row = readonly [key: string, value: number, timeMs: number, multiply: number, divide: number]

/** So many series make one entry of the store. */
const ROWS = 10_000

export function createParked(): Parked {
  const lasts = new Map<string, Last>()
  return {
    get size() {
      return lasts.size
    },
    put: (series, last) => void lasts.set(keyOf(series), last),
    take(series, scale) {
      if (lasts.size === 0) return undefined
      const key = keyOf(series)
      const last = lasts.get(key)
      lasts.delete(key)
      return last?.scale === scale ? last : undefined
    },
    expire(beforeMs) {
      for (const [key, { timeMs }] of lasts) if (timeMs < beforeMs) lasts.delete(key)
    },
    /**
     * What is loaded is deleted at once: after a kill it would be older than what was handed on since, and that would be handed on
     * again. So increases may be lost then, but none counts twice.
     */
    async load(store) {
      const entries = await store.load()
      await store.write(new Map(Array.from(entries.keys(), key => [key, undefined])))
      for (const bytes of entries.values()) {
        for (const [key, value, timeMs, multiply, divide] of JSON.parse(Buffer.from(bytes).toString()) as Row[]) {
          if (!lasts.has(key)) lasts.set(key, { value, timeMs, scale: scaleOf(multiply, divide) })
        }
      }
    },
    async save(store) {
      const rows = Array.from(lasts, ([key, { value, timeMs, scale }]): Row => [
        key,
        value,
        timeMs,
        scale.multiply,
        scale.divide,
      ])
      const entries = new Map<string, Uint8Array>()
      for (let i = 0; i < rows.length; i += ROWS) {
        entries.set(String(i / ROWS), Buffer.from(JSON.stringify(rows.slice(i, i + ROWS))))
      }
      await store.write(entries)
    },
  }
}

function keyOf({ metric, labels }: Series): string {
  return JSON.stringify([metric.name, ...labelPairs(labels).flat()])
}
