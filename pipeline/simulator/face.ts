/** A face is one kind of server that the cluster shows to the outside: all of them render the same state. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Fault, FaultKind } from './faults.ts'
import { cutText, spoilText } from './text-faults.ts'

export const FACE_NAMES = ['dcgm_exporter', 'kube_state_metrics', 'kubernetes_api'] as const
export type FaceName = (typeof FACE_NAMES)[number]

export type Face = {
  readonly name: FaceName
  /** Which of its endpoints a path leads to; undefined if the path is none of its own. */
  endpointOf(path: string): string | undefined
  /** The paths there are, for those who have to be told. */
  paths(): readonly string[]
  /** Answers a request. The cluster has been brought to the moment of the exchange. */
  respond(endpoint: string, exchange: Exchange): void
  /** Faults that it sees to itself, instead of the server. */
  readonly ownFaults?: ReadonlySet<FaultKind>
  /** Called whenever time has passed, for faces that tell things without being asked. */
  passTime?(timeMs: number): void
  close?(): void
}

export type Exchange = {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly path: string
  readonly timeMs: number
  /** What is wrong with the endpoint just now. */
  readonly faults: readonly Fault[]
}

/** Answers with text as a Go program does: no length, one chunk for each piece. */
export function sendText(exchange: Exchange, headers: Readonly<Record<string, string>>, text: readonly string[]): void {
  const { response, timeMs, faults } = exchange
  const skewMs = faults.find(fault => fault.kind === 'clock_skew')?.skewMs ?? 0
  response.writeHead(200, {
    ...headers,
    Date: new Date(timeMs + skewMs).toUTCString(),
    'Transfer-Encoding': 'chunked',
  })
  const spoilt = spoilText(text, faults, timeMs)
  const cut = faults.find(fault => fault.kind === 'truncate')
  if (cut === undefined) {
    for (const piece of spoilt.slice(0, -1)) response.write(piece, 'latin1')
    response.end(spoilt.at(-1) ?? '', 'latin1')
    return
  }
  for (const piece of cutText(spoilt, cut.share ?? 0.5)) response.write(piece, 'latin1')
  // What was written goes out first; the last chunk, which would say that this was all, never comes.
  response.write('', () => response.destroy())
}
