/** A file that somebody replaces while we run: a token, a certificate. */
import type { Clock } from '../component.ts'
import type { CredentialSystem } from './credential-system.ts'

/** How old what was read may be: the kubelet replaces a token minutes before it expires. */
const MAX_AGE_MS = 10_000

/**
 * Reads a file again when what was read is too old. While the file cannot be read, the last text counts; if there is none, throws an
 * Error that names the file.
 */
export function keepFile(path: string, what: string, clock: Clock, { readFile }: CredentialSystem): () => string {
  let kept: string | undefined
  let readAtMs = -Infinity
  return () => {
    const nowMs = clock.monotonic()
    if (kept !== undefined && nowMs - readAtMs < MAX_AGE_MS) return kept
    readAtMs = nowMs
    try {
      const text = readFile(path)
      // A file that is just being written is empty for a moment.
      if (text.trim() === '') throw new Error('it is empty')
      kept = text
    } catch (error) {
      if (kept === undefined) throw unreadable(what, path, error)
    }
    return kept
  }
}

export function unreadable(what: string, path: string, error: unknown): Error {
  const { code, message } = error as NodeJS.ErrnoException
  const reason = code === 'ENOENT' ? 'there is no such file' : code === 'EACCES' ? 'permission denied' : message
  return new Error(`cannot read ${what} "${path}": ${reason}`, { cause: error })
}
