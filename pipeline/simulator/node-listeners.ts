/** Listeners of single nodes: a dcgm-exporter at a port of its own, as in a real cluster, that can also refuse. */
import type { Clock, Listener, Network } from '../component.ts'
import type { SimulatedNode } from './node.ts'
import { createRequestHandler, type ServerParts } from './server.ts'

export type NodeListeners = {
  readonly addresses: readonly string[]
  open(nodes: readonly SimulatedNode[]): Promise<void>
  /** Closes the listeners of nodes that refuse just now, and opens those of nodes that do not any more. */
  misbehave(timeMs: number): void
  close(deadlineMs: number): Promise<void>
}

type Entry = {
  readonly name: string
  /** Where it listens; the true port as soon as it has one. */
  endpoint: string
  listener: Listener | undefined
  /** A change that is under way: there is one at a time. */
  change: Promise<void> | undefined
}

export type NodeListenerParts = {
  readonly network: Network
  readonly clock: Clock
  readonly parts: ServerParts
  /** Of the listener for everything, as it was asked for: nodes have the ports after it, or any if that is 0. */
  readonly endpoint: string
}

export function createNodeListeners({ network, clock, parts, endpoint }: NodeListenerParts): NodeListeners {
  const entries: Entry[] = []
  let closed = false

  async function listen(entry: Entry): Promise<void> {
    entry.listener = await network.listen(entry.endpoint, createRequestHandler(parts, `/nodes/${entry.name}`))
    entry.endpoint = entry.listener.address
  }

  /** What cannot be done now is tried again with the next tick. */
  async function change(entry: Entry, work: Promise<void>): Promise<void> {
    try {
      await work
    } catch {
      // The port is taken for a moment.
    } finally {
      entry.change = undefined
    }
  }

  return {
    get addresses() {
      return entries.map(entry => entry.endpoint)
    },
    async open(nodes) {
      for (const { name, index } of nodes) {
        const entry: Entry = { name, endpoint: nodeEndpoint(endpoint, index), listener: undefined, change: undefined }
        entries.push(entry)
        await listen(entry)
      }
    },
    misbehave(timeMs) {
      for (const entry of entries) {
        if (entry.change !== undefined || closed) continue
        const active = parts.faults.active('dcgm_exporter', entry.name, timeMs)
        const refuses = active.some(({ kind }) => kind === 'refuse' || kind === 'restart')
        const { listener } = entry
        if (refuses && listener !== undefined) {
          entry.listener = undefined
          entry.change = change(entry, listener.close(clock.monotonic()))
        } else if (!refuses && listener === undefined) {
          entry.change = change(entry, listen(entry))
        }
      }
    },
    async close(deadlineMs) {
      closed = true
      await Promise.all(
        entries.map(async entry => {
          await entry.change
          await entry.listener?.close(deadlineMs)
        }),
      )
    },
  }
}

/** The address of a node's own listener. */
export function nodeEndpoint(endpoint: string, nodeIndex: number): string {
  const colon = endpoint.lastIndexOf(':')
  const port = Number(endpoint.slice(colon + 1))
  return `${endpoint.slice(0, colon)}:${port === 0 ? 0 : port + 1 + nodeIndex}`
}
