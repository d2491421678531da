/** A response as a whole, for callers with no need to read along. */
import type { Network, NetworkRequest } from '../component.ts'

export type WholeResponse = {
  readonly status: number
  readonly headers: ReadonlyMap<string, string>
  readonly body: Buffer
}

/** Rejects if the request fails, if the body is larger than the limit, or with the signal's reason when that is aborted. */
export function readBody(
  network: Network,
  request: NetworkRequest,
  limitBytes: number,
  signal?: AbortSignal,
): Promise<WholeResponse> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted()
    const pieces: Uint8Array[] = []
    let length = 0
    let status = 0
    let headers: ReadonlyMap<string, string> = new Map()
    function abandon(error: Error): void {
      cancel()
      signal?.removeEventListener('abort', abort)
      reject(error)
    }
    const abort = (): void => abandon(signal!.reason as Error)
    const cancel = network.request(request, {
      head(itsStatus, itsHeaders) {
        status = itsStatus
        headers = itsHeaders
      },
      chunk(bytes) {
        length += bytes.length
        if (length <= limitBytes) pieces.push(bytes.slice())
        else abandon(new Error(`the response is larger than ${limitBytes} bytes`))
      },
      end() {
        signal?.removeEventListener('abort', abort)
        resolve({ status, headers, body: Buffer.concat(pieces, length) })
      },
      failed(error) {
        signal?.removeEventListener('abort', abort)
        reject(error)
      },
    })
    signal?.addEventListener('abort', abort, { once: true })
  })
}
