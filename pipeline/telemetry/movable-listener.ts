/** A listener that can move to another address while the process runs, and stays where it is if it cannot. */
import { deadlineIn } from '../clock/deadline.ts'
import type { Clock, Listener, Network } from '../component.ts'
import { clashes, parseEndpoint } from '../config/endpoint.ts'

export type MovableListener = {
  /** Where it listens, with the true port; undefined while it does not. */
  address(): string | undefined
  /** Does nothing if it is there already. `none` is nowhere. */
  moveTo(address: string): Promise<void>
  close(deadlineMs: number): Promise<void>
}

/** For requests that are still to be answered at the old address. */
const CLOSE_MS = 5_000

export function createMovableListener(
  network: Network,
  clock: Clock,
  handle: Parameters<Network['listen']>[1],
): MovableListener {
  let address = 'none'
  let listener: Listener | undefined

  async function moveTo(wanted: string): Promise<void> {
    if (wanted === address) return
    const old = listener
    if (old !== undefined && wanted !== 'none' && clashes(parseEndpoint(wanted), parseEndpoint(address))) {
      await reopen(old, wanted)
    } else {
      listener = wanted === 'none' ? undefined : await network.listen(wanted, handle)
      await old?.close(deadlineIn(clock, CLOSE_MS))
    }
    address = wanted
  }

  /** From 127.0.0.1:8888 to 0.0.0.0:8888: the port is not free before the old listener is gone. */
  async function reopen(old: Listener, wanted: string): Promise<void> {
    listener = undefined
    await old.close(deadlineIn(clock, CLOSE_MS))
    try {
      listener = await network.listen(wanted, handle)
    } catch (error) {
      listener = await network.listen(address, handle)
      throw error
    }
  }

  return {
    address: () => listener?.address,
    moveTo,
    async close(deadlineMs) {
      const old = listener
      listener = undefined
      address = 'none'
      await old?.close(deadlineMs)
    },
  }
}
