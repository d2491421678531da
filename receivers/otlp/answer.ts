/** Answers OTLP over HTTP, as its specification wants it. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { RefusedError, type Log } from '../../pipeline/component.ts'
import { MalformedError } from '../../pipeline/formats/malformed.ts'
import {
  CONTENT_TYPES,
  exportResponse,
  STATUS_CODES,
  statusResponse,
  type OtlpEncoding,
  type StatusName,
} from '../../pipeline/formats/otlp-answer.ts'
import type { Taken } from './intake.ts'
import type { Queue } from './queue.ts'
import { compressionOf, GoneError, NoRoomError, readBody, TooLargeError, unpack } from './request-body.ts'

export type AnswerOptions = {
  readonly maxBodyBytes: number
  readonly maxRequests: number
  readonly maxBytesInFlight: number
  readonly log: Log
  /** One request after the other. */
  readonly queue: Queue
  take(body: Uint8Array, encoding: OtlpEncoding): Promise<Taken>
}

/** When a client that is told to wait should come again: soon where we are busy, later where the pipeline takes nothing. */
const BUSY_SECONDS = '1'
const REFUSED_SECONDS = '5'

export function createAnswer(
  options: AnswerOptions,
): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  const { maxBodyBytes, maxRequests, maxBytesInFlight, log } = options
  let requests = 0
  let bytes = 0
  const room = {
    take(more: number) {
      if (bytes + more > maxBytesInFlight) return false
      bytes += more
      return true
    },
    release(less: number) {
      bytes -= less
    },
  }

  async function receive(request: IncomingMessage, response: ServerResponse, encoding: OtlpEncoding): Promise<void> {
    const header = request.headers['content-encoding']
    const compression = compressionOf(header)
    if (compression === undefined) {
      return sendText(response, 415, `the content encoding "${header}" is not supported: use gzip, zstd or none`)
    }
    const body = await readBody(request, maxBodyBytes, room)
    try {
      // Unpacked in its turn only, so that a little that becomes a lot takes the memory of one.
      const { rejected, message } = await options.queue(async () =>
        options.take(await unpack(body, compression, maxBodyBytes), encoding),
      )
      send(response, 200, CONTENT_TYPES[encoding], exportResponse(encoding, rejected, message))
    } finally {
      room.release(body.length)
    }
  }

  function fail(response: ServerResponse, encoding: OtlpEncoding, error: Error): void {
    log.debug('a request was not taken', { reason: error.message })
    if (response.headersSent || error instanceof GoneError) response.destroy()
    else if (error instanceof MalformedError) sendStatus(response, encoding, 'invalidArgument', error.message)
    else if (error instanceof TooLargeError) sendStatus(response, encoding, 'invalidArgument', error.message, 413)
    else if (error instanceof NoRoomError) sendBusy(response, encoding, error.message)
    else if (error instanceof RefusedError) {
      response.setHeader('retry-after', REFUSED_SECONDS)
      sendStatus(response, encoding, 'unavailable', error.message)
    } else {
      log.error('a request failed inside gpucol', { reason: String(error) })
      sendStatus(response, encoding, 'internal', `Permanent error: ${error.message}`)
    }
  }

  return async (request, response) => {
    const path = request.url?.split('?', 1)[0]
    if (path !== '/v1/metrics') return sendText(response, 404, unknownPath(path))
    if (request.method !== 'POST') {
      response.setHeader('allow', 'POST')
      return sendText(response, 405, 'use POST')
    }
    const encoding = encodingOf(request.headers['content-type'])
    if (encoding === undefined) {
      return sendText(response, 415, 'the content type has to be application/x-protobuf or application/json')
    }
    if (requests >= maxRequests)
      return sendBusy(response, encoding, `${maxRequests} requests are being answered already`)
    requests++
    try {
      await receive(request, response, encoding)
    } catch (error) {
      fail(response, encoding, error as Error)
    } finally {
      requests--
    }
  }
}

/** With or without parameters, such as the charset. */
function encodingOf(contentType = ''): OtlpEncoding | undefined {
  const type = contentType.split(';', 1)[0]!.trim().toLowerCase()
  if (type === CONTENT_TYPES.json) return 'json'
  return type === CONTENT_TYPES.protobuf ? 'protobuf' : undefined
}

function unknownPath(path = ''): string {
  const signal = /^\/v1(?:development)?\/(traces|logs|profiles)$/.exec(path)?.[1]
  if (signal !== undefined) return `gpucol takes metrics only, at /v1/metrics: ${signal} have to go somewhere else`
  return 'there is nothing here: metrics go to /v1/metrics'
}

function sendBusy(response: ServerResponse, encoding: OtlpEncoding, message: string): void {
  response.setHeader('retry-after', BUSY_SECONDS)
  sendStatus(response, encoding, 'resourceExhausted', message)
}

function sendStatus(
  response: ServerResponse,
  encoding: OtlpEncoding,
  name: StatusName,
  message: string,
  http: number = STATUS_CODES[name].http,
): void {
  send(response, http, CONTENT_TYPES[encoding], statusResponse(encoding, STATUS_CODES[name].code, message))
}

function sendText(response: ServerResponse, status: number, message: string): void {
  send(response, status, 'text/plain; charset=utf-8', Buffer.from(`${message}\n`))
}

function send(response: ServerResponse, status: number, contentType: string, body: Uint8Array): void {
  response.writeHead(status, {
    'content-type': contentType,
    'content-length': body.length,
    'x-content-type-options': 'nosniff',
  })
  response.end(body)
}
