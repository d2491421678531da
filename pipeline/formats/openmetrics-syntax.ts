/**
 * OpenMetrics to the letter, one line at a time, for targets that are read strictly: single blanks, no comments, no blank lines.
 *
 *   # HELP|TYPE|UNIT name text      # EOF      name[{labels}] value [timestamp] [# {labels} value [timestamp]]
 */

/** A line, or what is wrong with it. */
export type StrictLine =
  | { readonly kind: 'eof' }
  | { readonly kind: 'HELP' | 'TYPE' | 'UNIT'; readonly name: string; readonly text: string }
  | ({ readonly kind: 'sample' } & StrictSample)
  | { readonly kind: 'bad'; readonly problem: string }

export type StrictSample = {
  readonly name: string
  readonly labels: ReadonlyMap<string, string>
  readonly value: number
  /** In seconds. */
  readonly timestamp: number | undefined
  readonly hasExemplar: boolean
}

const QUOTED = String.raw`"(?:[^"\\]|\\.)*"`
const NAME = '[a-zA-Z_:][a-zA-Z0-9_:]*'
const LABEL = `(?:(?:[a-zA-Z_][a-zA-Z0-9_]*|${QUOTED})=${QUOTED}|${QUOTED})`
const LABELS = `\\{(?:${LABEL}(?:, ?${LABEL})*)?\\}`
const METADATA = new RegExp(`^# (HELP|TYPE|UNIT) (?:(${NAME})|(${QUOTED})) (.*)$`, 's')
const SAMPLE = new RegExp(
  `^(?:(${NAME})(${LABELS})?|(${LABELS})) ([^ ]+)(?: ([^ #][^ ]*))?(?: # (${LABELS}) ([^ ]+)(?: ([^ ]+))?)?$`,
  's',
)
const EACH_LABEL = new RegExp(`([a-zA-Z_][a-zA-Z0-9_]*|${QUOTED})(?:=(${QUOTED}))?`, 'gy')
const FLOAT = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/
/** In characters, names and values together: what the specification lets an exemplar have. */
const MAX_EXEMPLAR_LENGTH = 128

export function readStrictLine(line: string): StrictLine {
  if (line === '# EOF') return { kind: 'eof' }
  if (line === '') return bad('a blank line is not allowed')
  if (line.startsWith('#')) {
    const match = METADATA.exec(line)
    if (match === null) return bad('neither HELP, TYPE, UNIT nor EOF')
    const [, kind, plain, quoted, text] = match
    return { kind: kind as 'HELP' | 'TYPE' | 'UNIT', name: plain ?? unquote(quoted!), text: text! }
  }
  const match = SAMPLE.exec(line)
  if (match === null) return bad('not a sample')
  const [, plain, block, onlyBlock, valueText, timeText, exemplar, exemplarValue, exemplarTime] = match
  const labels = readLabels(block ?? onlyBlock ?? '', plain)
  if (typeof labels === 'string') return bad(labels)
  const value = readNumber(valueText!)
  if (value === undefined) return bad('the value is not a number')
  const timestamp = timeText === undefined ? undefined : readNumber(timeText)
  if (timeText !== undefined && !isMoment(timestamp)) return bad('the timestamp is not a number')
  if (exemplar !== undefined) {
    const problem = exemplarProblem(exemplar, exemplarValue!, exemplarTime)
    if (problem !== undefined) return bad(problem)
  }
  return { kind: 'sample', ...labels, value, timestamp, hasExemplar: exemplar !== undefined }
}

function bad(problem: string): StrictLine {
  return { kind: 'bad', problem }
}

function readLabels(
  block: string,
  plainName: string | undefined,
): { name: string; labels: Map<string, string> } | string {
  let name = plainName
  const labels = new Map<string, string>()
  const inside = block.slice(1, -1)
  EACH_LABEL.lastIndex = 0
  while (EACH_LABEL.lastIndex < inside.length) {
    const match = EACH_LABEL.exec(inside)!
    const [, key, value] = match
    if (value === undefined) {
      if (name !== undefined) return 'the metric has two names'
      name = unquote(key!)
    } else {
      const label = key!.startsWith('"') ? unquote(key!) : key!
      if (labels.has(label)) return `the label "${label}" is there twice`
      labels.set(label, unquote(value))
    }
    EACH_LABEL.lastIndex += /^,? ?/.exec(inside.slice(EACH_LABEL.lastIndex, EACH_LABEL.lastIndex + 2))![0].length
  }
  if (name === undefined || name === '') return 'a metric name is missing'
  return { name, labels }
}

function exemplarProblem(block: string, value: string, time: string | undefined): string | undefined {
  const read = readLabels(block, 'exemplar')
  if (typeof read === 'string') return `in the exemplar, ${read}`
  let length = 0
  for (const [name, text] of read.labels) length += name.length + text.length
  if (length > MAX_EXEMPLAR_LENGTH) return 'the labels of the exemplar are too long'
  if (readNumber(value) === undefined) return 'the value of the exemplar is not a number'
  if (time !== undefined && !isMoment(readNumber(time))) return 'the timestamp of the exemplar is not a number'
  return undefined
}

export function readNumber(text: string): number | undefined {
  if (FLOAT.test(text)) return Number(text)
  switch (text.toLowerCase()) {
    case 'nan':
      return NaN
    case 'inf':
    case '+inf':
      return Infinity
    case '-inf':
      return -Infinity
    default:
      return undefined
  }
}

function isMoment(seconds: number | undefined): boolean {
  return seconds !== undefined && Number.isFinite(seconds)
}

function unquote(quoted: string): string {
  return quoted.slice(1, -1).replace(/\\([\\n"])/g, (_, escape: string) => (escape === 'n' ? '\n' : escape))
}
