/** A face is one kind of server that the cluster shows to the outside: all of them render the same state. */
import type { IncomingMessage, ServerResponse } from 'node:http'

export type FaceName = 'dcgm_exporter' | 'kube_state_metrics' | 'kubernetes_api'

export type Face = {
  readonly name: FaceName
  /** Which of its endpoints a path leads to; undefined if the path is none of its own. */
  endpointOf(path: string): string | undefined
  /** The paths there are, for those who have to be told. */
  paths(): readonly string[]
  /** Answers a request. The cluster has been brought to the moment of the exchange. */
  respond(endpoint: string, exchange: Exchange): void
}

export type Exchange = {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly path: string
  readonly timeMs: number
}

/** Answers with text as a Go program does: no length, one chunk. */
export function sendText({ response, timeMs }: Exchange, contentType: string, text: string): void {
  response.writeHead(200, {
    'Content-Type': contentType,
    'X-Content-Type-Options': 'nosniff',
    Date: new Date(timeMs).toUTCString(),
    'Transfer-Encoding': 'chunked',
  })
  response.end(text, 'latin1')
}
