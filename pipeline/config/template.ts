/**
 * Takes a text apart into plain pieces and references.
 *
 *     text      = { "$$" | "${" body "}" | any other character }
 *     body      = text, without "}"
 *
 * `$$` is a dollar. `$1`, `$name` and `${1}` are captures of regular expressions and stay as they are, and so does `${` without
 * a `}`. References nest: `${env:A_${env:B}}`. A reference with an escaped one inside of it (`${env:A:-$${B}}`) stays as it is, as
 * in the Collector, whose reader takes the first `}` and the `${` before it, and so does what is nested deeper than anybody means.
 */

export type Template = readonly (string | Reference)[]

export type Reference = {
  readonly body: Template
  /** Where it stands in the text, with `${` and `}`. */
  readonly start: number
  readonly end: number
}

type Frame = {
  readonly kind: 'text' | 'reference' | 'escaped'
  readonly start: number
  readonly pieces: (string | Reference)[]
  /** An escaped reference stands in it. */
  hasEscaped: boolean
}

const MAX_NESTING = 20
const CAPTURE = /^\d\w*$/
const PLAIN = /[^][^$}]*/y

/** False means that the text is what it says. */
export function mayHaveReferences(text: string): boolean {
  return text.includes('${') || text.includes('$$')
}

export function parseTemplate(text: string): Template {
  const stack: Frame[] = [frame('text', 0)]
  let at = 0
  while (at < text.length) {
    const top = stack.at(-1)!
    if (text.startsWith('$$', at)) {
      const opens = text[at + 2] === '{'
      append(top, opens ? '${' : '$')
      if (opens) stack.push(frame('escaped', at))
      at += opens ? 3 : 2
    } else if (text.startsWith('${', at) && stack.length <= MAX_NESTING) {
      stack.push(frame('reference', at))
      at += 2
    } else if (text[at] === '}' && stack.length > 1) {
      at++
      close(stack, at)
    } else {
      PLAIN.lastIndex = at
      const plain = PLAIN.exec(text)![0]
      append(top, plain)
      at += plain.length
    }
  }
  while (stack.length > 1) flatten(stack, '')
  return stack[0]!.pieces
}

function frame(kind: Frame['kind'], start: number): Frame {
  return { kind, start, pieces: [], hasEscaped: false }
}

function append(frame: Frame, piece: string | Reference): void {
  const { pieces } = frame
  const last = pieces.at(-1)
  if (typeof piece === 'string' && typeof last === 'string') pieces[pieces.length - 1] = last + piece
  else if (piece !== '') pieces.push(piece)
}

function close(stack: Frame[], end: number): void {
  const { kind, start, pieces, hasEscaped } = stack.at(-1)!
  const isCapture = pieces.length === 1 && typeof pieces[0] === 'string' && CAPTURE.test(pieces[0])
  if (kind === 'escaped' || hasEscaped || isCapture) return flatten(stack, '}')
  stack.pop()
  append(stack.at(-1)!, { body: pieces, start, end })
}

/** What looked like a reference is text after all; what stands in it may still be one. */
function flatten(stack: Frame[], closing: string): void {
  const { kind, pieces, hasEscaped } = stack.pop()!
  const parent = stack.at(-1)!
  if (kind === 'reference') append(parent, '${')
  for (const piece of pieces) append(parent, piece)
  append(parent, closing)
  parent.hasEscaped ||= hasEscaped || (kind === 'escaped' && closing !== '')
}

/** The reference, if the text is one reference and nothing else. */
export function onlyReference(template: Template): Reference | undefined {
  const [first] = template
  return template.length === 1 && typeof first === 'object' ? first : undefined
}

export type ReferenceParts = {
  /** What stands before the colon, `env` where there is no colon. */
  readonly scheme: string
  /** There is no scheme: it may be meant as a capture. */
  readonly isBare: boolean
  readonly rest: Template
}

/** `env:NAME` or `NAME`. `NAME:-default` has a colon and no scheme, unless there is a scheme of that name. */
export function referenceParts(body: Template, schemes: { has(name: string): boolean }): ReferenceParts {
  const [head = ''] = body
  const [, scheme] = (typeof head === 'string' && /^([A-Za-z][\w+.-]*):/.exec(head)) || []
  if (typeof head !== 'string' || scheme === undefined) return { scheme: 'env', isBare: true, rest: body }
  if (!schemes.has(scheme) && head.startsWith(':-', scheme.length)) return { scheme: 'env', isBare: true, rest: body }
  return { scheme, isBare: false, rest: [head.slice(scheme.length + 1), ...body.slice(1)] }
}

/** `NAME:-default` into its two halves. */
export function splitDefault(rest: Template): { name: Template; fallback?: Template } {
  const index = rest.findIndex(piece => typeof piece === 'string' && piece.includes(':-'))
  const piece = rest[index]
  if (typeof piece !== 'string') return { name: rest }
  const at = piece.indexOf(':-')
  const name = [...rest.slice(0, index), piece.slice(0, at)]
  const fallback = [piece.slice(at + 2), ...rest.slice(index + 1)].filter(part => part !== '')
  return { name, fallback }
}
