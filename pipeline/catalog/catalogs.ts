/** Finds and reads catalogs: those in `configs/catalogs` by name, a user's own by path. Each is read once. */
import { readdirSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { LineCounter, parseDocument } from 'yaml'
import type { Catalogs } from '../component.ts'

/** A catalog is a table for people to read; one that is larger is something else. */
const LIMIT_BYTES = 4 * 1024 * 1024

export function createCatalogs(directory: string): Catalogs {
  const loaded = new Map<string, unknown>()
  return {
    load(nameOrPath) {
      let catalog = loaded.get(nameOrPath)
      if (catalog === undefined) {
        catalog = readCatalog(
          isPath(nameOrPath) ? nameOrPath : `${directory}/${nameOrPath}.yaml`,
          nameOrPath,
          directory,
        )
        loaded.set(nameOrPath, catalog)
      }
      return catalog
    },
  }
}

function isPath(nameOrPath: string): boolean {
  return nameOrPath.includes('/') || /\.ya?ml$/.test(nameOrPath)
}

function readCatalog(path: string, nameOrPath: string, directory: string): unknown {
  const text = readText(path, nameOrPath, directory)
  if (text.length > LIMIT_BYTES) throw new Error(`catalog "${nameOrPath}" has more than ${LIMIT_BYTES} bytes`)
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false })
  const [error] = document.errors
  if (error !== undefined) {
    const { line, col } = lines.linePos(error.pos[0])
    throw new Error(`${path}:${line}:${col}: ${error.message}`)
  }
  const catalog: unknown = document.toJS({ maxAliasCount: 100 })
  if (catalog === null || typeof catalog !== 'object' || Array.isArray(catalog)) {
    throw new Error(`${path}:1:1: a catalog is a map`)
  }
  return catalog
}

function readText(path: string, nameOrPath: string, directory: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') {
      throw new Error(`catalog "${nameOrPath}" cannot be read: ${(error as Error).message}`, { cause: error })
    }
    const names = isPath(nameOrPath) ? [] : catalogNames(directory)
    const known = names.length === 0 ? '' : `; there are ${names.join(', ')}`
    throw new Error(`there is no catalog "${nameOrPath}"${known}`, { cause: error })
  }
}

function catalogNames(directory: string): string[] {
  try {
    return readdirSync(directory)
      .filter(file => file.endsWith('.yaml'))
      .map(file => basename(file, '.yaml'))
  } catch {
    // A package without catalogs: there are none to name.
    return []
  }
}
