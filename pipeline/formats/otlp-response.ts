/**
 * What a receiver of OTLP answers, in the encoding of the request.
 *
 * ExportMetricsServiceResponse = 1: { 1: rejected_data_points, 2: error_message }
 * google.rpc.Status = 1: code, 2: message
 */

export type OtlpEncoding = 'protobuf' | 'json'

export const CONTENT_TYPES: Readonly<Record<OtlpEncoding, string>> = {
  protobuf: 'application/x-protobuf',
  json: 'application/json',
}

/** Names and numbers of gRPC, which OTLP uses over HTTP, too, with the HTTP status of each. */
export const STATUS_CODES = {
  invalidArgument: { code: 3, http: 400 },
  permissionDenied: { code: 7, http: 403 },
  resourceExhausted: { code: 8, http: 429 },
  unimplemented: { code: 12, http: 404 },
  internal: { code: 13, http: 500 },
  unavailable: { code: 14, http: 503 },
  unauthenticated: { code: 16, http: 401 },
} as const

export type StatusName = keyof typeof STATUS_CODES

/** Says how many points were not taken, and why; nothing where all were. */
export function exportResponse(encoding: OtlpEncoding, rejected: number, message: string): Uint8Array {
  const isWhole = rejected === 0 && message === ''
  if (encoding === 'json') {
    const partialSuccess = { rejectedDataPoints: String(rejected), errorMessage: message }
    return Buffer.from(JSON.stringify(isWhole ? {} : { partialSuccess }))
  }
  if (isWhole) return new Uint8Array(0)
  return field(1, Buffer.concat([number(1, rejected), field(2, Buffer.from(message))]))
}

export function statusResponse(encoding: OtlpEncoding, code: number, message: string): Uint8Array {
  if (encoding === 'json') return Buffer.from(JSON.stringify({ code, message }))
  return Buffer.concat([number(1, code), field(2, Buffer.from(message))])
}

function field(number: number, bytes: Uint8Array): Buffer {
  return bytes.length === 0 ? Buffer.alloc(0) : Buffer.concat([varint((number << 3) | 2), varint(bytes.length), bytes])
}

function number(field: number, value: number): Buffer {
  return value === 0 ? Buffer.alloc(0) : Buffer.concat([varint(field << 3), varint(value)])
}

function varint(value: number): Buffer {
  const bytes: number[] = []
  let rest = value
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes.push((rest % 0x80) | 0x80)
  return Buffer.from([...bytes, rest])
}
