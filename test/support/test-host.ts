/** A host for unit tests: time stands still, the network is not there, and what is logged and counted can be looked at. */
import { createCatalogs } from '../../pipeline/catalog/catalogs.ts'
import type { Counters, Host, Log, LogFields } from '../../pipeline/component.ts'
import { createVirtualClock, type VirtualClock } from '../../pipeline/clock/virtual-clock.ts'
import { createVirtualNetwork, type VirtualNetwork } from '../../pipeline/http/virtual-network.ts'
import { createTracked, type Tracked } from '../../pipeline/model/tracked.ts'
import { packageFile } from '../../pipeline/package-files.ts'
import { createDemand } from '../../pipeline/graph/demand.ts'
import { createMemoryStorage } from '../../pipeline/storage/memory-storage.ts'

export type TestHost = Host & {
  readonly clock: VirtualClock
  readonly network: VirtualNetwork
  /** `warn: the message key=value`; for states `failing subject: message`, `ok subject`, `gone subject`, changes only. */
  readonly logged: string[]
  /**
   * Sums by name over all labels, and by `name{label="value"}`. A histogram has `name_count` and `name_sum`. What is observed is
   * not in here: ask `observed`.
   */
  readonly counted: Map<string, number>
  /** What an observed metric shows now, by `{label="value"}`, or '' without labels. */
  observed(name: string): Map<string, number>
}

/** Where the virtual clock stands at first: 2023-11-14T22:13:20Z. */
export const TEST_START_MS = 1_700_000_000_000

/** Overrides replace parts; a clock of one's own also drives the virtual network. */
export function testHost<O extends Partial<Host> = Record<never, never>>(overrides?: O): Omit<TestHost, keyof O> & O {
  const clock = overrides?.clock ?? createVirtualClock(TEST_START_MS)
  const logged: string[] = []
  const counted = new Map<string, number>()
  const readers = new Map<string, Set<Reader>>()
  const tables = new Map<string, Tracked<unknown>>()
  const host = {
    id: 'test',
    log: recordingLog(logged),
    counters: recordingCounters(counted, readers),
    clock,
    network: createVirtualNetwork(clock),
    cluster: {
      table<V>(kind: string): Tracked<V> {
        let table = tables.get(kind)
        if (table === undefined) tables.set(kind, (table = createTracked<unknown>()))
        return table as Tracked<V>
      },
    },
    catalogs: createCatalogs(packageFile('configs', 'catalogs')),
    storage: createMemoryStorage(clock),
    memory: { read: () => ({ residentBytes: 0, heapBytes: 0 }), limits: { residentBytes: 1, heapBytes: 1 } },
    demand: createDemand(),
    logged,
    counted,
    observed(name: string) {
      const values = new Map<string, number>()
      for (const read of readers.get(name) ?? []) {
        for (const { value, labels } of read()) values.set(labelText(labels), value)
      }
      return values
    },
    ...overrides,
  }
  return host as unknown as Omit<TestHost, keyof O> & O
}

type Reader = Parameters<Counters['observe']>[1]
type CounterLabels = Readonly<Record<string, string>> | undefined

function recordingLog(logged: string[]): Log {
  const failing = new Set<string>()
  const record =
    (level: string) =>
    (message: string, fields: LogFields = {}): void => {
      const pairs = Object.entries(fields).filter(([, value]) => value !== undefined)
      logged.push([`${level}: ${message}`, ...pairs.map(([name, value]) => `${name}=${value}`)].join(' '))
    }
  return {
    debug: record('debug'),
    info: record('info'),
    warn: record('warn'),
    error: record('error'),
    state(subject, state, message) {
      if (failing.has(subject) === (state === 'failing')) return
      if (state === 'failing') failing.add(subject)
      else failing.delete(subject)
      logged.push(`${state} ${subject}${message === undefined ? '' : `: ${message}`}`)
    },
  }
}

function recordingCounters(counted: Map<string, number>, readers: Map<string, Set<Reader>>): Counters {
  function add(name: string, amount: number, labels: CounterLabels): void {
    counted.set(name, (counted.get(name) ?? 0) + amount)
    const text = labelText(labels)
    if (text !== '') counted.set(name + text, (counted.get(name + text) ?? 0) + amount)
  }
  function record(name: string, value: number, labels: CounterLabels): void {
    add(`${name}_count`, 1, labels)
    add(`${name}_sum`, value, labels)
  }
  return {
    add,
    record,
    counter: (name, labels) => amount => add(name, amount, labels),
    histogram: (name, labels) => value => record(name, value, labels),
    observe(name, read) {
      const known = readers.get(name) ?? new Set()
      readers.set(name, known.add(read))
      return () => known.delete(read)
    },
  }
}

function labelText(labels: CounterLabels): string {
  const pairs = Object.entries(labels ?? {}).sort(([a], [b]) => (a < b ? -1 : 1))
  return pairs.length === 0 ? '' : `{${pairs.map(([name, value]) => `${name}="${value}"`).join(',')}}`
}
