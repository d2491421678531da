/**
 * Keeps state on disk: maps, in parts of a fixed number, so that one change does not write everything. Parts take turns, and all are
 * written at the end.
 */
import type { Log, StateStore } from '../../pipeline/component.ts'

export type KeptMap = {
  readonly name: string
  readonly map: Map<string, unknown>
  /** Written with all others of which this is said, because what is in them is true only together. */
  readonly isTogether?: true
}

export type KeptState = {
  load(): Promise<void>
  /** Writes some of the parts, those whose turn it is. */
  save(): void
  /** Writes all. Resolves when they are safe. */
  saveAll(): Promise<void>
}

const PARTS = 16
const ALL_PARTS: readonly number[] = Array.from({ length: PARTS }, (_, part) => part)
/** At each turn: after four turns everything has been written. */
const PARTS_A_TURN = 4

/** What is on disk for a part, where nobody can tell: it is written again, or deleted, whatever it is to be. */
const NOT_KNOWN = 'not known'

export function createKeptState(store: StateStore, maps: readonly KeptMap[], log: Log): KeptState {
  const written = new Map<string, string>()
  let turn = 0
  let isLoaded = false

  function changesOf(parts: readonly number[]): Map<string, Uint8Array | undefined> {
    const changes = new Map<string, Uint8Array | undefined>()
    for (const { name, map, isTogether } of maps) {
      const its = isTogether !== true ? parts : parts.includes(0) ? ALL_PARTS : []
      const entries = new Map<number, [string, unknown][]>(its.map(part => [part, []]))
      for (const [key, value] of map) entries.get(partOf(key))?.push([key, value])
      for (const [part, pairs] of entries) {
        const key = `${name}/${part}`
        const text = pairs.length === 0 ? '' : JSON.stringify(pairs)
        if (text === (written.get(key) ?? '')) continue
        written.set(key, text)
        changes.set(key, text === '' ? undefined : Buffer.from(text))
      }
    }
    return changes
  }

  async function write(parts: readonly number[]): Promise<void> {
    if (!isLoaded) return
    const changes = changesOf(parts)
    if (changes.size === 0) return
    try {
      await store.write(changes)
      log.state('the state on disk', 'ok')
    } catch (error) {
      // It is tried again with the next change.
      for (const key of changes.keys()) written.set(key, NOT_KNOWN)
      log.state('the state on disk', 'failing', (error as Error).message)
    }
  }

  return {
    async load() {
      try {
        for (const [key, bytes] of await store.load()) read(key, bytes)
      } catch (error) {
        log.warn(`starting without earlier state: ${(error as Error).message}`)
      }
      isLoaded = true
    },
    save() {
      const parts = Array.from({ length: PARTS_A_TURN }, (_, i) => (turn * PARTS_A_TURN + i) % PARTS)
      turn++
      void write(parts)
    },
    saveAll: () => write(ALL_PARTS),
  }

  /** A part that cannot be read costs what is in it. What has been learnt meanwhile is newer. */
  function read(key: string, bytes: Uint8Array): void {
    const text = Buffer.from(bytes).toString()
    const { map } = maps.find(({ name }) => key.startsWith(`${name}/`)) ?? {}
    if (map === undefined) return
    try {
      for (const [name, value] of JSON.parse(text) as [string, unknown][]) if (!map.has(name)) map.set(name, value)
      written.set(key, text)
    } catch (error) {
      written.set(key, NOT_KNOWN)
      log.warn(`a part of the state cannot be read and is left out: ${(error as Error).message}`, { part: key })
    }
  }
}

function partOf(key: string): number {
  let hash = 0
  for (let i = 0; i < key.length; i++) hash = (hash * 31 + key.charCodeAt(i)) >>> 0
  return hash % PARTS
}
