/** Watches: everybody who wants to hear of changes, what each of them hears, and when it ends. */
import type { Clock } from '../../component.ts'
import type { KubernetesObject } from '../kubernetes-object.ts'
import type { Collection, StoreEvent } from './collection.ts'
import type { ObjectStore } from './object-store.ts'
import type { Representation } from './representation.ts'
import type { ApiResponse } from './response.ts'
import { expired, type StatusError } from './status.ts'

export type WatchRequest = {
  readonly collection: Collection
  readonly representation: Representation
  /** Undefined where all namespaces are watched. */
  readonly namespace: string | undefined
  /** The node whose objects alone are watched, where that is so: there are as many of these as nodes. */
  readonly node: string | undefined
  /** Whether an object of the namespace belongs to what is watched. */
  accepts(object: KubernetesObject): boolean
  /** Changes after this revision are told; undefined means from now on. */
  readonly after: number | undefined
  /** Begin with the objects that there are. */
  readonly initialEvents: boolean
  readonly bookmarks: boolean
  /** Say where the objects that there were end, by a bookmark. */
  readonly initialEventsEnd: boolean
  /** 0 leaves it to the server. */
  readonly timeoutSeconds: number
}

/** Where the lines of a watch go. */
export type WatchOutput = Omit<ApiResponse, 'head'>

/**
 * `drop` breaks all connections, and new ones at once. `hang` lets them stand and never writes to them again, not even when it is
 * over, as behind a firewall that forgot them. `expire` tells every new watch that its version is too old. `truncate` writes half of
 * the next event, then ends.
 */
export type WatchFault = 'drop' | 'hang' | 'expire' | 'truncate'

export type Watches = {
  readonly size: number
  /** Starts a watch. The returned function ends it without a word, when the client is gone. */
  start(request: WatchRequest, output: WatchOutput): () => void
  /** What goes wrong from now on; undefined ends it. */
  misbehave(fault: WatchFault | undefined): void
  /** Tells the next watch that its version is too old, whatever it is. */
  expireNext(): void
  /** Ends all watches properly, and listens to the store no more. */
  close(): void
}

const BOOKMARK_INTERVAL_MS = 60_000
/** A last bookmark comes this long before the end, so that the client resumes close to it. */
const LAST_BOOKMARK_MS = 2000
/** A watch without a timeout of its own ends after this time, at most after twice as much. */
const SHORTEST_WATCH_MS = 1_800_000
/** A change of the whole cluster is told in parts, because its text could be too long for a string. */
const EVENTS_AT_ONCE = 500
const INITIAL_EVENTS_END = { 'k8s.io/initial-events-end': 'true' }

type Watcher = {
  readonly request: WatchRequest
  readonly output: WatchOutput
  readonly after: number
  readonly timers: (() => void)[]
  /** While it still gets the objects that there were: changes wait until it has them all. */
  isBehind: boolean
}

/** The watchers of a kind, so that a change on one node does not touch those of all others. */
type Audience = { readonly anywhere: Set<Watcher>; readonly byNode: Map<string, Set<Watcher>> }

