/** Ids of components and pipelines: `type` or `type/name`, by the Collector's rules, but without blanks. */

export type Id = { readonly type: string; readonly name: string }
export type IdProblem = { readonly problem: string; readonly suggestion?: string }

const TYPE = /^[A-Za-z]\w{0,62}$/
/** No separators, control characters or symbols; punctuation is fine. */
const NAME = /^[^\p{Z}\p{C}\p{S}]{1,1024}$/u
const SIGNALS = ['metrics', 'traces', 'logs', 'profiles']

export function parseId(text: string): Id | IdProblem {
  const slash = text.indexOf('/')
  const type = slash < 0 ? text : text.slice(0, slash)
  const name = slash < 0 ? '' : text.slice(slash + 1)
  if (/\s/.test(text)) return blanks(type.trim(), name.trim(), slash >= 0)
  if (type === '') return { problem: slash < 0 ? 'an id is empty' : `id \`${text}\` has no type before the slash` }
  if (!TYPE.test(type)) return { problem: `\`${type}\` cannot be a type: letters, digits and \`_\`, at most 63` }
  if (slash >= 0 && name === '') return { problem: `id \`${text}\` has no name after the slash` }
  if (slash >= 0 && !NAME.test(name))
    return { problem: `id \`${shorten(text)}\` has a name of more than 1024 characters, or with symbols in it` }
  return { type, name }
}

function blanks(type: string, name: string, hasName: boolean): IdProblem {
  const tidied = hasName ? `${type}/${name}` : type
  const problem = 'an id has no blanks'
  return 'problem' in parseTidied(tidied) ? { problem } : { problem, suggestion: tidied }
}

function parseTidied(tidied: string): Id | IdProblem {
  return /\s/.test(tidied) ? { problem: '' } : parseId(tidied)
}

/** The type is the signal. Every signal of OpenTelemetry is an id that makes sense, whether or not we have it. */
export function parsePipelineId(text: string): Id | IdProblem {
  const id = parseId(text)
  if ('problem' in id || SIGNALS.includes(id.type)) return id
  return { problem: `\`${id.type}\` is no signal; a pipeline is called \`metrics\` or \`metrics/name\`` }
}

export function formatId({ type, name }: Id): string {
  return name === '' ? type : `${type}/${name}`
}

function shorten(text: string): string {
  return text.length > 60 ? `${text.slice(0, 59)}…` : text
}
