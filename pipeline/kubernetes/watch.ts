/**
 * Follows the objects of a kind: all that there are, then every change, for as long as it is not stopped.
 *
 * Where the server can, one watch tells both; else a list in pages comes first. A watch that ends goes on from the version it had
 * reached. When that version is too old, everything is listed again and compared with what is known, so that nobody hears of an
 * object that has not changed. Whatever happens on the way, the only end is `stop`.
 */
import { ApiError } from './api-error.ts'
import { isOlder, type ApiObject } from './api-object.ts'
import { createRandom } from './back-off.ts'
import type { KubernetesClient } from './client.ts'
import { acceptOf, currentVersion, listObjects, PAGE_LIMIT, QUIET_MS, selectionQuery, type Selection } from './list.ts'
import { createObjectTable, type TableHandler } from './object-table.ts'
import { createRecovery, type Attempt, type Verdict } from './recovery.ts'
import { collectionPath, type ResourceName } from './resource-path.ts'
import { createWatchReport } from './watch-report.ts'
import { readWatch } from './watch-stream.ts'

export type WatchedResource<T> = ResourceName &
  Selection & {
    /** What is held of an object: nothing else of it is. Undefined if it is of no interest. */
    keep(object: ApiObject): T | undefined
    /** A change that makes no difference is not reported. */
    isSame?(kept: T, before: T): boolean
    /** A watch in which nothing was heard for so long is begun anew. 20 s unless told otherwise: shorter than bookmarks need. */
    readonly quietMs?: number
  }

/** Called with what `keep` returned. An object is told from another by its uid: one that is made anew is removed, then added. */
export type WatchHandler<T> = TableHandler<T> & {
  /** Everything that there is has been told. Again after each list that had to be read anew. */
  synced(): void
  /** The kind is not there, or may not be read, and nothing will come for now. It is tried again, rarely. */
  unavailable?(reason: 'forbidden' | 'missing'): void
}

export type WatchState = 'starting' | 'synced' | 'forbidden' | 'missing'

export type ResourceWatch<T> = {
  state(): WatchState
  /** How many objects are held. */
  readonly size: number
  values(): IterableIterator<T>
  /** Nothing is called after this. */
  stop(): void
}

/** Between 5 and 10 minutes, so that not all watches of a server end together. */
const SHORTEST_WATCH_SECONDS = 300
/** So long the server may take to end a watch whose time is over. */
const END_GRACE_MS = 30_000
const QUIET_WATCH_MS = 20_000
/** A list that took too long is read in larger pages, which takes less time. */
const LARGEST_PAGE = 8000
/** After something that could not be read everything is compared again, but not more often than this. */
const COMPARE_AFTER_MS = 5000
const COMPARE_INTERVAL_MS = 300_000

