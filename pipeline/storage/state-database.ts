/**
 * State on disk: `state.db` in a directory that one process at a time has for itself. Synchronous: runs in a worker.
 *
 *     state( name, key, value )      name: whose state it is
 *
 * The write-ahead log with `synchronous=NORMAL` loses nothing when the process dies in any way, and when the machine does at
 * most the last moments, never its consistency.
 */
import { existsSync, mkdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { packEntries, unpackEntries, type PackedEntries } from './packed-entries.ts'
import { databaseFailure, openDatabase, type Database } from './sqlite.ts'

export type StateDatabase = {
  load(name: string): PackedEntries
  write(name: string, changes: PackedEntries): void
  close(): void
}

/** `busy`: another process has the directory. `movedAside`: where a damaged file went, if there was one. */
export type OpenedState =
  | { readonly busy: true }
  | { readonly busy: false; readonly database: StateDatabase; readonly movedAside: string | undefined }

export type StateOptions = {
  readonly directory: string
  /** The file does not grow beyond this. */
  readonly maxBytes: number
  /** For the name of a damaged file that is moved aside. */
  readonly nowMs: number
}

/** Goes up when older versions could not read the file any more. */
const FORMAT = 1

/** Throws a sentence if the directory cannot be used. */
export function openState({ directory, maxBytes, nowMs }: StateOptions): OpenedState {
  let lock: Database | undefined
  try {
    makeDirectory(directory)
    lock = lockDirectory(directory)
    if (lock === undefined) return { busy: true }
    const path = join(directory, 'state.db')
    const { database, movedAside } = openOrReplace(path, nowMs)
    limitSize(database, maxBytes)
    return { busy: false, database: stateDatabase(database, lock, directory), movedAside }
  } catch (error) {
    lock?.close()
    throw describe(error, directory)
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

/**
 * The lock is a transaction that never ends, in a file of its own: the operating system takes it back when the process dies,
 * however that happens. Undefined if another process has it.
 */
function lockDirectory(directory: string): Database | undefined {
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

function openOrReplace(path: string, nowMs: number): { database: Database; movedAside: string | undefined } {
  try {
    return { database: openSound(path), movedAside: undefined }
  } catch (error) {
    if (databaseFailure(error) !== 'damaged') throw error
  }
  const movedAside = `${path}.damaged-${new Date(nowMs).toISOString().replace(/[-:]|\.\d+/g, '')}`
  for (const part of ['', '-wal']) if (existsSync(path + part)) renameSync(path + part, movedAside + part)
  rmSync(`${path}-shm`, { force: true })
  return { database: openSound(path), movedAside }
}

/** Throws, and holds nothing open, if the file is damaged or not ours. */
function openSound(path: string): Database {
  const database = openDatabase(path)
  try {
    const [check] = database.prepare('PRAGMA quick_check(1)').all() as { quick_check: string }[]
    if (check?.quick_check !== 'ok') throw Object.assign(new Error(check?.quick_check), { errcode: 11 })
    // auto_vacuum only takes effect before the first table.
    database.exec('PRAGMA auto_vacuum = incremental; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL')
    database.exec('PRAGMA journal_size_limit = 16777216; PRAGMA busy_timeout = 1000')
    const { user_version: format } = database.prepare('PRAGMA user_version').get() as { user_version: number }
    if (format > FORMAT) throw new Error(`${path} was written by a newer version (format ${format})`)
    if (format === 0) {
      database.exec(`
        CREATE TABLE state (name TEXT NOT NULL, key TEXT NOT NULL, value BLOB NOT NULL, PRIMARY KEY (name, key));
        PRAGMA user_version = ${FORMAT}`)
    }
    giveBack(database)
    return database
  } catch (error) {
    database.close()
    throw error
  }
}

/** Gives room that nothing uses any more back to the file system, if that is possible now. */
function giveBack(database: Database): void {
  try {
    database.exec('PRAGMA incremental_vacuum')
  } catch {
    // It takes room to make room. The next time will do.
  }
}

function limitSize(database: Database, maxBytes: number): void {
  const { page_size: pageBytes } = database.prepare('PRAGMA page_size').get() as { page_size: number }
  database.exec(`PRAGMA max_page_count = ${Math.max(1, Math.floor(maxBytes / pageBytes))}`)
}

function stateDatabase(database: Database, lock: Database, directory: string): StateDatabase {
  const select = database.prepare('SELECT key, value FROM state WHERE name = ?')
  const upsert = database.prepare(
    'INSERT INTO state (name, key, value) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET value = excluded.value',
  )
  const remove = database.prepare('DELETE FROM state WHERE name = ? AND key = ?')

  function change(name: string, changes: PackedEntries): void {
    let removed = false
    database.exec('BEGIN IMMEDIATE')
    for (const [key, value] of unpackEntries(changes)) {
      if (value === undefined) removed = remove.run(name, key).changes !== 0 || removed
      else upsert.run(name, key, value)
    }
    database.exec('COMMIT')
    if (removed) giveBack(database)
  }

  return {
    load(name) {
      try {
        const rows = select.all(name) as { key: string; value: Uint8Array }[]
        return packEntries(rows.map(({ key, value }) => [key, value]))
      } catch (error) {
        throw describe(error, directory)
      }
    },
    write(name, changes) {
      try {
        change(name, changes)
      } catch (error) {
        if (database.isTransaction) database.exec('ROLLBACK')
        throw describe(error, directory)
      }
    },
    close() {
      database.close()
      lock.close()
    },
  }
}

function describe(error: unknown, directory: string): Error {
  switch (databaseFailure(error)) {
    case 'full':
      return new Error(`no room left for state in ${directory}`, { cause: error })
    case 'damaged':
      return new Error(`state.db in ${directory} is damaged`, { cause: error })
    case 'read-only':
    case 'cannot open':
      return new Error(`cannot write to ${directory}`, { cause: error })
    default:
      return describeSystem(error as NodeJS.ErrnoException, directory)
  }
}

function describeSystem(error: NodeJS.ErrnoException, directory: string): Error {
  switch (error.code) {
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return new Error(`not allowed to write to ${directory}`, { cause: error })
    case 'EEXIST':
    case 'ENOTDIR':
      return new Error(`${directory} is not a directory`, { cause: error })
    case 'ENOSPC':
      return new Error(`no room left for state in ${directory}`, { cause: error })
    default:
      return new Error(`cannot keep state in ${directory}: ${error.message}`, { cause: error })
  }
}
