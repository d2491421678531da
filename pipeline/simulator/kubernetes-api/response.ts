/** Writing answers: whole documents with their length, long lists in pieces. */
import type { Clock } from '../../component.ts'
import type { StatusError } from './status.ts'

/** `head` comes first, then chunks, then `end` or `fail`; nothing after it. */
export type ApiResponse = {
  head(status: number, headers: Readonly<Record<string, string>>): void
  chunk(text: string): void
  end(): void
  fail(error: Error): void
  /** Whether the client reads so slowly that too much waits for it. */
  isClogged?(): boolean
  /** Whether to go on only when what was written is on its way: then `resume` is called. Never, if the client is gone. */
  waits?(resume: () => void): boolean
}

export const JSON_TYPE = 'application/json'

/** How much text is put together before it is written. */
const CHUNK_CHARACTERS = 65_536

export function sendStatus(response: ApiResponse, { body }: StatusError): void {
  const retryAfter = body.details?.retryAfterSeconds
  send(response, body.code, `${JSON.stringify(body)}\n`, JSON_TYPE, {
    ...(retryAfter !== undefined && { 'retry-after': String(retryAfter) }),
  })
}

export function sendJson(response: ApiResponse, status: number, body: object, type = JSON_TYPE): void {
  send(response, status, `${JSON.stringify(body)}\n`, type)
}

export function sendPageNotFound(response: ApiResponse): void {
  send(response, 404, '404 page not found\n', 'text/plain; charset=utf-8')
}

export function send(
  response: ApiResponse,
  status: number,
  text: string,
  type: string,
  headers: Record<string, string> = {},
): void {
  response.head(status, { 'content-type': type, 'content-length': String(Buffer.byteLength(text)), ...headers })
  response.chunk(text)
  response.end()
}

/** Short lists are sent in one piece, with their length; long ones as they are rendered. */
export function sendPieces(response: ApiResponse, pieces: Iterator<string>): void {
  const first = pieces.next().value as string
  let next = pieces.next()
  if (next.done === true) return send(response, 200, first, JSON_TYPE)
  response.head(200, { 'content-type': JSON_TYPE })
  function goOn(): void {
    while (next.done !== true) {
      const { value } = next
      next = pieces.next()
      response.chunk(value)
      if (response.waits?.(goOn) === true) return
    }
    response.end()
  }
  response.chunk(first)
  if (response.waits?.(goOn) !== true) goOn()
}

export function* inPieces(before: string, items: Iterable<string>, after: string): Generator<string> {
  let text = before
  let separator = ''
  for (const item of items) {
    text += separator + item
    separator = ','
    if (text.length < CHUNK_CHARACTERS) continue
    yield text
    text = ''
  }
  yield text + after
}

/** Adds what all answers have. Nothing is written after the end, nor when the client is gone, which is said by `release`. */
export function guard(response: ApiResponse, clock: Clock): { guarded: ApiResponse; release(): void } {
  let isOver = false
  const guarded: ApiResponse = {
    head(status, headers) {
      if (isOver) return
      const date = new Date(clock.now()).toUTCString()
      response.head(status, { 'cache-control': 'no-cache, private', date, ...headers })
    },
    chunk(text) {
      if (!isOver) response.chunk(text)
    },
    end() {
      if (isOver) return
      isOver = true
      response.end()
    },
    fail(error) {
      if (isOver) return
      isOver = true
      response.fail(error)
    },
    isClogged: () => response.isClogged?.() ?? false,
    waits: resume => isOver || (response.waits?.(() => !isOver && resume()) ?? false),
  }
  return {
    guarded,
    release() {
      isOver = true
    },
  }
}

/** Passes on the first half of the whole text, as if that were all. */
export function truncating(response: ApiResponse): ApiResponse {
  let text = ''
  return {
    head(status, headers) {
      const { 'content-length': _, ...rest } = headers
      response.head(status, rest)
    },
    chunk: more => {
      text += more
    },
    end() {
      response.chunk(text.slice(0, text.length >> 1))
      response.end()
    },
    fail: error => response.fail(error),
  }
}
