/** Reads the files of a config: those named by `--config`, and those they take in by `${file:...}`. */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'

/**
 * Gives the bytes of a file, or throws an error with a `code` as `node:fs` does. A config is read in one go before anything
 * starts, or between two batches, and is small: waiting for the disk is simpler than not waiting.
 */
export type ReadFile = (path: string) => Uint8Array

/** A config of this size is a mistake (a dump, a log), and reading one takes seconds. */
export const MAX_FILE_BYTES = 4 * 1024 * 1024

export type FileText = { readonly text: string } | { readonly problem: string }

export function readConfigFile(path: string, readFile: ReadFile): FileText {
  let bytes: Uint8Array
  try {
    bytes = readFile(path)
  } catch (error) {
    return { problem: whyUnreadable(error as NodeJS.ErrnoException) }
  }
  if (bytes.length > MAX_FILE_BYTES) return { problem: `the file is larger than ${MAX_FILE_BYTES / 1024 / 1024} MiB` }
  try {
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) }
  } catch {
    return { problem: 'the file is not text in UTF-8' }
  }
}

/** Reads one byte more than allowed at most: enough to know, whether it is a file of 50 MB or an endless pipe. */
export function readFileFromDisk(path: string): Uint8Array {
  const file = openSync(path, 'r')
  try {
    const stat = fstatSync(file)
    const limit = MAX_FILE_BYTES + 1
    const bytes = Buffer.alloc(stat.isFile() ? Math.min(stat.size + 1, limit) : limit)
    let length = 0
    while (length < bytes.length) {
      const count = readSync(file, bytes, length, bytes.length - length, null)
      if (count === 0) break
      length += count
    }
    return bytes.subarray(0, length)
  } finally {
    closeSync(file)
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'no such file',
  ENOTDIR: 'no such file: a part of the path is not a directory',
  EISDIR: 'this is a directory, not a file',
  EACCES: 'no permission to read it',
  EPERM: 'no permission to read it',
  ELOOP: 'too many symbolic links',
  ENAMETOOLONG: 'the name is too long',
}

function whyUnreadable(error: NodeJS.ErrnoException): string {
  return `cannot be read: ${REASONS[error.code ?? ''] ?? error.message}`
}