/** Starts at once. */
export function watchResource<T>(
  client: KubernetesClient,
  resource: WatchedResource<T>,
  handler: WatchHandler<T>,
): ResourceWatch<T> {
  const { transport, surroundings } = client
  const { clock } = surroundings
  const path = collectionPath(resource)
  const selection = selectionQuery(resource).toString()
  const random = createRandom(clock, `${path}?${selection}`)
  const recovery = createRecovery(random)
  const report = createWatchReport(surroundings, resource, () => table.size)
  const table = createObjectTable(resource.keep, resource.isSame, {
    added: kept => tell(() => handler.added(kept)),
    changed: (kept, before) => tell(() => handler.changed(kept, before)),
    removed: kept => tell(() => handler.removed(kept)),
  })

  let state: WatchState = 'starting'
  let version: string | undefined
  let streaming: Verdict['streaming'] | undefined
  let pageLimit = PAGE_LIMIT
  let mayHaveNewHistory = false
  let isNewHistory = false
  let comparedMs = -Infinity
  let cancelComparison: (() => void) | undefined
  let stopped = false
  let attempting = new AbortController()
  let wake = (): void => {}

  function tell(run: () => void): void {
    if (!stopped) report.tell(run)
  }

  function become(next: WatchState): void {
    if (state === next) return
    state = next
    if (next === 'forbidden' || next === 'missing') tell(() => handler.unavailable?.(next))
  }

  function isWell(): void {
    report.well()
    become('synced')
  }

  function take(run: () => void): void {
    try {
      run()
    } catch (error) {
      report.skipped((error as Error).message)
    }
  }

  /** What could not be read may have been any object, or the end of one. */
  function planComparison(): void {
    const waitMs = Math.max(COMPARE_AFTER_MS, comparedMs + COMPARE_INTERVAL_MS - clock.monotonic())
    cancelComparison ??= clock.after(waitMs, () => {
      comparedMs = clock.monotonic()
      version = undefined
      streaming ??= 'not now'
      attempting.abort(new ComparisonDue())
    })
  }

  function reached(next: string): void {
    if (version === undefined || !isOlder(next, version)) version = next
  }

  function completed(reachedVersion: string): void {
    table.endList(reachedVersion)
    version = reachedVersion
    isNewHistory = false
    pageLimit = PAGE_LIMIT
    streaming = streaming === 'never' ? 'never' : undefined
    cancelComparison?.()
    cancelComparison = undefined
    isWell()
    tell(() => handler.synced())
  }

  async function listAll(attempt: Attempt, signal: AbortSignal): Promise<void> {
    table.beginList(isNewHistory)
    const quietMs = QUIET_MS * recovery.patience
    const options = { ...resource, limit: pageLimit, quietMs, signal }
    const { resourceVersion } = await listObjects(transport, path, options, object => {
      attempt.opened = true
      take(() => table.put(object))
    })
    recovery.opened()
    completed(resourceVersion)
  }

  /** Follows changes after the version that was reached; without one, all objects come first. */
  async function follow(attempt: Attempt, signal: AbortSignal): Promise<void> {
    const timeoutSeconds = Math.round(SHORTEST_WATCH_SECONDS * (1 + random()))
    const query = new URLSearchParams(selection)
    query.set('watch', '1')
    query.set('allowWatchBookmarks', 'true')
    query.set('timeoutSeconds', String(timeoutSeconds))
    query.set('resourceVersion', version ?? '')
    if (attempt.kind === 'stream') {
      query.set('sendInitialEvents', 'true')
      query.set('resourceVersionMatch', 'NotOlderThan')
      table.beginList(isNewHistory)
    }
    const request = {
      path: `${path}?${query.toString()}`,
      accept: acceptOf(resource, false),
      timeoutMs: timeoutSeconds * 1000 + END_GRACE_MS,
      quietMs: (resource.quietMs ?? QUIET_WATCH_MS) * recovery.patience * (1 + random() / 4),
    }
    await readWatch(
      transport,
      request,
      {
        opened() {
          attempt.opened = true
          recovery.opened()
          if (attempt.kind === 'watch') isWell()
        },
        changed(type, object) {
          take(() => {
            if (type === 'DELETED') table.remove(object)
            else table.put(object)
          })
          if (attempt.kind === 'stream') return
          recovery.heard()
          const next: unknown = object?.metadata?.resourceVersion
          if (typeof next === 'string') reached(next)
        },
        bookmark(next, isInitialEnd) {
          if (attempt.kind === 'watch') reached(next)
          else if (isInitialEnd) {
            attempt.kind = 'watch'
            completed(next)
          }
          recovery.heard()
        },
        unreadable(reason) {
          report.skipped(reason)
          // A list without it would end the object. In pages it can be read, whatever it is.
          if (attempt.kind === 'stream') throw new Error(reason)
          planComparison()
        },
      },
      signal,
    )
    if (attempt.kind === 'stream') throw new Error('the watch ended before all objects were told')
  }

  /** A server that lost its store and got an older one back counts anew: from what we have, a watch would hear nothing for long. */
  async function checkHistory(signal: AbortSignal): Promise<void> {
    if (version === undefined || !mayHaveNewHistory) return
    try {
      const now = await currentVersion(transport, path, QUIET_MS * recovery.patience, signal)
      mayHaveNewHistory = false
      if (!isOlder(now, version)) return
      isNewHistory = true
      version = undefined
    } catch (error) {
      // Who may watch need not be allowed to list.
      if (!(error instanceof ApiError) || error.status !== 403) throw error
      mayHaveNewHistory = false
    }
  }

  async function makeAttempt(attempt: Attempt, signal: AbortSignal): Promise<void> {
    await checkHistory(signal)
    if (version === undefined) attempt.began = attempt.kind = streaming === undefined ? 'stream' : 'list'
    await (attempt.kind === 'list' ? listAll(attempt, signal) : follow(attempt, signal))
  }

  /** Returns how long to wait before the next. */
  async function attemptOnce(): Promise<number> {
    attempting = new AbortController()
    const startedMs = clock.monotonic()
    const attempt: Attempt = { began: 'watch', kind: 'watch', opened: false, livedMs: 0 }
    let verdict: Verdict
    try {
      await makeAttempt(attempt, attempting.signal)
      attempt.livedMs = clock.monotonic() - startedMs
      verdict = recovery.ended(attempt)
    } catch (error) {
      attempt.livedMs = clock.monotonic() - startedMs
      verdict = error instanceof ComparisonDue ? COMPARE : recovery.failed(attempt, error as Error)
    }
    if (!stopped) draw(attempt, verdict)
    return verdict.delayMs
  }

  /** The consequences of how an attempt ended. */
  function draw(attempt: Attempt, verdict: Verdict): void {
    report.over(attempt, verdict)
    if (verdict.reason === 'expired' && attempt.kind === 'list') pageLimit = Math.min(pageLimit * 4, LARGEST_PAGE)
    if (verdict.relist === true) version = undefined
    if (verdict.away === true) mayHaveNewHistory = true
    if (streaming !== 'never') streaming = verdict.streaming ?? streaming
    if (verdict.unavailable === 'forbidden') become('forbidden')
    // What was there a moment ago may only be late to come back, when the server starts.
    if (verdict.unavailable === 'missing' && (table.size === 0 || recovery.timesMissing > 1)) {
      table.clear()
      become('missing')
    }
  }

  async function run(): Promise<void> {
    while (!stopped) {
      const delayMs = await attemptOnce()
      if (stopped || delayMs === 0) continue
      await new Promise<void>(resolve => {
        const cancel = clock.after(delayMs, resolve)
        wake = () => {
          cancel()
          resolve()
        }
      })
    }
  }

  void run()
  return {
    state: () => state,
    get size() {
      return table.size
    },
    values: () => table.values(),
    stop() {
      if (stopped) return
      stopped = true
      attempting.abort(new Error('stopped'))
      cancelComparison?.()
      wake()
      report.close()
    },
  }
}

/** Everything is to be compared again, though nothing is wrong with the watch. */
class ComparisonDue extends Error {}

const COMPARE: Verdict = { reason: 'unreadable', delayMs: 0 }
