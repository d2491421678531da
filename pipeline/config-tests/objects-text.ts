/** Kubernetes objects as people keep them in files: a v1 List in JSON, or YAML documents. */
import { isNode, parseAllDocuments, type Document } from 'yaml'
import type { Finding } from '../config/finding.ts'
import { objectsFromDocuments } from '../simulator/kubernetes-api/object-problems.ts'
import type { GivenObject } from '../simulator/kubernetes-api/object-identity.ts'
import type { Content } from './content.ts'

/** Undefined if something is wrong, which is reported at its place. */
export function readObjects(content: Content, report: (finding: Finding) => void): readonly GivenObject[] | undefined {
  const text = Buffer.from(content.bytes).toString()
  const json = parseJson(text)
  if (json !== undefined) {
    const { objects, problems } = objectsFromDocuments([json])
    if (problems.length === 0) return objects
  }
  // YAML holds JSON, and knows where everything stands; it takes ten times as long.
  const documents = parseAllDocuments(text, { prettyErrors: false }) as Document.Parsed[]
  const fail = (offset: number, message: string): void =>
    report({ place: content.placeOfLine(lineOf(text, offset)), message })
  const errors = documents.flatMap(document => document.errors)
  for (const { pos, message } of errors) fail(pos[0], `this is not valid YAML: ${message}`)
  if (errors.length > 0) return undefined
  const { objects, problems } = objectsFromDocuments(documents.map(document => document.toJS() as unknown))
  for (const { document, path, message } of problems) fail(offsetOf(documents[document]!, path), message)
  return problems.length > 0 ? undefined : objects
}

function parseJson(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return undefined
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

/** Of the value that a path leads to, or the last one on the way that exists. */
function offsetOf(document: Document.Parsed, path: readonly (string | number)[]): number {
  for (let length = path.length; length > 0; length--) {
    const node = document.getIn(path.slice(0, length), true)
    if (isNode(node) && node.range) return node.range[0]
  }
  return document.contents?.range[0] ?? document.range[0]
}

function lineOf(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length
}
