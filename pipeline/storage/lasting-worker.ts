/**
 * The worker of a directory, and another one in its place whenever it dies: the next has open what the one before had, and is asked once
 * more what that has not answered. Nothing that can be asked does harm if it is done twice.
 */
import { sleep } from '../clock/sleep.ts'
import type { Clock, Log } from '../component.ts'
import { startWorker, type WorkerClient } from './worker-client.ts'
import type { WorkerCalls } from './worker-messages.ts'

export type LastingWorker = Pick<WorkerClient, 'ask' | 'close'> & {
  /** Asks now, and each worker that comes later, before anybody else does; `opened` is told every answer. */
  open<K extends 'openState' | 'openQueue'>(
    kind: K,
    ask: WorkerCalls[K]['ask'] & { readonly name?: string },
    opened: (answer: WorkerCalls[K]['answer']) => void,
  ): Promise<void>
}

/** How long the process that had the directory before may take to end. */
const LOCK_WAIT_MS = 30_000
const LOCK_RETRY_MS = 250

/** One that dies is replaced at once, but later and later where those before it died soon. */
const STEADY_MS = 60_000
const FIRST_DELAY_MS = 1000
const LONGEST_DELAY_MS = 60_000

/** Resolves once the directory is locked. Rejects with a sentence if it cannot be had. */
export async function openLastingWorker(path: string, log: Log, clock: Clock): Promise<LastingWorker> {
  const subject = `the store in ${path}`
  const openings = new Map<string, (worker: WorkerClient) => Promise<void>>()
  let worker = start()
  /** Set while there is none: settles when the next is ready, or it is known that there is none yet. */
  let replacing: Promise<void> | undefined
  let cancelReplacing: (() => void) | undefined
  let readyMs = -Infinity
  let delayMs = 0
  let isOpen = false
  let closing: Promise<void> | undefined

  function start(): WorkerClient {
    const started = startWorker({
      died(error) {
        if (!isOpen || started !== worker) return
        if (clock.monotonic() - readyMs >= STEADY_MS) delayMs = 0
        replaceLater(error)
      },
      notice: message => log.warn(message),
    })
    return started
  }

  function ready(): void {
    isOpen = true
    readyMs = clock.monotonic()
  }

  function replaceLater(error: Error): void {
    isOpen = false
    if (closing !== undefined) return
    log.state(subject, 'failing', `${error.message}; it is started again`)
    if (delayMs === 0) replacing = replace()
    else cancelReplacing = clock.after(delayMs, () => void (replacing = replace()))
    delayMs = Math.min(Math.max(2 * delayMs, FIRST_DELAY_MS), LONGEST_DELAY_MS)
  }

  async function replace(): Promise<void> {
    worker = start()
    try {
      const { busy } = await worker.ask('open', { directory: path })
      if (busy) throw new Error(`another process uses ${path}`)
      for (const opens of openings.values()) await opens(worker)
      ready()
      log.state(subject, 'ok')
    } catch (error) {
      await worker.close()
      replaceLater(error as Error)
    } finally {
      replacing = undefined
    }
  }

  /** At once where that is possible: what is asked for before the end is done before it. */
  function whenReady<T>(use: (worker: WorkerClient) => Promise<T>): Promise<T> {
    if (replacing !== undefined) return replacing.then(() => whenReady(use))
    if (isOpen || closing !== undefined) return use(worker)
    return Promise.reject(new Error('the store has failed and is not started again yet'))
  }

  async function onceMore<T>(use: (worker: WorkerClient) => Promise<T>): Promise<T> {
    const first = worker
    try {
      return await whenReady(use)
    } catch (error) {
      if (replacing === undefined && worker === first) throw error
      return whenReady(use)
    }
  }

  try {
    await lock(worker, path, log, clock)
  } catch (error) {
    await worker.close()
    throw error
  }
  ready()
  return {
    ask: (kind, ask) => onceMore(its => its.ask(kind, ask)),
    async open(kind, ask, opened) {
      const opens = async (its: WorkerClient): Promise<void> => opened(await its.ask(kind, ask))
      await onceMore(opens)
      openings.set(`${kind} ${ask.name ?? ''}`, opens)
    },
    close() {
      cancelReplacing?.()
      closing ??= replacing === undefined ? worker.close() : replacing.then(() => worker.close())
      return closing
    },
  }
}

/** Waits for a process that still has it. */
async function lock(worker: WorkerClient, path: string, log: Log, clock: Clock): Promise<void> {
  const deadlineMs = clock.monotonic() + LOCK_WAIT_MS
  for (let waited = false; ; waited = true) {
    const { busy } = await worker.ask('open', { directory: path })
    if (!busy) return
    if (!waited) log.info(`waiting for another process to leave ${path}`)
    if (clock.monotonic() >= deadlineMs) throw new Error(`another process uses ${path}`)
    await sleep(clock, LOCK_RETRY_MS)
  }
}
