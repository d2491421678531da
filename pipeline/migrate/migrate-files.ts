/** Migrates files together: what one of them records another may use. */
import { ConfigError } from '../config/config-error.ts'
import { lineAndColumn } from '../config/source.ts'
import { textsOf } from './document-tree.ts'
import { applyEdits } from './edits.ts'
import { findQueries } from './find-queries.ts'
import { readContent, type InputFile } from './input-file.ts'
import { migrateDocument, recordedScopes, type Counts, type MigratedDocument } from './migrate-document.ts'
import type { Wish } from './rename-label.ts'

export type MigratedFile = {
  readonly input: InputFile
  readonly text: string
  readonly isChanged: boolean
  readonly findings: readonly FileFinding[]
  readonly counts: Counts
}

/** `left`: something is as it was, and somebody has to look; `note`: it is rewritten, and this is to be known. */
export type FileFinding = {
  readonly line: number
  readonly column: number
  readonly message: string
  readonly kind: 'left' | 'note'
}

export function migrateFiles(inputs: readonly InputFile[], wish: Wish): MigratedFile[] {
  const found = inputs.map(({ tree }) => findQueries(tree))
  const recorded = recordedScopes(found.flat(), wish)
  return inputs.map((input, i) =>
    migratedFile(
      input,
      found[i]!.map(document => migrateDocument(document, wish, recorded)),
    ),
  )
}

function migratedFile(input: InputFile, documents: readonly MigratedDocument[]): MigratedFile {
  const { source, mark } = input
  const text = applyEdits(
    source.text,
    documents.flatMap(({ edits }) => edits),
  )
  const isGood = isAsMeant(input, text, documents)
  const findings = documents
    .flatMap(document => document.findings)
    .concat(isGood ? [] : { offset: 0, message: 'the changes would damage the file', kind: 'left' })
    .toSorted((a, b) => a.offset - b.offset)
    .map(({ offset, message, kind }) => ({ ...lineAndColumn(source, offset), message, kind }))
  const counts = { expressions: 0, understood: 0, rewritten: 0, reported: 0 }
  for (const document of documents) {
    for (const key of Object.keys(counts) as (keyof Counts)[]) counts[key] += document.counts[key]
  }
  if (!isGood)
    return { input, text: mark + source.text, isChanged: false, findings, counts: { ...counts, rewritten: 0 } }
  return { input, text: mark + text, isChanged: text !== source.text, findings, counts }
}

/** The new file must say what the old one did but for what was meant to change. Where it does not, that is a mistake of this program. */
function isAsMeant(input: InputFile, text: string, documents: readonly MigratedDocument[]): boolean {
  if (input.kind === 'promql' || text === input.source.text) return true
  const edits = new Map(documents.flatMap(({ editsByText }) => [...editsByText]))
  const expected = textsOf(input.tree).map(node => applyEdits(node.text, edits.get(node) ?? []))
  const inner = documents.length > 1
  const found = textsIn(input.name, text)
  return found?.length === expected.length && found.every((one, i) => one === expected[i] || (inner && isInner(one)))
}

function textsIn(name: string, text: string): string[] | undefined {
  try {
    return textsOf(readContent(name, text).tree).map(node => node.text)
  } catch (error) {
    if (error instanceof ConfigError) return undefined
    throw error
  }
}

/** Holds a document itself, whose texts were changed and not it. */
function isInner(text: string): boolean {
  return text.includes('\n') || text.trimStart().startsWith('{')
}
