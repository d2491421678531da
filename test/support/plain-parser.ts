/**
 * A plain, slow reader of the text formats that judges the fast one: it takes every line apart with regular expressions, as text
 * in which each character is one byte, and remembers nothing.
 */
import type { Dialect } from '../../pipeline/formats/sample-line.ts'

export type PlainSample = { name: string; labels: Map<string, string>; value: number; timeMs: number }
export type PlainExposition = {
  /** By series, in the order of the text: the first of each. */
  samples: Map<string, PlainSample>
  sampleLines: number
  duplicates: number
  badLines: number
  exemplars: number
  /** `type help` of each family, first come first served. */
  families: Map<string, { type?: string; help?: string; unit?: string }>
}

const BLANK = '[ \\t]*'
const QUOTED = '"(?:[^"\\\\]|\\\\[^])*"'
const NAME = '[a-zA-Z_:][a-zA-Z0-9_:]*'
const LABEL = `(?:[a-zA-Z_][a-zA-Z0-9_]*|${QUOTED})${BLANK}=${BLANK}${QUOTED}|${QUOTED}`
const BLOCK = `\\{${BLANK}(?:,${BLANK}|(?:${LABEL})${BLANK}(?:,${BLANK}(?:${LABEL})${BLANK})*(?:,${BLANK})?)?\\}`
const SAMPLE = new RegExp(
  `^${BLANK}(?:(${NAME})(?:${BLANK}(${BLOCK})|(?=[ \\t]))|(${BLOCK}))${BLANK}([^ \\t]+)(.*)$`,
  's',
)
const ONE_LABEL = new RegExp(`(?:([a-zA-Z_][a-zA-Z0-9_]*|${QUOTED})${BLANK}=${BLANK}(${QUOTED})|(${QUOTED}))`, 'g')
const FLOAT = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i
const METADATA = new RegExp(`^${BLANK}#[ \\t]+(HELP|TYPE|UNIT)(?:[ \\t]+(.*))?$`, 's')
const EXEMPLAR = new RegExp(`^#${BLANK}(${BLOCK})${BLANK}([^ \\t]+)${BLANK}([^ \\t]+)?${BLANK}$`)
const TYPES = /^(counter|gauge|histogram|summary|gaugehistogram|gauge_histogram|info|stateset|unknown|untyped)$/

class Bad extends Error {}

export function parsePlainly(bytes: Uint8Array, dialect: Dialect): PlainExposition {
  const result: PlainExposition = {
    samples: new Map(),
    sampleLines: 0,
    duplicates: 0,
    badLines: 0,
    exemplars: 0,
    families: new Map(),
  }
  const lines = Buffer.from(bytes).toString('latin1').split('\n')
  if (lines.at(-1) === '') lines.pop()
  let ended = false
  for (const line of lines) {
    const text = line.endsWith('\r') ? line.slice(0, -1) : line
    try {
      if (ended) throw new Bad()
      if (/^[ \t]*(#|$)/.test(text)) {
        if (dialect === 'openmetrics' && /^[ \t]*#[ \t]*EOF$/.test(text)) ended = true
        else parseMetadata(text, dialect, result)
      } else parseSample(text, dialect, result)
    } catch (error) {
      if (!(error instanceof Bad)) throw error
      result.badLines++
    }
  }
  return result
}

function parseSample(text: string, dialect: Dialect, result: PlainExposition): void {
  const match = SAMPLE.exec(text)
  if (match === null) throw new Bad()
  const [, plainName, block, onlyBlock, valueText, rest] = match
  if (text.slice(0, text.length - valueText!.length - rest!.length).includes('\0')) throw new Bad()
  const labels = new Map<string, string>()
  let name = plainName
  for (const [, labelName, value, quotedName] of (block ?? onlyBlock ?? '').slice(1, -1).matchAll(ONE_LABEL)) {
    if (quotedName !== undefined) {
      if (name !== undefined || quotedName === '""') throw new Bad()
      name = unquote(quotedName)
      continue
    }
    const key = labelName!.startsWith('"') ? unquote(labelName!) : labelName!
    if (key === '' || key === '__name__' || labels.has(key)) throw new Bad()
    labels.set(key, unquote(value!))
  }
  if (name === undefined) throw new Bad()
  const value = parseValue(valueText!)
  const timeMs = parseRest(rest!, dialect, result)
  result.sampleLines++
  for (const [key, text] of labels) if (text === '') labels.delete(key)
  const series = JSON.stringify([name, [...labels].sort(([a], [b]) => (a < b ? -1 : 1))])
  if (result.samples.has(series)) result.duplicates++
  else result.samples.set(series, { name, labels, value, timeMs })
}

function parseRest(rest: string, dialect: Dialect, result: PlainExposition): number {
  const [, timeText, exemplar] = /^[ \t]*([^# \t][^ \t]*(?![^ \t]))?[ \t]*(#.*)?$/s.exec(rest) ?? [
    undefined,
    '?',
    undefined,
  ]
  let timeMs = NaN
  if (timeText !== undefined) {
    if (dialect === 'text' && !/^[+-]?\d{1,19}$/.test(timeText)) throw new Bad()
    timeMs = dialect === 'text' ? Number(timeText) : Math.round(parseValue(timeText) * 1000)
    if (!Number.isFinite(timeMs)) throw new Bad()
  }
  if (exemplar !== undefined && isExemplar(exemplar)) result.exemplars++
  return timeMs
}

function isExemplar(text: string): boolean {
  const match = EXEMPLAR.exec(text)
  if (match === null) return false
  try {
    parseValue(match[2]!)
    return match[3] === undefined || Number.isFinite(parseValue(match[3]))
  } catch {
    return false
  }
}

function parseValue(text: string): number {
  if (/^[+-]?inf(inity)?$/i.test(text)) return text.startsWith('-') ? -Infinity : Infinity
  if (/^nan$/i.test(text)) return NaN
  if (!FLOAT.test(text) || text.length > 1024 || !Number.isFinite(Number(text))) throw new Bad()
  return Number(text)
}

function parseMetadata(text: string, dialect: Dialect, result: PlainExposition): void {
  const match = METADATA.exec(text)
  if (match === null) return
  const [, kind, rest = ''] = match
  if (rest === '') return
  const parts = new RegExp(`^(?:(${NAME})|(${QUOTED}))(?:[ \\t]+(.*))?$`, 's').exec(rest)
  if (parts === null) throw new Bad()
  const name = parts[1] ?? unquote(parts[2]!)
  if (name === '') throw new Bad()
  const content = parts[3] ?? ''
  let family = result.families.get(name)
  if (kind === 'TYPE' && !TYPES.test(content.trimEnd())) throw new Bad()
  if (family === undefined) result.families.set(name, (family = {}))
  if (kind === 'TYPE') {
    const type = content.trimEnd()
    family.type ??= type === 'untyped' ? 'unknown' : type === 'gauge_histogram' ? 'gaugehistogram' : type
  } else if (kind === 'UNIT') family.unit ??= content.trimEnd()
  else {
    const help = Buffer.from(content, 'latin1').toString('utf8')
    const escapes = dialect === 'text' ? /\\([\\n])/g : /\\([\\n"])/g
    family.help ??= help.replace(escapes, (_, escape: string) => (escape === 'n' ? '\n' : escape))
  }
}

function unquote(quoted: string): string {
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.from(quoted.slice(1, -1), 'latin1'))
  } catch {
    throw new Bad()
  }
  return text.replace(/\\([\\n"])/g, (_, escape: string) => (escape === 'n' ? '\n' : escape))
}
