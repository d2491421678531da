/**
 * One watch: a body without end, one event a line.
 *
 *     {"type":"ADDED" | "MODIFIED" | "DELETED","object":OBJECT}
 *     {"type":"BOOKMARK","object":{"metadata":{"resourceVersion":VERSION}}}   nothing happened up to this version
 *     {"type":"ERROR","object":STATUS}                                        it is over
 */
import { errorFromStatus } from './api-error.ts'
import { isRecord, type ApiObject } from './api-object.ts'
import { createLineSplitter } from './line-splitter.ts'
import type { ApiRequest, Transport } from './transport.ts'

export type WatchEvents = {
  /** The server has begun to answer. */
  opened(): void
  changed(type: 'ADDED' | 'MODIFIED' | 'DELETED', object: ApiObject): void
  /** `isInitialEnd`: all objects that there were at the beginning have been told. */
  bookmark(version: string, isInitialEnd: boolean): void
  /** A line that says nothing: what it was about is not known. */
  unreadable(reason: string): void
}

/** Larger than anything that etcd takes, unless it was told to take more. */
const LONGEST_LINE_BYTES = 4 * 1024 * 1024

/** Resolves when the server ends the watch; rejects as `Transport.send`, and with the `ApiError` of an ERROR event. */
export function readWatch(
  transport: Transport,
  request: ApiRequest,
  events: WatchEvents,
  signal: AbortSignal,
): Promise<void> {
  const lines = createLineSplitter(
    LONGEST_LINE_BYTES,
    line => readEvent(line, events),
    () => events.unreadable(`an event is larger than ${LONGEST_LINE_BYTES} bytes`),
  )
  // What comes after the last end of a line is half an event, which the next watch has again.
  return transport.send(request, { opened: events.opened, chunk: lines.push }, signal)
}

function readEvent(line: string, events: WatchEvents): void {
  let event: unknown
  try {
    event = JSON.parse(line)
  } catch {
    return events.unreadable('an event is no JSON document')
  }
  const { type, object } = isRecord(event) ? event : {}
  switch (type) {
    case 'ADDED':
    case 'MODIFIED':
    case 'DELETED':
      return events.changed(type, object as ApiObject)
    case 'BOOKMARK':
      return readBookmark(object, events)
    case 'ERROR':
      throw errorFromStatus(object)
    default:
      return events.unreadable('an event has no type that is known')
  }
}

function readBookmark(object: unknown, events: WatchEvents): void {
  const metadata = isRecord(object) && isRecord(object['metadata']) ? object['metadata'] : {}
  const { resourceVersion, annotations } = metadata
  if (typeof resourceVersion !== 'string') return events.unreadable('a bookmark has no resourceVersion')
  events.bookmark(resourceVersion, isRecord(annotations) && annotations['k8s.io/initial-events-end'] === 'true')
}
