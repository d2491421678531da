/**
 * State on disk: `state.db`. Synchronous: runs in a worker.
 *
 *     state( name, key, value )      name: whose state it is
 *
 * The write-ahead log with `synchronous=NORMAL` loses nothing when the process dies in any way, and when the machine does at
 * most the last moments, never its consistency.
 */
import { join } from 'node:path'
import { giveBack, limitSize, openOrReplace } from './database-file.ts'
import { describeFailure } from './directory.ts'
import { packEntries, unpackEntries, type PackedEntries } from './packed-entries.ts'
import type { Database } from './sqlite.ts'

export type StateDatabase = {
  load(name: string): PackedEntries
  write(name: string, changes: PackedEntries): void
  close(): void
}

/** `movedAside`: where a damaged file went, if there was one. */
export type OpenedState = { readonly database: StateDatabase; readonly movedAside: string | undefined }

export type StateOptions = {
  readonly directory: string
  /** The file does not grow beyond this. */
  readonly maxBytes: number
  /** For the name of a damaged file that is moved aside. */
  readonly nowMs: number
}

const FILE = {
  synchronous: 'NORMAL',
  format: 1,
  tables: 'CREATE TABLE state (name TEXT NOT NULL, key TEXT NOT NULL, value BLOB NOT NULL, PRIMARY KEY (name, key))',
} as const

/** Throws a sentence if the file cannot be used. The directory is locked. */
export function openState({ directory, maxBytes, nowMs }: StateOptions): OpenedState {
  try {
    const { database, movedAside } = openOrReplace(join(directory, 'state.db'), FILE, nowMs)
    limitSize(database, maxBytes)
    giveBack(database)
    return { database: stateDatabase(database, directory), movedAside }
  } catch (error) {
    throw describe(error, directory)
  }
}

function stateDatabase(database: Database, directory: string): StateDatabase {
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
    close: () => database.close(),
  }
}

function describe(error: unknown, directory: string): Error {
  return describeFailure(error, 'state', 'state.db', directory)
}
