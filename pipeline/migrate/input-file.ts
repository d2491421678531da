/** Reads a file that is to be migrated, and says what is in it. */
import { readFileSync, statSync } from 'node:fs'
import { ConfigError } from '../config/config-error.ts'
import { createSource, lineAndColumn, type Source } from '../config/source.ts'
import { SyntaxProblem, type TreeNode } from './document-tree.ts'
import { readJson } from './json-tree.ts'
import { parsePromql } from './promql-tree.ts'
import { withoutVariables } from './grafana-variables.ts'
import { readYaml } from './yaml-tree.ts'

export type InputFile = {
  /** As it was given; `-` is standard input. */
  readonly name: string
  readonly source: Source
  /** Begins with this, which is no part of the text. */
  readonly mark: string
  /** For expressions by themselves a list of texts. */
  readonly tree: TreeNode
  readonly kind: 'json' | 'yaml' | 'promql'
}

/** Dashboards of a megabyte are known; this is far above, and far below what would take all memory. */
const LIMIT_BYTES = 32 * 1024 * 1024
const STANDARD_INPUT = 0

/** Throws a ConfigError with the place of what is wrong. */
export function readInput(name: string): InputFile {
  const source = createSource(name === '-' ? 'standard input' : name, '')
  return readContent(name, decode(readBytes(name, source), source))
}

export function readContent(name: string, content: string): InputFile {
  const mark = content.startsWith('\ufeff') ? '\ufeff' : ''
  const text = content.slice(mark.length)
  const source = createSource(name === '-' ? 'standard input' : name, text)
  const kind = kindOf(name, text)
  try {
    const isBlank = text.trim() === ''
    return { name, source, mark, kind, tree: isBlank ? { kind: 'list', start: 0, items: [] } : READERS[kind](text) }
  } catch (error) {
    if (!(error instanceof SyntaxProblem)) throw error
    const isTemplate = kind !== 'promql' && /\{\{-?\s*[.\w"]/.test(text)
    const why = isTemplate ? '; if this is a template, fill it in first, as `helm template` does' : ''
    throw problemAt(source, error.offset, `${error.message}${why}`)
  }
}

const READERS: Readonly<Record<InputFile['kind'], (text: string) => TreeNode>> = {
  json: text => readJson(text),
  yaml: text => readYaml(text),
  promql: readExpressions,
}

function kindOf(name: string, text: string): InputFile['kind'] {
  if (/\.json$/i.test(name)) return 'json'
  if (/\.ya?ml$/i.test(name)) return 'yaml'
  if (/^\s*(\[\s*)?\{\s*("[^"]*"\s*:|\})/.test(text)) return 'json'
  return /^(---|(groups|apiVersion|kind|spec|items|rules):|- +"?(alert|record|expr)"?:)/m.test(text) ? 'yaml' : 'promql'
}

/** Of lists of expressions: so many of the lines are one. Lines of an expression that goes over several hardly ever are. */
const PART_OF_LINES = 0.75

/** One expression, or, where the whole is none and its lines are, one in each line. */
function readExpressions(text: string): TreeNode {
  const isOne = (part: string) => 'root' in parsePromql(withoutVariables(part).text)
  const lines = linesOf(text).filter(({ line }) => !/^\s*(#.*)?$/.test(line))
  const good = isOne(text) ? 0 : lines.filter(({ line }) => isOne(line)).length
  const parts = good > 0 && good >= PART_OF_LINES * lines.length ? lines : [{ line: text, start: 0 }]
  const items = parts.map(({ line, start }) => {
    const expr = {
      kind: 'text',
      start,
      text: line,
      originOf: (index: number) => start + index,
      spell: (added: string) => added,
    } as const
    const key = {
      kind: 'text',
      start,
      text: 'expr',
      originOf: () => undefined,
      spell: (added: string) => added,
    } as const
    return { kind: 'map', start, entries: [{ key, value: expr }] } as const
  })
  return { kind: 'list', start: 0, items }
}

function linesOf(text: string): { line: string; start: number }[] {
  let start = 0
  return text.split('\n').map(line => {
    const at = start
    start += line.length + 1
    return { line, start: at }
  })
}

function readBytes(name: string, source: Source): Buffer {
  try {
    const size = name === '-' ? 0 : statSync(name).size
    if (size > LIMIT_BYTES) throw problemAt(source, 0, tooLarge(size))
    const bytes = readFileSync(name === '-' ? STANDARD_INPUT : name)
    if (bytes.length > LIMIT_BYTES) throw problemAt(source, 0, tooLarge(bytes.length))
    return bytes
  } catch (error) {
    if (error instanceof ConfigError) throw error
    throw new ConfigError([
      { file: source.name, message: `cannot be read: ${(error as Error).message}`, severity: 'error' },
    ])
  }
}

function tooLarge(bytes: number): string {
  const megabytes = (size: number) => Math.round(size / 1024 / 1024)
  return `${megabytes(bytes)} MiB are more than the ${megabytes(LIMIT_BYTES)} MiB that a file may have`
}

function decode(bytes: Buffer, { name }: Source): string {
  const text = bytes.toString('utf8')
  const zero = text.indexOf('\0')
  if (zero >= 0) throw problemAt(createSource(name, text), zero, 'this is no text: it holds a zero byte')
  const isUtf8 = Buffer.from(text, 'utf8').equals(bytes)
  if (isUtf8) return text
  throw problemAt(createSource(name, text), Math.max(0, text.indexOf('\ufffd')), 'this is no text in UTF-8')
}

function problemAt(source: Source, offset: number, message: string): ConfigError {
  return new ConfigError([{ file: source.name, ...lineAndColumn(source, offset), message, severity: 'error' }])
}
