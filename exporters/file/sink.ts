/**
 * Appends to a file. What could not be written is kept and written later, until there is too much of it. Half a piece is never left
 * behind: what a failed write left is cut off again.
 */
import { open, rename, stat, type FileHandle } from 'node:fs/promises'
import { backupPath, removeBackups, type RotationOptions } from './rotation.ts'

export type Piece = { readonly bytes: Uint8Array; readonly points: number }

export type SinkOptions = {
  readonly path: string
  readonly rotation: RotationOptions | undefined
  /** What waits at most; what is oldest is given up. */
  readonly maxWaitingBytes: number
  now(): number
  written(points: number): void
  /** `why` is a sentence. */
  lost(points: number, why: string): void
  state(state: 'ok' | 'failing', why?: string): void
}

export class Sink {
  readonly #options: SinkOptions
  #waiting: Piece[] = []
  #waitingBytes = 0
  #file: FileHandle | undefined
  #inode = 0
  #bytes = 0
  #sinceMs = 0
  #lastBackupMs = 0
  /** One after the other. */
  #last: Promise<void> = Promise.resolve()

  constructor(options: SinkOptions) {
    this.#options = options
  }

  get waitingBytes(): number {
    return this.#waitingBytes
  }

  /** Rejects with a sentence if the file cannot be written. */
  async open(): Promise<void> {
    const { path, now } = this.#options
    try {
      this.#file = await open(path, 'a')
      const { ino, size, birthtimeMs } = await this.#file.stat()
      this.#inode = ino
      this.#bytes = size
      // Not every file system knows when a file was made.
      this.#sinceMs = size > 0 && birthtimeMs > 0 ? Math.min(birthtimeMs, now()) : now()
    } catch (cause) {
      throw new Error(`cannot write to "${path}": ${(cause as Error).message}`, { cause })
    }
  }

  add(piece: Piece): void {
    const { maxWaitingBytes, lost } = this.#options
    this.#waiting.push(piece)
    this.#waitingBytes += piece.bytes.length
    while (this.#waitingBytes > maxWaitingBytes) {
      const oldest = this.#waiting.shift()!
      this.#waitingBytes -= oldest.bytes.length
      lost(oldest.points, 'the disk is too slow, or takes nothing: too much waits to be written')
    }
  }

  /** Settles when all that came before is written or could not be. */
  flush(): Promise<void> {
    this.#last = this.#last.then(() => this.#write())
    return this.#last
  }

  async close(): Promise<void> {
    await this.flush()
    for (const { points } of this.#waiting.splice(0))
      this.#options.lost(points, 'the file could not be written to the end')
    this.#waitingBytes = 0
    await this.#file?.close().catch(() => {})
    this.#file = undefined
  }

  async #write(): Promise<void> {
    if (this.#waiting.length === 0) return
    const { state, written } = this.#options
    try {
      await this.#reopenIfMoved()
      while (this.#waiting.length > 0) {
        const [piece] = this.#waiting as [Piece]
        await this.#rotateIfDue(piece.bytes.length)
        await this.#append(piece.bytes)
        if (this.#waiting[0] === piece) {
          this.#waiting.shift()
          this.#waitingBytes -= piece.bytes.length
        }
        written(piece.points)
      }
      state('ok')
    } catch (error) {
      state('failing', (error as Error).message)
    }
  }

  async #append(bytes: Uint8Array): Promise<void> {
    const file = this.#file!
    try {
      await file.appendFile(bytes)
      this.#bytes += bytes.length
    } catch (error) {
      await file.truncate(this.#bytes).catch(() => {})
      throw error
    }
  }

  /** Whoever moves the file away, or deletes it, gets a new one. */
  async #reopenIfMoved(): Promise<void> {
    const now = await stat(this.#options.path).catch(() => undefined)
    if (this.#file !== undefined && now?.ino === this.#inode) return
    await this.#file?.close().catch(() => {})
    this.#file = undefined
    await this.open()
  }

  async #rotateIfDue(more: number): Promise<void> {
    const { path, rotation, now } = this.#options
    if (rotation === undefined || this.#bytes === 0) return
    if (this.#bytes + more <= rotation.maxBytes && now() - this.#sinceMs < rotation.intervalMs) return
    await this.#file?.close()
    this.#file = undefined
    // Two in a millisecond would have the same name.
    this.#lastBackupMs = Math.max(now(), this.#lastBackupMs + 1)
    await rename(path, backupPath(path, this.#lastBackupMs))
    await this.open()
    this.#sinceMs = now()
    await removeBackups(path, rotation, now())
  }
}
