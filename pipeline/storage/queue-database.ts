/**
 * Queues on disk: `queue.db`, shared by all that keep theirs in the directory. Synchronous: runs in a worker.
 *
 *     requests( id, name, points, bytes, shard, note, accepted_ms, tried, checksum, body )      name: whose queue it is in
 *
 * An index has everything but the bodies, so that hours of data are not read through to know what is there.
 *
 * The write-ahead log with `synchronous=FULL`: what was committed survives the end of the process and of the machine. SQLite
 * has no checksums of its own, so each row has one over all that matters in it.
 */
import { statfsSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { crc32 } from 'node:zlib'
import type { QueuedRequest } from '../component.ts'
import { giveBack, isDamage, limitSize, moveAside, openOrReplace, pragma } from './database-file.ts'
import { describeFailure } from './directory.ts'
import { packRequests, unpackRequests, type PackedRequests } from './packed-requests.ts'
import { salvageRows } from './salvage.ts'
import type { Database } from './sqlite.ts'

export type QueueDatabase = {
  /** What is in a queue. From now on the file may grow by what its owner wants to keep. */
  open(name: string, maxBytes: number): PackedRequests
  write(name: string, changes: PackedChanges): void
  read(id: number): Uint8Array | undefined
  /** Larger than all ids there are. */
  nextId(): number
  /** Of every queue that has something in it, whether it is open or not. */
  contents(): QueueContents[]
  /** Drops what is older; returns how many points that were. */
  dropBefore(name: string, acceptedMs: number): number
  close(): void
}

export type QueueContents = { readonly name: string; readonly points: number; readonly bytes: number }

export type PackedChanges = {
  readonly added: PackedRequests
  /** Of those, one after the other. */
  readonly bodies: Uint8Array<ArrayBuffer>
  readonly removed: readonly number[]
  readonly tried: ReadonlyMap<number, boolean>
}

export type QueueDatabaseOptions = {
  readonly directory: string
  now(): number
  /** Is told what happened to the file. */
  notice(message: string): void
}

/** A row as it is in the file. */
export type Row = {
  readonly id: number
  readonly name: string
  readonly points: number
  /** Of the body. */
  readonly bytes: number
  readonly shard: number | null
  readonly note: string | null
  readonly accepted_ms: number
  readonly tried: number
  readonly checksum: number
  readonly body: Uint8Array
}

const FILE = {
  synchronous: 'FULL',
  format: 1,
  tables: `
    CREATE TABLE requests (
      id INTEGER PRIMARY KEY, name TEXT NOT NULL, points INTEGER NOT NULL, bytes INTEGER NOT NULL, shard INTEGER,
      note TEXT, accepted_ms INTEGER NOT NULL, tried INTEGER NOT NULL, checksum INTEGER NOT NULL, body BLOB NOT NULL
    ) STRICT;
    CREATE INDEX all_but_bodies ON requests (name, id, points, bytes, shard, note, accepted_ms, tried)`,
  // A queue of hours is not read through before anything starts.
  checkedBytes: 256 * 2 ** 20,
} as const

/** Room in the file besides bodies: rows, pages that are not full. */
const OVERHEAD_FACTOR = 1.25
const OVERHEAD_BYTES = 64 * 2 ** 20

/** Throws a sentence if the file cannot be used. The directory is locked. */
export function openQueues(options: QueueDatabaseOptions): QueueDatabase {
  const { directory, notice, now } = options
  const path = join(directory, 'queue.db')
  const wanted = new Map<string, number>()
  let database: Database
  let statements: Statements

  function openFile(): void {
    const { database: opened, movedAside } = openOrReplace(path, FILE, now())
    database = opened
    try {
      statements = prepare(database)
      if (movedAside !== undefined) salvage(movedAside)
      limit()
      giveBackSome(database)
    } catch (error) {
      // Of an old file even the tables may be missing.
      if (movedAside !== undefined) throw error
      replaceFile()
    }
  }

  /** The file is damaged: what can still be read goes to a new one. */
  function replaceFile(): void {
    database.close()
    const movedAside = moveAside(path, now())
    database = openOrReplace(path, FILE, now()).database
    statements = prepare(database)
    salvage(movedAside)
    limit()
  }

  function salvage(movedAside: string): void {
    let rows = 0
    let points = 0
    database.exec('BEGIN IMMEDIATE')
    salvageRows(movedAside, row => {
      if (checksumOf(row) !== row.checksum) return
      insert(row)
      rows++
      points += row.points
    })
    database.exec('COMMIT')
    notice(`queue.db was damaged and is now ${movedAside}: ${rows} requests with ${points} points could be read in it`)
  }

  function insert({ id, name, points, bytes, shard, note, accepted_ms, tried, checksum, body }: Row): void {
    statements.insert.run(id, name, points, bytes, shard, note, accepted_ms, tried, checksum, body)
  }

  function limit(): void {
    const others = contents()
      .filter(({ name }) => !wanted.has(name))
      .reduce((sum, { bytes }) => sum + bytes, 0)
    const bytes = wanted.values().reduce((sum, maxBytes) => sum + maxBytes, others)
    limitSize(database, bytes * OVERHEAD_FACTOR + OVERHEAD_BYTES)
  }

  function contents(): QueueContents[] {
    return statements.contents.all() as QueueContents[]
  }

  /** Whatever is done to the file is done again once if the file turns out to be damaged. */
  function attempt<T>(work: () => T): T {
    try {
      try {
        return work()
      } catch (error) {
        if (database.isTransaction) database.exec('ROLLBACK')
        if (!isDamage(error)) throw error
        replaceFile()
        return work()
      }
    } catch (error) {
      if (database.isOpen && database.isTransaction) database.exec('ROLLBACK')
      throw describe(error, directory)
    }
  }

  function change(name: string, { added, bodies, removed, tried }: PackedChanges): void {
    if (bodies.length > 0) refuseWithoutRoom(path, database, bodies.length)
    database.exec('BEGIN IMMEDIATE')
    for (const id of removed) statements.remove.run(id)
    let at = 0
    for (const request of unpackRequests(added)) {
      const body = bodies.subarray(at, (at += request.bytes))
      const row = { ...rowOf(name, request), body, checksum: 0 }
      insert({ ...row, checksum: checksumOf(row) })
    }
    for (const [id, isTried] of tried) statements.mark.run(isTried ? 1 : 0, id)
    database.exec('COMMIT')
    if (removed.length > 0) giveBackSome(database)
  }

  try {
    openFile()
  } catch (error) {
    throw describe(error, directory)
  }
  return {
    open: (name, maxBytes) =>
      attempt(() => {
        wanted.set(name, maxBytes)
        limit()
        const rows = statements.select.iterate(name) as Iterable<Omit<Row, 'body'>>
        return packRequests(requestsOf(rows))
      }),
    write: (name, changes) => attempt(() => change(name, changes)),
    read: id =>
      attempt(() => {
        const row = statements.read.get(id) as Row | undefined
        return row !== undefined && checksumOf(row) === row.checksum ? row.body : undefined
      }),
    nextId: () => attempt(() => ((statements.last.get() as { id: number | null }).id ?? 0) + 1),
    contents: () => attempt(contents),
    dropBefore: (name, acceptedMs) =>
      attempt(() => {
        const { points } = statements.pointsBefore.get(name, acceptedMs) as { points: number }
        statements.dropBefore.run(name, acceptedMs)
        giveBackSome(database)
        return points
      }),
    close: () => database.close(),
  }
}

type Statements = ReturnType<typeof prepare>

function prepare(database: Database) {
  return {
    select: database.prepare(
      'SELECT id, points, shard, note, accepted_ms, tried, bytes FROM requests WHERE name = ? ORDER BY id',
    ),
    insert: database.prepare('INSERT OR REPLACE INTO requests VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)'),
    remove: database.prepare('DELETE FROM requests WHERE id = ?'),
    mark: database.prepare('UPDATE requests SET tried = ? WHERE id = ?'),
    read: database.prepare('SELECT * FROM requests WHERE id = ?'),
    last: database.prepare('SELECT max(id) AS id FROM requests'),
    contents: database.prepare(
      'SELECT name, sum(points) AS points, sum(bytes) AS bytes FROM requests GROUP BY name ORDER BY name',
    ),
    pointsBefore: database.prepare(
      'SELECT coalesce(sum(points), 0) AS points FROM requests WHERE name = ? AND accepted_ms < ?',
    ),
    dropBefore: database.prepare('DELETE FROM requests WHERE name = ? AND accepted_ms < ?'),
  }
}

function rowOf(name: string, { id, points, bytes, shard, note, acceptedMs, isTried }: QueuedRequest) {
  return {
    id,
    name,
    points,
    bytes,
    shard: shard ?? null,
    note: note ?? null,
    accepted_ms: Math.round(acceptedMs),
    tried: isTried ? 1 : 0,
  }
}

function* requestsOf(rows: Iterable<Omit<Row, 'body'>>): Generator<QueuedRequest> {
  for (const { id, points, bytes, shard, note, accepted_ms, tried } of rows) {
    yield {
      id,
      points,
      bytes,
      ...(shard !== null && { shard }),
      ...(note !== null && { note }),
      acceptedMs: accepted_ms,
      isTried: tried !== 0,
    }
  }
}

function checksumOf({ id, name, points, shard, note, accepted_ms, body }: Omit<Row, 'checksum'>): number {
  return crc32(body, crc32(JSON.stringify([id, name, points, shard, note, accepted_ms])))
}

/**
 * A full disk refuses to delete, too, for a deletion is written to the log first. So a part of the volume is never taken: a
 * twentieth, of small ones more, of large ones less.
 */
function refuseWithoutRoom(path: string, database: Database, bytes: number): void {
  const { bsize, blocks, bavail } = statfsSync(dirname(path))
  const volumeBytes = blocks * bsize
  const reserveBytes = Math.min(Math.max(volumeBytes / 20, Math.min(volumeBytes / 4, 16 * 2 ** 20)), 256 * 2 ** 20)
  // It is written twice, to the log and then to its place, and both use again what they have.
  const logBytes = statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0
  const freeBytes = pragma(database, 'freelist_count') * pragma(database, 'page_size')
  const neededBytes = Math.max(0, bytes - logBytes) + Math.max(0, bytes - freeBytes)
  if (neededBytes > 0 && bavail * bsize - neededBytes < reserveBytes) {
    throw Object.assign(new Error('the volume is nearly full'), { errcode: 13 })
  }
}

/**
 * To give room back is to move what is at the end of the file to where something was deleted. So it is done when little is left to be
 * moved, and in steps: until then the room is used again.
 */
function giveBackSome(database: Database): void {
  const freePages = pragma(database, 'freelist_count')
  if (freePages > KEPT_PAGES && freePages > 0.9 * pragma(database, 'page_count')) giveBack(database, PAGES_AT_ONCE)
}
const KEPT_PAGES = 256
const PAGES_AT_ONCE = 4096

function describe(error: unknown, directory: string): Error {
  return describeFailure(error, 'the queue', 'queue.db', directory)
}
