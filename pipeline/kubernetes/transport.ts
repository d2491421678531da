/** Requests to the Kubernetes API: who asks, what went wrong, and how long silence is borne. */
import type { Clock, Counters, Log, Network } from '../component.ts'
import type { KubernetesAccess, KubernetesCredentials } from './access.ts'
import { ApiError, errorFromAnswer } from './api-error.ts'

export type TransportOptions = {
  readonly credentials: KubernetesCredentials
  readonly network: Network
  readonly clock: Clock
  readonly log: Log
  readonly counters: Counters
}

export type ApiRequest = {
  /** Path and query. */
  readonly path: string
  readonly accept?: string
  /** From the call to the end of the body. */
  readonly timeoutMs: number
  /** The request is given up when nothing at all was heard for so long. */
  readonly quietMs: number
}

export type BodyHandler = {
  /** The answer begins, and is what was asked for. */
  opened?(): void
  /** The bytes are valid until this returns. */
  chunk(bytes: Uint8Array): void
}

export type Transport = {
  /**
   * Sends a GET; resolves when the body has ended. Rejects with an `ApiError` if the answer is another than success, with a
   * `SilenceError` if nothing is heard, and with the reason of the signal when that is aborted.
   */
  send(request: ApiRequest, handler: BodyHandler, signal?: AbortSignal): Promise<void>
  access(): Promise<KubernetesAccess>
}

/** Nothing was heard for too long. `opened` says whether the answer had begun. */
export class SilenceError extends Error {
  override name = 'SilenceError'
  readonly opened: boolean

  constructor(afterMs: number, opened: boolean) {
    super(`nothing was heard from the Kubernetes API for ${Math.round(afterMs / 1000)}s`)
    this.opened = opened
  }
}

/** What is read of an answer that is not success. */
const MOST_ERROR_BYTES = 64 * 1024
/** One subject for all requests: when the API is away, it is away for everybody. */
const SUBJECT = 'the Kubernetes API'

export function createTransport({ credentials, network, clock, log, counters }: TransportOptions): Transport {
  const { kubernetesUrl } = network
  const fixed = kubernetesUrl === undefined ? undefined : { server: kubernetesUrl.replace(/\/+$/, ''), headers: {} }

  async function access(): Promise<KubernetesAccess> {
    if (fixed !== undefined) return fixed
    try {
      return await credentials.access()
    } catch (error) {
      log.state(SUBJECT, 'failing', (error as Error).message)
      throw error
    }
  }

  /** An answer may concern one kind only, whose server is away or starts. Silence, and not to be known, concern all. */
  function judge(error: Error, opened: boolean): void {
    const isAway = error instanceof ApiError ? error.status === 401 : !opened
    if (isAway) log.state(SUBJECT, 'failing', error.message)
  }

  function exchange(
    { server, ...shown }: KubernetesAccess,
    request: ApiRequest,
    handler: BodyHandler,
    signal: AbortSignal | undefined,
    onHead: () => void,
  ): Promise<void> {
    const { path, accept = 'application/json', timeoutMs, quietMs } = request
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted()
      let status = 0
      let headers: ReadonlyMap<string, string> = new Map()
      let complaint = ''
      let heardMs = clock.monotonic()
      let cancelWait = clock.after(quietMs, wait)

      function wait(): void {
        const leftMs = heardMs + quietMs - clock.monotonic()
        if (leftMs > 0) cancelWait = clock.after(leftMs, wait)
        else give(new SilenceError(quietMs, status !== 0))
      }
      function release(): void {
        cancelWait()
        signal?.removeEventListener('abort', abort)
      }
      function give(error: Error): void {
        cancel()
        release()
        if (status === 0) counters.add('gpucol_receiver_kubernetes_requests', 1, { status: 'failed' })
        reject(error)
      }
      function abort(): void {
        cancel()
        release()
        reject(signal!.reason as Error)
      }
      const cancel = network.request(
        {
          url: server + path,
          timeoutMs,
          ...shown,
          headers: { accept, ...shown.headers },
        },
        {
          head(itsStatus, itsHeaders) {
            status = itsStatus
            headers = itsHeaders
            heardMs = clock.monotonic()
            counters.add('gpucol_receiver_kubernetes_requests', 1, { status: String(status) })
            if (status !== 401 && status < 500) log.state(SUBJECT, 'ok')
            onHead()
            if (isSuccess(status)) handler.opened?.()
          },
          chunk(bytes) {
            heardMs = clock.monotonic()
            if (isSuccess(status)) handler.chunk(bytes)
            else if (complaint.length < MOST_ERROR_BYTES) complaint += Buffer.from(bytes).toString()
          },
          end() {
            if (!isSuccess(status)) return give(errorFromAnswer(status, headers, complaint, clock.now()))
            release()
            resolve()
          },
          failed: give,
        },
      )
      signal?.addEventListener('abort', abort, { once: true })
    })
  }

  return {
    access,
    async send(request, handler, signal) {
      const first = await access()
      let opened = false
      const onHead = (): unknown => (opened = true)
      try {
        try {
          await exchange(first, request, handler, signal, onHead)
        } catch (error) {
          if (fixed !== undefined || !(error instanceof ApiError) || error.status !== 401) throw error
          credentials.refused(first)
          const second = await access()
          // The same again would be refused again.
          if (second === first) throw error
          await exchange(second, request, handler, signal, onHead)
        }
      } catch (error) {
        if (signal?.aborted !== true) judge(error as Error, opened)
        throw error
      }
    },
  }
}

function isSuccess(status: number): boolean {
  return status >= 200 && status < 300
}