export function createWatches(store: ObjectStore, clock: Clock): Watches {
  const audiences = new Map<Collection, Audience>()
  let started = 0
  let size = 0
  let cancelBookmarks: (() => void) | undefined
  let fault: WatchFault | undefined
  let expiresNext = false

  const unsubscribe = store.subscribe((collection, events) => {
    const audience = audiences.get(collection)
    if (audience === undefined) return
    for (let i = 0; i < events.length; i += EVENTS_AT_ONCE) {
      const some = events.slice(i, i + EVENTS_AT_ONCE)
      const lines = createLineCache()
      inform(audience.anywhere, some, lines)
      if (audience.byNode.size === 0) continue
      for (const [node, ofNode] of eventsByNode(some)) inform(audience.byNode.get(node) ?? [], ofNode, lines)
    }
  })

  function inform(watchers: Iterable<Watcher>, events: readonly StoreEvent[], lines: LineCache): void {
    for (const watcher of watchers) {
      if (watcher.isBehind) continue
      if (watcher.output.isClogged?.() === true) breakOff(watcher)
      else tell(watcher, linesFor(watcher, events, lines))
    }
  }

  /** Where a watcher is kept with those who hear the same. */
  function companyOf({ collection, node }: WatchRequest): Set<Watcher> {
    let audience = audiences.get(collection)
    if (audience === undefined) audiences.set(collection, (audience = { anywhere: new Set(), byNode: new Map() }))
    if (node === undefined) return audience.anywhere
    let company = audience.byNode.get(node)
    if (company === undefined) audience.byNode.set(node, (company = new Set()))
    return company
  }

  function tell(watcher: Watcher, text: string): void {
    if (text === '') return
    if (fault !== 'truncate') return watcher.output.chunk(text)
    forget(watcher)
    watcher.output.chunk(text.slice(0, text.indexOf('\n') >> 1))
    watcher.output.end()
  }

  /** As fast as the client reads, so that a list of the whole cluster does not wait in memory; then what has changed meanwhile. */
  function tellInitial(watcher: Watcher): void {
    const { request, output } = watcher
    const { revision } = store
    const lines = initialLines(request, revision)
    function goOn(): void {
      for (let next = lines.next(); next.done !== true; next = lines.next()) {
        tell(watcher, next.value)
        if (!isHeard(watcher) || output.waits?.(goOn) === true) return
      }
      catchUp(watcher, revision)
    }
    goOn()
  }

  function catchUp(watcher: Watcher, revision: number): void {
    const { collection, initialEventsEnd } = watcher.request
    if (!isHeard(watcher)) return
    if (revision < collection.oldestRevision) return breakOff(watcher)
    watcher.isBehind = false
    tell(watcher, linesFor(watcher, collection.eventsAfter(revision), createLineCache()))
    if (initialEventsEnd) bookmark(watcher, INITIAL_EVENTS_END)
  }

  function isHeard(watcher: Watcher): boolean {
    return companyOf(watcher.request).has(watcher)
  }

  function forget(watcher: Watcher): void {
    const { collection, node } = watcher.request
    const company = companyOf(watcher.request)
    if (!company.delete(watcher)) return
    if (node !== undefined && company.size === 0) audiences.get(collection)?.byNode.delete(node)
    size--
    for (const cancel of watcher.timers) cancel()
  }

  function breakOff(watcher: Watcher): void {
    forget(watcher)
    watcher.output.fail(reset())
  }

  function all(): Watcher[] {
    return [...audiences.values()].flatMap(({ anywhere, byNode }) => [
      ...anywhere,
      ...byNode.values().flatMap(some => some),
    ])
  }

  function bookmark(watcher: Watcher, annotations?: Readonly<Record<string, string>>): void {
    if (watcher.isBehind || store.revision < watcher.after) return
    tell(
      watcher,
      `{"type":"BOOKMARK","object":${watcher.request.representation.bookmark(store.revision, annotations)}}\n`,
    )
  }

  function scheduleBookmarks(): void {
    cancelBookmarks ??= clock.after(BOOKMARK_INTERVAL_MS, () => {
      cancelBookmarks = undefined
      const wanted = all().filter(watcher => watcher.request.bookmarks)
      for (const watcher of wanted) bookmark(watcher)
      if (wanted.length > 0) scheduleBookmarks()
    })
  }

  function scheduleEnd(watcher: Watcher): void {
    const { timeoutSeconds, bookmarks } = watcher.request
    // Spread evenly, and always in the same way, so that not all watches of a server end together.
    const spread = (started * 0.618_033_988_75) % 1
    const timeoutMs = timeoutSeconds > 0 ? timeoutSeconds * 1000 : SHORTEST_WATCH_MS * (1 + spread)
    const end = clock.after(timeoutMs, () => {
      forget(watcher)
      watcher.output.end()
    })
    watcher.timers.push(end)
    if (!bookmarks || timeoutMs <= LAST_BOOKMARK_MS) return
    watcher.timers.push(clock.after(timeoutMs - LAST_BOOKMARK_MS, () => bookmark(watcher)))
  }

  return {
    get size() {
      return size
    },

    start(request, output) {
      const { collection, initialEvents, after = store.revision } = request
      if (fault === 'hang') return nothing
      if (fault === 'drop') {
        output.fail(reset())
        return nothing
      }
      const isExpired = fault === 'expire' || expiresNext || (!initialEvents && after < collection.oldestRevision)
      expiresNext = false
      if (isExpired) {
        writeError(output, tooOld(after, collection))
        return nothing
      }
      const watcher: Watcher = { request, output, after, timers: [], isBehind: initialEvents }
      started++
      size++
      companyOf(request).add(watcher)
      scheduleEnd(watcher)
      if (request.bookmarks) scheduleBookmarks()

      if (initialEvents) tellInitial(watcher)
      else tell(watcher, linesFor(watcher, collection.eventsAfter(after), createLineCache()))
      return () => forget(watcher)
    },

    misbehave(next) {
      fault = next
      if (fault !== 'drop' && fault !== 'hang') return
      for (const watcher of all()) {
        if (fault === 'drop') breakOff(watcher)
        else forget(watcher)
      }
    },
    expireNext() {
      expiresNext = true
    },
    close() {
      unsubscribe()
      cancelBookmarks?.()
      for (const watcher of all()) {
        forget(watcher)
        watcher.output.end()
      }
    },
  }
}

