/**
 * Keeps what waits in the store: writes what is new, takes away what is delivered, several at a time.
 *
 * What is safe on disk needs no place in memory but for a few bodies, so an outage of days costs some bytes a request. While the
 * disk takes nothing, what is new stays in memory, and is written when the disk takes it again.
 */
import { settledBy, timeLeft } from '../../pipeline/clock/deadline.ts'
import type { Host, QueueChanges, QueueStore } from '../../pipeline/component.ts'
import type { Entry } from './backlog.ts'

/** Bodies that are in memory although they are on disk: enough for what is sent at once when all is well. */
const KEPT_BYTES = 16 * 2 ** 20
/** Of what is written in one go; less where that failed, for a little may still find room. */
const WRITE_BYTES = 16 * 2 ** 20
const CAREFUL_WRITE_BYTES = 2 ** 20
const TRY_AGAIN_MS = 5000

export class Keeper {
  readonly store: QueueStore
  /** It did not take what was written last. */
  isFailing = false
  readonly #host: Host
  readonly #unsaved = new Set<Entry>()
  #saving: ReadonlySet<Entry> = new Set()
  /** Those that were delivered while they were being written. */
  readonly #goneMeanwhile = new Set<Entry>()
  #removed: number[] = []
  /** Of those that are to be taken away, and of those of them that are being taken away. */
  #removedBytes = 0
  #leavingBytes = 0
  #tried = new Map<number, boolean>()
  #keptBytes = 0
  #unsavedBytes = 0
  #savedPoints = 0
  #writeBytes = WRITE_BYTES
  #work: Promise<void> | undefined
  #cancelRetry: (() => void) | undefined
  #isClosed = false

  constructor(store: QueueStore, host: Host) {
    this.store = store
    this.#host = host
  }

  /** Points that survive the end of the process, however it ends. */
  get safePoints(): number {
    return this.store.persistent ? this.#savedPoints : 0
  }

  /** Bodies that should be on disk and are not. */
  get unsafeBytes(): number {
    return this.store.persistent ? this.#unsavedBytes : 0
  }

  /** Bodies that are on disk although nobody wants them any more: as soon as they can be taken away, there is so much room. */
  get leavingBytes(): number {
    return this.#removedBytes + this.#leavingBytes
  }

  /** Entries that were in the store when it was opened. */
  restored(entries: Iterable<Entry>): void {
    for (const { points } of entries) this.#savedPoints += points
  }

  save(entry: Entry): void {
    this.#unsaved.add(entry)
    this.#unsavedBytes += entry.bytes
    this.#wake()
  }

  /** It is delivered, or dropped. */
  forget(entry: Entry): void {
    if (this.#unsaved.delete(entry)) {
      this.#unsavedBytes -= entry.bytes
      this.#removeAttempted(entry)
    } else if (this.#saving.has(entry)) {
      this.#goneMeanwhile.add(entry)
    } else if (entry.isStored) {
      this.#removed.push(entry.id!)
      this.#removedBytes += entry.bytes
      this.#savedPoints -= entry.points
      if (entry.body !== undefined) this.#keptBytes -= entry.bytes
      this.#wake()
    }
    entry.body = undefined
  }

  /** An attempt has begun or ended: after a sudden end it must be known whether it may have arrived. */
  mark(entry: Entry): void {
    const isTried = mayHaveArrived(entry)
    if (!entry.isStored || entry.isMarked === isTried) return
    entry.isMarked = isTried
    this.#tried.set(entry.id!, isTried)
    this.#wake()
  }

  /** Undefined if the store does not have it any more as it was written. Rejects if the store cannot be asked. */
  async bodyOf(entry: Entry): Promise<Uint8Array | undefined> {
    return entry.body ?? (await this.store.read(entry.id!))
  }

  /** The oldest of those that are only in memory. */
  oldestUnsafe(): Entry | undefined {
    return this.#unsaved.values().next().value
  }

