/** The query parameters of lists and watches, and the rules of which go together. Unknown ones are passed over. */
import { parseFieldSelector, type FieldSelector } from './field-selector.ts'
import { parseLabelSelector, type LabelSelector } from './label-selector.ts'
import type { Resource } from './resources.ts'
import { badRequest, invalidOptions } from './status.ts'

export type ListOptions = {
  readonly watch: boolean
  readonly labelSelector: LabelSelector
  readonly fieldSelector: FieldSelector
  /** 0 means all. */
  readonly limit: number
  readonly continueToken: string
  readonly resourceVersion: string
  readonly resourceVersionMatch: string
  readonly timeoutSeconds: number
  readonly allowWatchBookmarks: boolean
  readonly sendInitialEvents: boolean | undefined
}

/** Throws the Status that says what is wrong. */
export function parseListOptions(query: URLSearchParams, resource: Resource, streamingLists: boolean): ListOptions {
  const text = (name: string): string => query.get(name) ?? ''
  const options: ListOptions = {
    watch: flag(query, 'watch') ?? false,
    labelSelector: parseLabelSelector(text('labelSelector')),
    fieldSelector: parseFieldSelector(text('fieldSelector'), resource),
    limit: integer(text('limit')),
    continueToken: text('continue'),
    resourceVersion: text('resourceVersion'),
    resourceVersionMatch: text('resourceVersionMatch'),
    timeoutSeconds: integer(text('timeoutSeconds')),
    allowWatchBookmarks: flag(query, 'allowWatchBookmarks') ?? false,
    sendInitialEvents: flag(query, 'sendInitialEvents'),
  }
  const defaulted = streamingLists ? withStreamingDefaults(options) : options
  const problems = defaulted.watch ? watchProblems(defaulted, streamingLists) : listProblems(defaulted)
  if (problems.length > 0) throw invalidOptions(problems)
  return defaulted
}

/** Servers with streaming lists take a watch from no version, or from any, as one that asks for the present state first. */
function withStreamingDefaults(options: ListOptions): ListOptions {
  const { watch, sendInitialEvents, resourceVersion, resourceVersionMatch } = options
  if (!watch || sendInitialEvents !== undefined || resourceVersionMatch !== '') return options
  if (resourceVersion !== '' && resourceVersion !== '0') return options
  return { ...options, sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan' }
}

type Problem = { field: string; reason: string; message: string }

function listProblems(options: ListOptions): Problem[] {
  const { resourceVersionMatch: match, resourceVersion, continueToken, sendInitialEvents } = options
  const problems: Problem[] = []
  if (match !== '') {
    if (resourceVersion === '') {
      problems.push(noMatch('resourceVersionMatch is forbidden unless resourceVersion is provided'))
    }
    if (continueToken !== '') problems.push(noMatch('resourceVersionMatch is forbidden when continue is provided'))
    if (match !== 'Exact' && match !== 'NotOlderThan') problems.push(unknownMatch(match, ['Exact', 'NotOlderThan', '']))
    if (match === 'Exact' && resourceVersion === '0') {
      problems.push(noMatch('resourceVersionMatch "exact" is forbidden for resourceVersion "0"'))
    }
  }
  if (sendInitialEvents !== undefined) {
    problems.push(prohibited('sendInitialEvents', 'sendInitialEvents is forbidden for list'))
  }
  return problems
}

function watchProblems(options: ListOptions, streamingLists: boolean): Problem[] {
  const { resourceVersionMatch: match, continueToken, sendInitialEvents } = options
  const problems: Problem[] = []
  if (sendInitialEvents !== undefined) {
    if (match !== 'NotOlderThan') {
      problems.push(noMatch('sendInitialEvents requires setting resourceVersionMatch to NotOlderThan'))
    }
    if (!streamingLists) {
      const message = 'sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled'
      problems.push(prohibited('sendInitialEvents', message))
    }
  }
  if (match !== '') {
    if (sendInitialEvents === undefined) {
      problems.push(noMatch('resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided'))
    }
    if (match !== 'NotOlderThan') problems.push(unknownMatch(match, ['NotOlderThan']))
    if (continueToken !== '') problems.push(noMatch('resourceVersionMatch is forbidden when continue is provided'))
  }
  return problems
}

function prohibited(field: string, message: string): Problem {
  return { field, reason: 'FieldValueForbidden', message: `Forbidden: ${message}` }
}

function noMatch(message: string): Problem {
  return prohibited('resourceVersionMatch', message)
}

function unknownMatch(match: string, supported: readonly string[]): Problem {
  const list = supported.map(value => `"${value}"`).join(', ')
  const message = `Unsupported value: "${match}": supported values: ${list}`
  return { field: 'resourceVersionMatch', reason: 'FieldValueNotSupported', message }
}

/** A parameter that is there means yes, unless it says no. */
export function flag(query: URLSearchParams, name: string): boolean | undefined {
  const value = query.get(name)
  return value === null ? undefined : !['false', '0'].includes(value.toLowerCase())
}

function integer(text: string): number {
  if (text === '') return 0
  if (!/^[-+]?\d+$/.test(text)) throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`)
  return Math.max(0, Number(text))
}