/** The one event of a watch that cannot be, as the API server reports it: not by the status of the answer. */
export function writeError(output: WatchOutput, error: StatusError): void {
  output.chunk(`{"type":"ERROR","object":${JSON.stringify(error.body)}}\n`)
  output.end()
}

/** How much text is put together before it is written. */
const CHUNK_CHARACTERS = 65_536

/** The objects are taken at once, their text is made when it is wanted. */
function initialLines(
  { collection, namespace, representation, accepts }: WatchRequest,
  revision: number,
): Iterator<string> {
  const objects: KubernetesObject[] = []
  for (const [, object] of collection.rangeAt(revision, namespace).entries) if (accepts(object)) objects.push(object)
  return linesOf(objects, representation)
}

function* linesOf(objects: readonly KubernetesObject[], representation: Representation): Generator<string> {
  let text = ''
  for (const object of objects) {
    text += lineOf('ADDED', object, representation)
    if (text.length < CHUNK_CHARACTERS) continue
    yield text
    text = ''
  }
  yield text
}

function tooOld(after: number, { oldestRevision }: Collection): StatusError {
  return expired(`too old resource version: ${after} (${oldestRevision})`)
}

function nothing(): void {}

function reset(): Error {
  return new Error('the connection was reset')
}

/** An event's line is rendered once for all watchers that want it in the same form. */
type LineCache = Map<StoreEvent, Map<string, string>>

function createLineCache(): LineCache {
  return new Map()
}

function linesFor({ request, after }: Watcher, events: readonly StoreEvent[], cache: LineCache): string {
  let text = ''
  for (const event of events) {
    const type = event.revision > after ? typeFor(request, event) : undefined
    if (type !== undefined) text += cachedLine(event, type, request.representation, cache)
  }
  return text
}

/** Changes by the node that the object is on, or was on before. */
function eventsByNode(events: readonly StoreEvent[]): Map<string, StoreEvent[]> {
  const byNode = new Map<string, StoreEvent[]>()
  for (const event of events) {
    for (const node of new Set([nodeOf(event.object), nodeOf(event.previous)])) {
      const some = byNode.get(node)
      if (some === undefined) byNode.set(node, [event])
      else some.push(event)
    }
  }
  return byNode
}

/** Empty for what is on no node, as a field selector has it. */
function nodeOf(object: KubernetesObject | undefined): string {
  return (object?.['spec'] as { nodeName?: string } | undefined)?.nodeName ?? ''
}

/** What a change is to somebody who sees only some objects: an object that no longer belongs to them is gone. */
function typeFor({ namespace, accepts }: WatchRequest, event: StoreEvent): StoreEvent['type'] | undefined {
  const { type, object, previous } = event
  if (namespace !== undefined && namespace !== object.metadata.namespace) return undefined
  const was = previous !== undefined && accepts(previous)
  const is = type !== 'DELETED' && accepts(object)
  if (is) return was ? 'MODIFIED' : 'ADDED'
  return was ? 'DELETED' : undefined
}

function cachedLine(
  event: StoreEvent,
  type: StoreEvent['type'],
  representation: Representation,
  cache: LineCache,
): string {
  let lines = cache.get(event)
  if (lines === undefined) cache.set(event, (lines = new Map()))
  const key = `${type} ${representation.id}`
  let line = lines.get(key)
  if (line === undefined) lines.set(key, (line = lineOf(type, objectFor(event, type), representation)))
  return line
}

/** Of an object that is gone its last state is told, with the revision at which it went. */
function objectFor({ type, object, previous, revision }: StoreEvent, told: StoreEvent['type']): KubernetesObject {
  if (told !== 'DELETED' || type === 'DELETED') return object
  return { ...previous!, metadata: { ...previous!.metadata, resourceVersion: String(revision) } }
}

function lineOf(type: StoreEvent['type'], object: KubernetesObject, representation: Representation): string {
  return `{"type":"${type}","object":${representation.object(object)}}\n`
}
