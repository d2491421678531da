/** What to do after an attempt to list or watch is over: when to try again, and from where. */
import { ApiError, isExpired } from './api-error.ts'
import { createBackOff, type Random } from './back-off.ts'
import { SilenceError } from './transport.ts'

/** `stream` is a watch that tells all objects first; when it has, it is a `watch` that `began` as a stream. */
export type Attempt = {
  began: 'stream' | 'list' | 'watch'
  kind: 'stream' | 'list' | 'watch'
  opened: boolean
  livedMs: number
}

export type Verdict = {
  readonly delayMs: number
  /** Why the watch is over, for own metrics. */
  readonly reason: 'ended' | 'dropped' | 'silent' | 'expired' | 'error' | 'unreadable'
  /** The version reached is of no use: everything must be listed again. */
  readonly relist?: boolean
  readonly unavailable?: 'forbidden' | 'missing'
  /** The server has no streaming lists; or this one did not work, so that the next list is read in pages. */
  readonly streaming?: 'never' | 'not now'
  /** The server was not there, and may come back with another past. */
  readonly away?: boolean
  /** What there is to say of this kind; that there is no API, or none that knows us, is said elsewhere. */
  readonly complaint?: string
}

export type Recovery = {
  /** A list is complete, or the server has ended a watch. */
  ended(attempt: Attempt): Verdict
  failed(attempt: Attempt, error: Error): Verdict
  /** The server answers. */
  opened(): void
  /** An event or a bookmark came. */
  heard(): void
  /** By how much longer than usual silence is borne. */
  readonly patience: number
  /** How often in a row the kind was not there. */
  readonly timesMissing: number
}

/** With the longest delay, a server that is well again is asked within 20 s. */
const DELAYS = { firstMs: 500, longestMs: 15_000 }
/** A server that is just starting may say both for a moment. */
const FORBIDDEN = { firstMs: 10_000, longestMs: 300_000 }
/** Until it has read its own roles it refuses everybody: what could be read before is refused so often before that is believed. */
const REFUSALS_OF_A_START = 3
const REFUSED = { firstMs: 1000, longestMs: 4000 }
const MISSING = { firstMs: 10_000, longestMs: 60_000 }
const LONGEST_RETRY_AFTER_MS = 300_000
/** What lasted this long was no failure to start. */
const HEALTHY_MS = 5000
/** So many failures in a row are worth a word. */
const FAILURES_TO_MENTION = 3
/** Statuses that speak of the moment, not of what was asked for. */
const PASSING = [401, 408, 429]

export function createRecovery(random: Random): Recovery {
  const backOff = createBackOff(random, DELAYS.firstMs, DELAYS.longestMs)
  const forbidden = createBackOff(random, FORBIDDEN.firstMs, FORBIDDEN.longestMs)
  const refused = createBackOff(random, REFUSED.firstMs, REFUSED.longestMs)
  const missing = createBackOff(random, MISSING.firstMs, MISSING.longestMs)
  let wasAllowed = false
  let expirations = 0
  let patience = 1

  function afterAnswer({ kind }: Attempt, error: ApiError): Verdict {
    const { status, retryAfterMs = 0, message } = error
    if (status === 403) {
      const mayBeStarting = wasAllowed && refused.count < REFUSALS_OF_A_START
      if (mayBeStarting) return { reason: 'error', delayMs: refused.next(), away: true }
      return { reason: 'error', delayMs: forbidden.next(), unavailable: 'forbidden', complaint: message }
    }
    if (status === 404) return { reason: 'error', delayMs: missing.next(), unavailable: 'missing', relist: true }
    if (kind === 'stream' && (status === 400 || status === 422)) {
      return { reason: 'error', delayMs: 0, streaming: 'never' }
    }
    const delayMs = Math.max(backOff.next(), Math.min(retryAfterMs, LONGEST_RETRY_AFTER_MS))
    if (status >= 500 || PASSING.includes(status)) {
      const isWorthAWord = status !== 401 && backOff.count >= FAILURES_TO_MENTION
      return { reason: 'error', delayMs, away: true, ...(isWorthAWord && { complaint: message }) }
    }
    return { reason: 'error', delayMs, relist: true, complaint: message }
  }

  return {
    ended({ kind, livedMs }) {
      // A server to which every version is too old is not asked for one list after the other.
      if (kind === 'list') return { reason: 'ended', delayMs: expirations > 1 ? backOff.next() : 0 }
      if (livedMs < HEALTHY_MS) return { reason: 'ended', delayMs: backOff.next() }
      backOff.reset()
      return { reason: 'ended', delayMs: 0 }
    },

    failed(attempt, error) {
      const { began, kind, opened, livedMs } = attempt
      if (livedMs >= HEALTHY_MS && opened) backOff.reset()
      if (isExpired(error)) {
        expirations++
        const mayListNow = began === 'watch' || expirations === 1
        return { reason: 'expired', delayMs: mayListNow ? 0 : backOff.next(), relist: true }
      }
      if (error instanceof ApiError) return afterAnswer(attempt, error)
      const isSilent = error instanceof SilenceError
      // A server that is slow to begin would never be heard if each attempt were as short as the first.
      if (isSilent && !opened) patience = 2
      const isMeasuredByTime = isSilent && kind === 'watch'
      const delayMs = isMeasuredByTime ? 0 : backOff.next()
      return {
        reason: isSilent ? 'silent' : 'dropped',
        delayMs,
        away: !opened,
        ...(kind === 'stream' && { streaming: 'not now' }),
        ...(opened && backOff.count >= FAILURES_TO_MENTION && { complaint: error.message }),
      }
    },

    opened() {
      patience = 1
      wasAllowed = true
      refused.reset()
      forbidden.reset()
      missing.reset()
    },
    heard() {
      backOff.reset()
      expirations = 0
    },
    get patience() {
      return patience
    },
    get timesMissing() {
      return missing.count
    },
  }
}
