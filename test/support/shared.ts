/** Conformance data and captures that lie beside the checkout. They are not part of the project; where they are missing, suites say so. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const folder = join(import.meta.dirname, '../../../shared')

/** The path of something in ../shared, or undefined, with one line that says what is skipped. */
export function sharedPath(...parts: string[]): string | undefined {
  const path = join(folder, ...parts)
  if (existsSync(path)) return path
  process.stdout.write(`skipped: ../shared/${parts.join('/')} is not there\n`)
  return undefined
}

/** A JSON file of ../shared, likewise. */
export function sharedJson<T>(...parts: string[]): T | undefined {
  const path = sharedPath(...parts)
  return path === undefined ? undefined : (JSON.parse(readFileSync(path, 'utf8')) as T)
}
