/**
 * The log: one line per event, for people (`console`) or programs (`json`).
 *
 * Names and messages come from targets, servers and files, so nothing in them may end a line or reach a terminal as a command.
 */
import type { Log, LogFields } from '../component.ts'

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]
export const LOG_ENCODINGS = ['console', 'json'] as const
export type LogEncoding = (typeof LOG_ENCODINGS)[number]

export type LogOptions = {
  readonly level: LogLevel
  readonly encoding: LogEncoding
  /** Takes a line, with its line end. */
  readonly write: (line: string) => void
  /** Wall clock, in milliseconds since 1970. */
  readonly now: () => number
  /** Whether lines go to a terminal that shows colours; only `console` has them. */
  readonly color?: boolean
}

/** Whose line it is. */
export type LogComponent = { readonly kind: string; readonly id: string; readonly pipeline?: string }

/** The log of one component. It also knows what is failing now, for the component's status. */
export type ComponentLog = Log & { failing(): readonly { readonly subject: string; readonly message: string }[] }

/** The log of the service as a whole. Changes reach all its children at once. */
export type RootLog = ComponentLog & {
  child(component: LogComponent): ComponentLog
  change(options: { readonly level: LogLevel; readonly encoding: LogEncoding }): void
}

export function createLog(options: LogOptions): RootLog {
  let { level, encoding } = options

  function write(at: LogLevel, component: string, message: string, fields: LogFields): void {
    if (LOG_LEVELS.indexOf(at) < LOG_LEVELS.indexOf(level)) return
    const line: Line = { time: new Date(options.now()).toISOString(), level: at, component, message, fields }
    options.write((encoding === 'json' ? jsonLine(line) : consoleLine(line, options.color ?? false)) + '\n')
  }

  return {
    ...createComponentLog('', write),
    child: component => createComponentLog(componentText(component), write),
    change(changed) {
      level = changed.level
      encoding = changed.encoding
    },
  }
}

type Write = (level: LogLevel, component: string, message: string, fields: LogFields) => void

function createComponentLog(component: string, write: Write): ComponentLog {
  const messagesByFailing = new Map<string, string>()
  const at =
    (level: LogLevel) =>
    (message: string, fields: LogFields = {}): void =>
      write(level, component, message, fields)

  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    state(subject, state, message, fields = {}) {
      // The usual case, of every batch.
      if (state !== 'failing' && messagesByFailing.size === 0) return
      const wasFailing = messagesByFailing.has(subject)
      const because = message === undefined ? '' : `: ${message}`
      if (state === 'failing') {
        messagesByFailing.set(subject, message ?? 'failing')
        if (!wasFailing) write('warn', component, `${subject} is failing${because}`, fields)
      } else if (messagesByFailing.delete(subject)) {
        write('info', component, `${subject} is ${state === 'ok' ? 'well again' : 'gone'}${because}`, fields)
      }
    },
    failing: () => Array.from(messagesByFailing, ([subject, message]) => ({ subject, message })),
  }
}

/** Processors exist once per pipeline. */
function componentText({ kind, id, pipeline }: LogComponent): string {
  return pipeline === undefined ? `${kind} ${id}` : `${kind} ${id} (${pipeline})`
}

type Line = {
  readonly time: string
  readonly level: LogLevel
  readonly component: string
  readonly message: string
  readonly fields: LogFields
}

const COLORS: Record<LogLevel, string> = { debug: '\x1b[2m', info: '\x1b[32m', warn: '\x1b[33m', error: '\x1b[31m' }
const NO_COLOR = '\x1b[0m'

function consoleLine({ time, level, component, message, fields }: Line, color: boolean): string {
  const name = level.padEnd(5)
  const parts = [time, color ? COLORS[level] + name + NO_COLOR : name]
  if (component !== '') parts.push(escapeControls(component))
  parts.push(escapeControls(message))
  for (const [key, value] of given(fields)) parts.push(`${fieldKey(key)}=${fieldValue(value)}`)
  return parts.join('  ')
}

function fieldKey(key: string): string {
  return escapeControls(key).replaceAll(/[\s="]/g, '_')
}

function fieldValue(value: string | number | boolean): string {
  if (typeof value !== 'string') return String(value)
  return /^[^\s="\\\p{Cc}\p{Cf}\p{Cs}]+$/u.test(value) ? value : escapeControls(JSON.stringify(value))
}

const OWN_KEYS: ReadonlySet<string> = new Set(['ts', 'level', 'component', 'message'])

function jsonLine({ time, level, component, message, fields }: Line): string {
  const pairs: [string, string | number | boolean][] = [
    ['ts', time],
    ['level', level],
  ]
  if (component !== '') pairs.push(['component', component])
  pairs.push(['message', message])
  for (const [key, value] of given(fields)) {
    // JSON has no NaN and no infinity.
    const printable = typeof value === 'number' && !Number.isFinite(value) ? String(value) : value
    pairs.push([OWN_KEYS.has(key) ? `field_${key}` : key, printable])
  }
  return escapeControls(JSON.stringify(Object.fromEntries(pairs)))
}

function given(fields: LogFields): [string, string | number | boolean][] {
  return Object.entries(fields).filter((pair): pair is [string, string | number | boolean] => pair[1] !== undefined)
}

const SHORT_ESCAPES: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }

/**
 * Writes control characters, invisible ones that change the direction of text, line separators and halves of characters as
 * JSON does. In a JSON text they can only be inside of strings, where that is what they mean.
 */
function escapeControls(text: string): string {
  return text.replaceAll(
    /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu,
    found =>
      SHORT_ESCAPES[found] ??
      Array.from({ length: found.length }, (_, i) => `\\u${found.charCodeAt(i).toString(16).padStart(4, '0')}`).join(
        '',
      ),
  )
}
