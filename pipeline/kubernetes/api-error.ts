/** What the Kubernetes API answers when it does not answer with what was asked for. */

export class ApiError extends Error {
  override name = 'ApiError'
  /** The HTTP status, or the code of a Status that came in a watch. */
  readonly status: number
  /** In a word: `Forbidden`, `Expired`. */
  readonly reason: string | undefined
  /** How long the server wants to be left alone. */
  readonly retryAfterMs: number | undefined

  constructor(status: number, message: string, reason?: string, retryAfterMs?: number) {
    super(message)
    this.status = status
    this.reason = reason
    this.retryAfterMs = retryAfterMs
  }
}

/** Whether the version that was asked for is too old to be told anything about. */
export function isExpired(error: unknown): boolean {
  return error instanceof ApiError && (error.status === 410 || error.reason === 'Expired' || error.reason === 'Gone')
}

/** An answer with this status and body. */
export function errorFromAnswer(
  status: number,
  headers: ReadonlyMap<string, string>,
  body: string,
  nowMs: number,
): ApiError {
  let parsed: unknown
  try {
    parsed = JSON.parse(body)
  } catch {
    // Who is in front of the API, or broken, does not speak its language.
    const text = body.trim().split('\n', 1)[0]!.slice(0, 200)
    return new ApiError(status, describe(status, text), undefined, headerMs(headers, nowMs))
  }
  return errorFromStatus(parsed, status, headerMs(headers, nowMs))
}

/** A Status object, as in the body of an answer or in an ERROR event. */
export function errorFromStatus(value: unknown, httpStatus?: number, headerRetryMs?: number): ApiError {
  const { code, message, reason, details } = (isRecord(value) ? value : {}) as Record<string, unknown>
  const status = httpStatus ?? (typeof code === 'number' ? code : 0)
  const seconds = isRecord(details) ? details['retryAfterSeconds'] : undefined
  const retryAfterMs = headerRetryMs ?? (typeof seconds === 'number' && seconds > 0 ? seconds * 1000 : undefined)
  const text = typeof message === 'string' ? message.slice(0, 500) : ''
  return new ApiError(status, describe(status, text), typeof reason === 'string' ? reason : undefined, retryAfterMs)
}

function describe(status: number, text: string): string {
  return `the Kubernetes API answered ${status}${text === '' ? '' : `: ${text}`}`
}

/** Seconds, or a date. */
function headerMs(headers: ReadonlyMap<string, string>, nowMs: number): number | undefined {
  const value = headers.get('retry-after')
  if (value === undefined) return undefined
  const ms = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - nowMs
  return ms > 0 ? ms : undefined
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
