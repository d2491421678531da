/** Reads what can still be read of a damaged queue. Synchronous: runs in a worker. */
import { closeSync, fstatSync, ftruncateSync, openSync, readSync } from 'node:fs'
import type { Row } from './queue-database.ts'
import { openDatabase, type Database } from './sqlite.ts'

/** How often a damaged place is jumped over; each jump is twice as far as the one before it. */
const MAX_JUMPS = 1000
const LONGEST_JUMP = 2 ** 40

/**
 * Goes through the rows from the oldest and, where something cannot be read, jumps over ever more ids until it can again; then
 * from the newest back, for what was jumped over. Never fails: of a file that is no database there is nothing.
 */
export function salvageRows(path: string, take: (row: Row) => void): void {
  let database: Database | undefined
  try {
    restoreLength(path)
    database = openDatabase(path)
    const taken = new Set<number>()
    function once(row: Row): boolean {
      if (taken.has(row.id) || !isWhole(row)) return false
      taken.add(row.id)
      take(row)
      return true
    }
    const reached = readUp(database, once)
    readDown(database, reached, once)
  } catch {
    // Then there is nothing more in it.
  } finally {
    database?.close()
  }
}

/**
 * SQLite reads nothing at all of a file that is shorter than its header says, so what was cut off is filled with zeros. The header
 * (sqlite.org/fileformat.html, 1.3) has the size of a page at 16, where 1 is 65536, and the number of pages at 28.
 */
function restoreLength(path: string): void {
  const file = openSync(path, 'r+')
  try {
    const header = Buffer.alloc(100)
    if (readSync(file, header, 0, 100, 0) < 100) return
    const pageBytes = header.readUInt16BE(16)
    const bytes = header.readUInt32BE(28) * (pageBytes === 1 ? 65_536 : pageBytes)
    const { size } = fstatSync(file)
    // A length that is far off is itself damaged.
    if (size < bytes && bytes <= 16 * size + 2 ** 26) ftruncateSync(file, bytes)
  } finally {
    closeSync(file)
  }
}

/** Returns how far it got without a jump. */
function readUp(database: Database, take: (row: Row) => boolean): number {
  let after = -1
  let unbroken: number | undefined
  let jump = 1
  for (let jumps = 0; jumps < MAX_JUMPS && jump <= LONGEST_JUMP; jumps++) {
    try {
      for (const row of rowsAfter(database, after)) {
        take(row)
        after = row.id
        jump = 1
      }
      return unbroken ?? Infinity
    } catch {
      unbroken ??= after
      after += jump
      jump *= 2
    }
  }
  return unbroken ?? -1
}

function readDown(database: Database, downTo: number, take: (row: Row) => boolean): void {
  if (downTo === Infinity) return
  try {
    const rows = database.prepare('SELECT * FROM requests WHERE id > ? ORDER BY id DESC')
    for (const row of rows.iterate(downTo) as Iterable<Row>) take(row)
  } catch {
    // From here on it was read upwards.
  }
}

function rowsAfter(database: Database, after: number): Iterable<Row> {
  return database.prepare('SELECT * FROM requests WHERE id > ? ORDER BY id').iterate(after) as Iterable<Row>
}

function isWhole({ id, name, points, body }: Row): boolean {
  return (
    Number.isSafeInteger(id) && typeof name === 'string' && Number.isSafeInteger(points) && body instanceof Uint8Array
  )
}
