/** The embedded database engine. The only file that imports it: its class changes its name in newer versions of Node. */
import { DatabaseSync } from 'node:sqlite'

export type Database = DatabaseSync

export function openDatabase(path: string): Database {
  return new DatabaseSync(path)
}

/** SQLite's own result codes (sqlite.org/rescode.html), without the extended part. */
const RESULT_CODES = { 5: 'busy', 8: 'read-only', 11: 'damaged', 13: 'full', 14: 'cannot open', 26: 'damaged' } as const

export type DatabaseFailure = (typeof RESULT_CODES)[keyof typeof RESULT_CODES] | 'other'

export function databaseFailure(error: unknown): DatabaseFailure {
  const code = (error as { errcode?: number }).errcode ?? 0
  return (RESULT_CODES as Record<number, DatabaseFailure>)[code & 0xff] ?? 'other'
}
