/** What an answer means by the rules of OTLP/HTTP. */
import { readPartialSuccess, readStatusMessage } from '../../pipeline/formats/otlp-response.ts'
import type { Sent } from '../delivery/payload.ts'
import type { HttpAnswer } from '../delivery/send.ts'

/** All others are for ever: to send the same again would give the same answer. */
const RETRYABLE: ReadonlySet<number> = new Set([429, 502, 503, 504])
/** Whoever answers so is in between, and does not know what became of the request. */
const FROM_BETWEEN: ReadonlySet<number> = new Set([502, 504])
const LONGEST_TEXT = 500

export function judgeOtlp({ status, headers, body }: HttpAnswer): Sent {
  const contentType = headers.get('content-type')?.split(';')[0]!.trim().toLowerCase() ?? ''
  const isJson = contentType === 'application/json' || (contentType === '' && body[0] === 0x7b)
  if (status >= 200 && status < 300) return accepted(contentType, isJson, body)
  const text = readStatusMessage(body, isJson) ?? textOf(contentType, body)
  const message = `it answered ${status}${text === '' ? '' : `: ${text}`}`
  if (!RETRYABLE.has(status)) return { outcome: 'refused', message }
  return { outcome: 'retry', message, ...(FROM_BETWEEN.has(status) && { mayHaveArrived: true as const }) }
}

/** Whatever stands in the answer, the points were taken: they are never sent again. */
function accepted(contentType: string, isJson: boolean, body: Uint8Array): Sent {
  const speaksOtlp = isJson || contentType === 'application/x-protobuf' || contentType === 'application/protobuf'
  if (!speaksOtlp && contentType !== '') return { outcome: 'accepted' }
  try {
    const partial = readPartialSuccess(body, isJson)
    if (partial === undefined) return { outcome: 'accepted' }
    const { rejectedPoints, message } = partial
    return { outcome: 'accepted', rejectedPoints, ...(message !== '' && { message }) }
  } catch (error) {
    if (!speaksOtlp) return { outcome: 'accepted' }
    return { outcome: 'accepted', message: `its answer cannot be read: ${(error as Error).message}` }
  }
}

/** The first words of an answer that is text. */
function textOf(contentType: string, body: Uint8Array): string {
  if (contentType === 'application/x-protobuf' || contentType === 'application/protobuf') return ''
  const text = Buffer.from(body.subarray(0, LONGEST_TEXT)).toString().replace(/\s+/g, ' ').trim()
  return /[\p{Cc}\ufffd]/u.test(text) ? '' : text
}
