/** Failures of requests and listeners, in the words of whoever wrote the address into a config. */
import type { Destination } from './url.ts'

export function refused(address: string, cause?: unknown): Error {
  return failure(`connection refused by ${address}`, cause)
}

/** The codes of failures that come before a request could be sent. */
const BEFORE_SENDING =
  /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|UND_ERR_CONNECT_TIMEOUT|EHOSTUNREACH|ENETUNREACH|EHOSTDOWN|EMFILE|ENFILE|EADDRNOTAVAIL)$/

/** Whether it is certain that a request that failed so did not reach the server. */
export function neverArrived(error: unknown): boolean {
  const { cause } = error as Error
  if (cause === undefined) return /^connection refused by |^the proxy /.test((error as Error).message)
  const { code = '' } = cause as NodeJS.ErrnoException
  if (BEFORE_SENDING.test(code) || isCertificateCode(code) || alertOf(code) !== undefined) return true
  return code.startsWith('UND_ERR_PRX') || neverArrived(cause)
}

export function timedOut(afterMs: number): Error {
  return new Error(`timed out after ${afterMs < 1000 ? `${afterMs}ms` : `${afterMs / 1000}s`}`)
}

export function closed(): Error {
  return new Error(CLOSED)
}

const CLOSED = 'broken off: connections are being closed'

export function inUse(address: string, cause?: unknown): Error {
  return failure(`${address} is in use by another process`, cause)
}

/** Of status line, headers and trailers together. */
export const HEAD_LIMIT_BYTES = 64 * 1024

export function headersTooLarge(): string {
  return `the headers of the response are larger than ${HEAD_LIMIT_BYTES / 1024} KiB`
}

type Place = Pick<Destination, 'host' | 'address'>

/** By the code of the error. The rest of an error's text is for developers. */
const REASONS: Readonly<Record<string, (at: Place) => string>> = {
  ECONNREFUSED: at => `connection refused by ${at.address}`,
  ENOTFOUND: at => `no such host: ${at.host}`,
  EAI_AGAIN: at => `no answer from DNS for ${at.host}`,
  ECONNRESET: at => `connection reset by ${at.address}`,
  EPIPE: at => `connection reset by ${at.address}`,
  UND_ERR_SOCKET: at => `${at.address} closed the connection before its answer was complete`,
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: at => `${at.address} closed the connection before its answer was complete`,
  UND_ERR_DESTROYED: () => CLOSED,
  UND_ERR_CLOSED: () => CLOSED,
  UND_ERR_HEADERS_OVERFLOW: () => headersTooLarge(),
  UND_ERR_CONNECT_TIMEOUT: at => `no connection to ${at.address}: timed out`,
  ETIMEDOUT: at => `no connection to ${at.address}: timed out`,
  EHOSTUNREACH: at => `no route to ${at.address}`,
  ENETUNREACH: at => `no route to ${at.address}`,
  EHOSTDOWN: at => `${at.address} is down`,
  EMFILE: at => `no connection to ${at.address}: too many open files`,
  ENFILE: at => `no connection to ${at.address}: too many open files`,
  EADDRNOTAVAIL: at => `no connection to ${at.address}: no local port is free`,
  ERR_SSL_WRONG_VERSION_NUMBER: at => `${at.address} does not speak TLS`,
  ERR_SSL_PACKET_LENGTH_TOO_LONG: at => `${at.address} does not speak TLS`,
}

/** What a server says instead of a handshake (RFC 8446, 6.2), by the end of the error's code. No request has reached it then. */
const ALERTS: Readonly<Record<string, string>> = {
  CERTIFICATE_REQUIRED: 'asks for a client certificate',
  // Go's servers said this until 1.21 also where there is none.
  BAD_CERTIFICATE: 'does not accept the client certificate, or asks for one',
  UNSUPPORTED_CERTIFICATE: 'does not accept the client certificate',
  CERTIFICATE_REVOKED: 'does not accept the client certificate',
  CERTIFICATE_UNKNOWN: 'does not accept the client certificate',
  CERTIFICATE_EXPIRED: 'says that the client certificate has expired',
  UNKNOWN_CA: 'does not trust the client certificate',
  HANDSHAKE_FAILURE: 'refuses the handshake: it may ask for a client certificate',
}

function alertOf(code: string): string | undefined {
  return ALERTS[/^ERR_SSL_.*_ALERT_(.+)$/.exec(code)?.[1] ?? '']
}

/** OpenSSL's verdicts on a certificate, as Node spells them. */
const CERTIFICATE_CODE = /CERT|^UNABLE_TO_|^INVALID_CA$|^INVALID_PURPOSE$|^HOSTNAME_MISMATCH$|^PATH_LENGTH_EXCEEDED$/

export function isCertificateCode(code: string): boolean {
  return !code.startsWith('ERR_SSL_') && CERTIFICATE_CODE.test(code)
}

export function describeFailure(error: unknown, at: Place): Error {
  const { code = '', message } = error as NodeJS.ErrnoException
  const reason = REASONS[code]
  if (reason !== undefined) return failure(reason(at), error)
  const alert = alertOf(code)
  if (alert !== undefined) return failure(`${at.address} ${alert}`, error)
  if (isCertificateCode(code)) return failure(`the certificate of ${at.address} is not trusted: ${message}`, error)
  if (code.startsWith('ERR_SSL_') || code.startsWith('ERR_TLS_') || code === 'EPROTO') {
    return failure(`no TLS connection to ${at.address}: ${message}`, error)
  }
  if (code.startsWith('HPE_')) return failure(`malformed response: ${message}`, error)
  return failure(`request to ${at.address} failed: ${message || code || 'no reason given'}`, error)
}

/** Why nobody can listen there. */
export function describeListenFailure(error: unknown, endpoint: string): Error {
  const { code, message } = error as NodeJS.ErrnoException
  switch (code) {
    case 'EADDRINUSE':
      return inUse(endpoint, error)
    case 'EACCES':
    case 'EPERM':
      return failure(`not allowed to listen on ${endpoint}`, error)
    case 'EADDRNOTAVAIL':
      return failure(`cannot listen on ${endpoint}: it is not an address of this machine`, error)
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return failure(`cannot listen on ${endpoint}: no such host`, error)
    default:
      return failure(`cannot listen on ${endpoint}: ${message}`, error)
  }
}

function failure(message: string, cause: unknown): Error {
  return new Error(message, cause === undefined ? undefined : { cause })
}
