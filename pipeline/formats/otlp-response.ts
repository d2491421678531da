/**
 * What a destination answers, in protobuf or JSON: ExportMetricsServiceResponse where it took a request, Status of google.rpc where it
 * did not.
 *
 *     ExportMetricsServiceResponse 1 partial_success    ExportMetricsPartialSuccess 1 rejected_data_points, 2 error_message
 *     Status                       1 code, 2 message
 */

export type PartialSuccess = { readonly rejectedPoints: number; readonly message: string }

/** Undefined if everything was taken. Throws if it cannot be read. */
export function readPartialSuccess(body: Uint8Array, isJson: boolean): PartialSuccess | undefined {
  return isJson ? partialSuccessOfJson(body) : partialSuccessOfProtobuf(body)
}

/** What a Status says; undefined if there is none or nothing in it. */
export function readStatusMessage(body: Uint8Array, isJson: boolean): string | undefined {
  try {
    const message = isJson ? (parseJson(body)['message'] as unknown) : protobufFields(body).get(2)
    const text = message instanceof Uint8Array ? Buffer.from(message).toString() : message
    return typeof text === 'string' && text !== '' ? text : undefined
  } catch {
    // Most that answer with an error are proxies, and do not speak OTLP.
    return undefined
  }
}

function partialSuccessOfJson(body: Uint8Array): PartialSuccess | undefined {
  if (body.length === 0) return undefined
  const partial = parseJson(body)['partialSuccess'] as Record<string, unknown> | undefined | null
  if (partial === undefined || partial === null) return undefined
  const rejected = Number(partial['rejectedDataPoints'] ?? 0)
  const message = partial['errorMessage'] ?? ''
  if (!Number.isFinite(rejected) || typeof message !== 'string') throw new Error('partialSuccess cannot be read')
  return found(rejected, message)
}

function parseJson(body: Uint8Array): Record<string, unknown> {
  const parsed: unknown = JSON.parse(Buffer.from(body).toString())
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) throw new Error('it is no object')
  return parsed as Record<string, unknown>
}

function partialSuccessOfProtobuf(body: Uint8Array): PartialSuccess | undefined {
  const partial = protobufFields(body).get(1)
  if (partial === undefined) return undefined
  if (typeof partial === 'number') throw new Error('partial_success is no message')
  const fields = protobufFields(partial)
  const message = fields.get(2)
  return found(Number(fields.get(1) ?? 0), message instanceof Uint8Array ? Buffer.from(message).toString() : '')
}

function found(rejectedPoints: number, message: string): PartialSuccess | undefined {
  return rejectedPoints > 0 || message !== '' ? { rejectedPoints: Math.max(0, rejectedPoints), message } : undefined
}

/** By number: whole numbers, and bytes of what has a length; of a repeated field the last. */
function protobufFields(bytes: Uint8Array): Map<number, number | Uint8Array> {
  const fields = new Map<number, number | Uint8Array>()
  let at = 0

  function varint(): number {
    let value = 0
    for (let shift = 0; shift < 70; shift += 7) {
      if (at >= bytes.length) throw new Error('it ends in the middle')
      const byte = bytes[at++]!
      value += (byte & 0x7f) * 2 ** shift
      if (byte < 0x80) return value
    }
    throw new Error('a number is too long')
  }

  function skip(length: number): Uint8Array {
    if (at + length > bytes.length) throw new Error('it ends in the middle')
    at += length
    return bytes.subarray(at - length, at)
  }

  while (at < bytes.length) {
    const tag = varint()
    const field = Math.floor(tag / 8)
    if (field === 0) throw new Error('a field has no number')
    switch (tag % 8) {
      case 0:
        fields.set(field, varint())
        break
      case 1:
        skip(8)
        break
      case 2:
        fields.set(field, skip(varint()))
        break
      case 5:
        skip(4)
        break
      default:
        throw new Error('a field is of no type there is')
    }
  }
  return fields
}
