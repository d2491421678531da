/** Sends a request and writes down all that its handler hears. */
import type { Network, NetworkRequest } from '../../../pipeline/component.ts'

export type Recorded = {
  /** `head 200`, `chunk`, `end`, `failed`; several chunks in a row count once. */
  readonly events: readonly string[]
  readonly status: number
  readonly headers: ReadonlyMap<string, string>
  readonly body: string
  /** Message of the failure. */
  readonly error: string | undefined
}

/** Resolves at the end or the failure. Bytes are read as latin1. */
export function recordResponse(
  network: Network,
  request: Partial<NetworkRequest> & { url: string },
): Promise<Recorded> {
  return new Promise(resolve => {
    const events: string[] = []
    const pieces: Buffer[] = []
    let status = 0
    let headers: ReadonlyMap<string, string> = new Map()
    let error: string | undefined
    const finish = (): void =>
      resolve({ events, status, headers, body: Buffer.concat(pieces).toString('latin1'), error })
    network.request(
      { timeoutMs: 5000, ...request },
      {
        head(itsStatus, itsHeaders) {
          status = itsStatus
          headers = itsHeaders
          events.push(`head ${status}`)
        },
        chunk(bytes) {
          if (events.at(-1) !== 'chunk') events.push('chunk')
          pieces.push(Buffer.from(bytes))
        },
        end() {
          events.push('end')
          finish()
        },
        failed(itsError) {
          events.push('failed')
          error = itsError.message
          finish()
        },
      },
    )
  })
}
