/** Says in our words what is wrong with a text that is no YAML. */
import { visit, type Document, type ErrorCode, type YAMLError } from 'yaml'
import type { Finding } from './finding.ts'
import { lineAndColumn, type Source } from './source.ts'

/** The library's own messages may quote the source, so only the words here are ever shown. */
const MESSAGES: Partial<Record<ErrorCode, string>> = {
  TAB_AS_INDENT: 'a tab cannot indent YAML; use spaces',
  BAD_INDENT: 'this is not indented like what it belongs to',
  BLOCK_AS_IMPLICIT_KEY: 'a second `key: value` in one line; indent it on a line of its own, or put the text in quotes',
  MULTILINE_IMPLICIT_KEY: 'this line belongs to nothing; is it indented too far, or does the line above lack a colon?',
  BAD_SCALAR_START: 'a text cannot begin with this character unless it is in quotes',
  BAD_DQ_ESCAPE: 'unknown escape after `\\`; in single quotes a `\\` is just that',
  BAD_ALIAS: 'an alias needs a name after `*`',
  BAD_DIRECTIVE: 'a line that begins with `%` is not understood here',
  BLOCK_IN_FLOW: 'what stands in `{ }` or `[ ]` cannot hold indented lines',
  KEY_OVER_1024_CHARS: 'a key is longer than 1024 characters',
  MULTIPLE_DOCS: 'a second document begins here; one file holds one',
  NON_STRING_KEY: 'a key must be a text',
  RESOURCE_EXHAUSTION: 'nested too deeply',
  TAG_RESOLVE_FAILED: 'this tag is not known',
  UNEXPECTED_TOKEN: 'this is not expected here; does the text need quotes?',
}

export function syntaxFindings(source: Source, document: Document): Finding[] {
  const findings: Finding[] = []
  const lines = new Set<number>()
  for (const error of inOrder([...document.errors, ...document.warnings])) {
    const start = startOf(error, source.text, document)
    // One mistake makes the library stumble several times in a row.
    const touched = [lineAndColumn(source, error.pos[0]).line, lineAndColumn(source, start).line]
    if (touched.some(line => lines.has(line))) continue
    for (const line of touched) lines.add(line)
    const place = { source, start, end: start + 1 }
    findings.push({ place, message: messageFor(error, source.text, start), isAboutYaml: true })
    // What comes after it is as foreign to the library as this.
    if (error.code === 'UNEXPECTED_TOKEN') break
  }
  return findings
}

/** Of two complaints about one place the one about a key over several lines says what happened. */
function inOrder(errors: YAMLError[]): YAMLError[] {
  const rank = (error: YAMLError) => (error.code === 'MULTILINE_IMPLICIT_KEY' ? 0 : 1)
  return errors.sort((a, b) => a.pos[0] - b.pos[0] || rank(a) - rank(b))
}

function startOf(error: YAMLError, text: string, document: Document): number {
  const [start, end] = error.pos
  if (isUnclosedQuote(error)) return openingQuote(document, start) ?? start
  // The line above may be as it should be; the one that does not fit is the next.
  if (error.code === 'MULTILINE_IMPLICIT_KEY') {
    const lineBreak = /\n\s*/.exec(text.slice(start, end))
    if (lineBreak !== null) return start + lineBreak.index + lineBreak[0].length
  }
  const blanks = /^ +(?=\S)/.exec(text.slice(start, end + 1000))?.[0].length ?? 0
  return Math.min(start + blanks, Math.max(0, text.length - 1))
}

/** An unclosed quote is noticed at the end of the file; where it opens is what helps. */
function openingQuote(document: Document, noticedAt: number): number | undefined {
  let opening: number | undefined
  visit(document, {
    Scalar(_, { type, range }) {
      if (type?.startsWith('QUOTE') && range && range[1] >= noticedAt - 1) opening = range[0]
    },
  })
  return opening
}

function messageFor(error: YAMLError, text: string, start: number): string {
  if (isUnclosedQuote(error)) return 'this quote is not closed'
  const opensReference = text[start] === '{' && text[start - 1] === '$'
  if (error.code === 'UNEXPECTED_TOKEN' && opensReference)
    return '`${...}` inside of `{ }` or `[ ]` needs quotes around it'
  if (error.code === 'UNEXPECTED_TOKEN' && /[\]}]/.test(text[start] ?? ''))
    return `nothing is open that \`${text[start]}\` could close`
  if (error.code === 'MISSING_CHAR' && /map values/.test(error.message))
    return 'a key needs a colon and a space after it'
  if (/must end with a|sufficiently indented and end/.test(error.message))
    return 'a `{` or `[` before this is not closed'
  return MESSAGES[error.code] ?? 'this is not valid YAML'
}

function isUnclosedQuote(error: YAMLError): boolean {
  return error.code === 'MISSING_CHAR' && error.message.includes('quote')
}
