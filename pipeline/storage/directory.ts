/** A directory that one process at a time has for itself. Synchronous: runs in a worker. */
import { mkdirSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { databaseFailure, openDatabase, type Database } from './sqlite.ts'

/**
 * Makes the directory if it is not there. Undefined if another process has it.
 *
 * The lock is a transaction that never ends, in a file of its own: the operating system takes it back when the process dies,
 * however that happens.
 */
export function lockDirectory(directory: string): Database | undefined {
  makeDirectory(directory)
  const lock = openDatabase(join(directory, 'lock.db'))
  try {
    lock.exec('PRAGMA busy_timeout = 0; BEGIN EXCLUSIVE')
    return lock
  } catch (error) {
    lock.close()
    if (databaseFailure(error) === 'busy') return undefined
    throw error
  }
}

/** With its parents. Node's own `recursive` never returns where a file system denies that a directory just seen exists (`/proc`). */
function makeDirectory(directory: string): void {
  if (isDirectory(directory)) return
  const parent = dirname(directory)
  if (parent !== directory) makeDirectory(parent)
  try {
    mkdirSync(directory)
  } catch (error) {
    // Another process may have been quicker.
    if (!isDirectory(directory)) throw error
  }
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
}

/** A sentence on why something cannot be kept; `what` is `state` or `the queue`, `file` the name of its database. */
export function describeFailure(error: unknown, what: string, file: string, directory: string): Error {
  switch (databaseFailure(error)) {
    case 'full':
      return new Error(`no room left for ${what} in ${directory}`, { cause: error })
    case 'damaged':
      return new Error(`${file} in ${directory} is damaged`, { cause: error })
    case 'read-only':
    case 'cannot open':
      return new Error(`cannot write to ${directory}`, { cause: error })
    default:
      return describeSystem(error as NodeJS.ErrnoException, what, directory)
  }
}

function describeSystem(error: NodeJS.ErrnoException, what: string, directory: string): Error {
  switch (error.code) {
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return new Error(`not allowed to write to ${directory}`, { cause: error })
    case 'EEXIST':
    case 'ENOTDIR':
      return new Error(`${directory} is not a directory`, { cause: error })
    case 'ENOSPC':
      return new Error(`no room left for ${what} in ${directory}`, { cause: error })
    default:
      return new Error(`cannot keep ${what} in ${directory}: ${error.message}`, { cause: error })
  }
}