  /** Writes what there is to write, by the deadline, and gives the store back. `loses` is told what nobody will ever send. */
  async close(deadlineMs: number, loses: (points: number) => void): Promise<void> {
    const { clock } = this.#host
    this.#tryAgain()
    const work = this.#work ?? Promise.resolve()
    // In memory it takes no time.
    if (!this.store.persistent) await work
    else if (timeLeft(clock, deadlineMs) > 0) await settledBy(clock, deadlineMs, work)
    this.#isClosed = true
    this.#stopWaiting()
    const unsaved = [...this.#unsaved, ...this.#saving].reduce((sum, { points }) => sum + points, 0)
    if (unsaved > 0) loses(unsaved)
    const closed = this.store.close(() => loses(this.#savedPoints))
    if (!this.store.persistent) await closed
    else if (timeLeft(clock, deadlineMs) > 0) await settledBy(clock, deadlineMs, closed)
  }

  #wake(): void {
    if (this.#cancelRetry === undefined && !this.#isClosed) this.#work ??= this.#writeAll()
  }

  async #writeAll(): Promise<void> {
    // What comes in the same moment goes in one transaction.
    await Promise.resolve()
    while (this.#unsaved.size + this.#removed.length + this.#tried.size > 0 && !this.#isClosed) {
      if (!(await this.#writeSome())) {
        if (!this.#isClosed) this.#cancelRetry = this.#host.clock.after(TRY_AGAIN_MS, () => this.#tryAgain())
        break
      }
    }
    this.#work = undefined
  }

  #tryAgain(): void {
    this.#stopWaiting()
    this.#wake()
  }

  #stopWaiting(): void {
    this.#cancelRetry?.()
    this.#cancelRetry = undefined
  }

  /** Returns whether it worked. */
  async #writeSome(): Promise<boolean> {
    const saving = this.#takeUnsaved()
    const changes = { removed: this.#removed, tried: this.#tried }
    this.#removed = []
    this.#tried = new Map()
    this.#leavingBytes = this.#removedBytes
    this.#removedBytes = 0
    this.#saving = saving
    const failure = await this.#write({ ...changes, added: Array.from(saving, entry => this.#rowOf(entry)) })
    this.#saving = new Set()
    if (failure === undefined) {
      for (const entry of saving) this.#saved(entry)
    } else {
      this.#putBack(saving)
      // Where there is no room for more, there may be room to take something away.
      const isLess = saving.size > 0 && changes.removed.length > 0
      if (!isLess || (await this.#write({ ...changes, added: [] })) !== undefined) {
        this.#removed = changes.removed.concat(this.#removed)
        this.#removedBytes += this.#leavingBytes
        this.#tried = new Map([...changes.tried, ...this.#tried])
      }
    }
    this.#leavingBytes = 0
    this.isFailing = failure !== undefined
    this.#writeBytes = this.isFailing ? CAREFUL_WRITE_BYTES : WRITE_BYTES
    this.#tell(failure)
    return failure === undefined
  }

  #takeUnsaved(): Set<Entry> {
    const taken = new Set<Entry>()
    let bytes = 0
    for (const entry of this.#unsaved) {
      if (taken.size > 0 && bytes + entry.bytes > this.#writeBytes) break
      bytes += entry.bytes
      taken.add(entry)
      this.#unsaved.delete(entry)
    }
    this.#unsavedBytes -= bytes
    return taken
  }

  #rowOf(entry: Entry): QueueChanges['added'][number] {
    entry.id ??= this.store.nextId()
    entry.isMarked = mayHaveArrived(entry)
    const { id, points, bytes, shard, note, acceptedMs } = entry
    return {
      id,
      points,
      bytes,
      ...(shard !== undefined && { shard }),
      ...(note !== undefined && { note }),
      acceptedMs,
      isTried: entry.isMarked,
      body: entry.body!,
    }
  }

  async #write(changes: QueueChanges): Promise<Error | undefined> {
    try {
      await this.store.write(changes)
      return undefined
    } catch (error) {
      return error as Error
    }
  }

  #saved(entry: Entry): void {
    entry.isStored = true
    this.#savedPoints += entry.points
    if (this.#goneMeanwhile.delete(entry)) {
      this.forget(entry)
      return
    }
    this.mark(entry)
    if (this.store.persistent && this.#keptBytes + entry.bytes > KEPT_BYTES) {
      entry.body = undefined
    } else {
      this.#keptBytes += entry.bytes
    }
  }

  #putBack(entries: ReadonlySet<Entry>): void {
    const later = [...this.#unsaved]
    this.#unsaved.clear()
    for (const entry of entries) {
      if (this.#goneMeanwhile.delete(entry)) {
        this.#removeAttempted(entry)
        continue
      }
      this.#unsaved.add(entry)
      this.#unsavedBytes += entry.bytes
    }
    for (const entry of later) this.#unsaved.add(entry)
  }

  /** A write that failed may have been done all the same, as far as anybody knows. */
  #removeAttempted(entry: Entry): void {
    if (entry.id === undefined) return
    this.#removed.push(entry.id)
    this.#wake()
  }

  #tell(failure: Error | undefined): void {
    if (!this.store.persistent) return
    if (failure === undefined) this.#host.log.state('the queue on disk', 'ok')
    else this.#host.log.state('the queue on disk', 'failing', `${failure.message}; what is new waits in memory`)
  }
}

function mayHaveArrived(entry: Entry): boolean {
  return entry.isUnderWay || entry.mayHaveArrived
}
