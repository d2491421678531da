/** Opening a database so that a damaged file never stops a start. Synchronous: runs in a worker. */
import { existsSync, renameSync, rmSync, statSync } from 'node:fs'
import { databaseFailure, openDatabase, type Database } from './sqlite.ts'

export type FileOptions = {
  /** `FULL` survives the end of the machine, `NORMAL` that of the process. */
  readonly synchronous: 'FULL' | 'NORMAL'
  /** Goes up when older versions could not read the file any more. */
  readonly format: number
  readonly tables: string
  /** A larger file is not read through at the start: damage is found when it is met. */
  readonly checkedBytes?: number
}

/** `movedAside`: where a damaged file went, if there was one. */
export type OpenedFile = { readonly database: Database; readonly movedAside: string | undefined }

export function openOrReplace(path: string, options: FileOptions, nowMs: number): OpenedFile {
  try {
    return { database: openSound(path, options), movedAside: undefined }
  } catch (error) {
    if (!isDamage(error)) throw error
  }
  const movedAside = moveAside(path, nowMs)
  return { database: openSound(path, options), movedAside }
}

/** Returns where the file is now. Nobody may have it open. */
export function moveAside(path: string, nowMs: number): string {
  const name = `${path}.damaged-${new Date(nowMs).toISOString().replace(/[-:]|\.\d+/g, '')}`
  let movedAside = name
  for (let i = 2; existsSync(movedAside); i++) movedAside = `${name}-${i}`
  for (const part of ['', '-wal']) if (existsSync(path + part)) renameSync(path + part, movedAside + part)
  rmSync(`${path}-shm`, { force: true })
  return movedAside
}

/** Throws, and holds nothing open, if the file is damaged or not ours. */
function openSound(path: string, options: FileOptions): Database {
  const { synchronous, format, tables, checkedBytes = Infinity } = options
  const bytes = statSync(path, { throwIfNoEntry: false })?.size ?? 0
  const database = openDatabase(path)
  try {
    if (bytes <= checkedBytes) check(database)
    // auto_vacuum only takes effect before the first table.
    database.exec(`PRAGMA auto_vacuum = incremental; PRAGMA journal_mode = WAL; PRAGMA synchronous = ${synchronous}`)
    database.exec('PRAGMA journal_size_limit = 16777216; PRAGMA busy_timeout = 1000')
    const { user_version: found } = database.prepare('PRAGMA user_version').get() as { user_version: number }
    if (found > LAST_FORMAT) throw damage(`format ${found}`)
    if (found > format) throw new Error(`${path} was written by a newer version (format ${found})`)
    if (found === 0) createTables(database, tables, format)
    return database
  } catch (error) {
    database.close()
    throw error
  }
}

/** No version will ever have a higher one. */
const LAST_FORMAT = 20

function createTables(database: Database, tables: string, format: number): void {
  const { count } = database.prepare('SELECT count(*) AS count FROM sqlite_schema').get() as { count: number }
  if (count > 0) throw damage('there are tables, and nobody made them')
  database.exec(`BEGIN; ${tables}; PRAGMA user_version = ${format}; COMMIT`)
}

function check(database: Database): void {
  const [found] = database.prepare('PRAGMA quick_check(1)').all() as { quick_check: string }[]
  if (found?.quick_check !== 'ok') throw damage(found?.quick_check)
}

/**
 * Statements are always the same and right, so one that cannot be understood is about a file that is not as we made it; and we
 * write no integers that no number can hold.
 */
export function isDamage(error: unknown): boolean {
  const { errcode, code } = error as { errcode?: number; code?: string }
  return databaseFailure(error) === 'damaged' || errcode === 1 || code === 'ERR_OUT_OF_RANGE'
}

/** Looks like SQLite's own. */
function damage(message: string | undefined): Error {
  return Object.assign(new Error(message), { errcode: 11 })
}

/** Gives room that nothing uses any more back to the file system, if that is possible now: all of it, or so many pages. */
export function giveBack(database: Database, pages?: number): void {
  try {
    database.exec(`PRAGMA incremental_vacuum${pages === undefined ? '' : `(${pages})`}`)
  } catch {
    // It takes room to make room. The next time will do.
  }
}

export function limitSize(database: Database, maxBytes: number): void {
  database.exec(`PRAGMA max_page_count = ${Math.max(1, Math.floor(maxBytes / pragma(database, 'page_size')))}`)
}

/** One that is a number. */
export function pragma(database: Database, name: 'page_size' | 'page_count' | 'freelist_count'): number {
  return (database.prepare(`PRAGMA ${name}`).get() as Record<string, number>)[name]!
}
