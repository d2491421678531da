/** Texts that a test file holds or names (`text` and `file`), and places in them. */
import { readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { createSource, lineAndColumn, lineBounds, type Place, type Source } from '../config/source.ts'
import type { YamlNode } from '../config/yaml-source.ts'

export type Content = {
  readonly bytes: Uint8Array
  /** What the user calls it. */
  readonly name: string
  /** Where a file is, for whoever writes it. */
  readonly path?: string
  /** The whole of a line, counted from 1. */
  placeOfLine(line: number): Place
  /** What to call it in a report: `expected.prom:3`. */
  describeLine(line: number): string
}

export type ContentReader = {
  /** Throws a sentence if the file cannot be read. One that does not exist is taken for an empty one where it `mayLack`. */
  file(name: string, mayLack?: boolean): Content
  text(node: YamlNode, text: string): Content
}

/** Paths are relative to the test file. Files that are named several times are read once. */
export function createContentReader(testFile: Source): ContentReader {
  const contents = new Map<string, Content>()
  return {
    file(name, mayLack = false) {
      const path = resolve(dirname(testFile.path ?? testFile.name), name)
      let content = contents.get(path)
      if (content === undefined) {
        contents.set(path, (content = readContent(path, join(dirname(testFile.name), name), mayLack)))
      }
      return content
    },
    text: (node, text) => ({
      bytes: Buffer.from(text),
      name: testFile.name,
      placeOfLine: line => placeInScalar(node, line),
      describeLine: line => describePlace(placeInScalar(node, line)),
    }),
  }
}

function readContent(path: string, name: string, mayLack: boolean): Content {
  const bytes = readBytes(path, name, mayLack)
  let source: Source | undefined
  function placeOfLine(line: number): Place {
    source ??= createSource(name, bytes.toString(), { path })
    return lineAt(source, line)
  }
  return { bytes, name, path, placeOfLine, describeLine: line => describePlace(placeOfLine(line)) }
}

function readBytes(path: string, name: string, mayLack: boolean): Buffer {
  try {
    return readFileSync(path)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' && mayLack) return Buffer.alloc(0)
    throw new Error(`${name} cannot be read: ${code === 'ENOENT' ? 'no such file' : message}`, { cause: error })
  }
}

/** In a text that is written line by line (`|`) the line itself; in any other the whole text. */
function placeInScalar({ place }: YamlNode, line: number): Place {
  const { source, start } = place
  if (source.text[start] !== '|') return place
  return lineAt(source, lineAndColumn(source, start).line + line)
}

function lineAt(source: Source, line: number): Place {
  const { start, end } = lineBounds(source, Math.min(line, source.lineStarts.length))
  const indent = /^\s*/.exec(source.text.slice(start, end))![0].length
  return { source, start: Math.min(start + indent, end), end }
}

/** `file:line`. */
export function describePlace({ source, start }: Place): string {
  return `${source.name}:${lineAndColumn(source, start).line}`
}
