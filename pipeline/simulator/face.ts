/** A face is one kind of server that the cluster shows to the outside: all of them render the same state. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'
import type { Fault, FaultKind } from './faults.ts'
import { cutText, spoilText } from './text-faults.ts'

export const FACE_NAMES = [
  'dcgm_exporter',
  'kube_state_metrics',
  'kubelet',
  'node_exporter',
  'runai_node_exporter',
  'kubernetes_api',
] as const
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

/** What the clock of the endpoint shows. */
export function shownTimeMs({ timeMs, faults }: Exchange): number {
  return timeMs + (faults.find(fault => fault.kind === 'clock_skew')?.skewMs ?? 0)
}

/** Answers with text as a Go program does: no length, one chunk for each piece; compressed where it may be and the client wants it. */
export function sendText(
  exchange: Exchange,
  headers: Readonly<Record<string, string>>,
  text: readonly string[],
  { mayCompress = false }: { readonly mayCompress?: boolean } = {},
): void {
  const { request, response, timeMs, faults } = exchange
  const compresses = mayCompress && /\bgzip\b/.test(request.headers['accept-encoding'] ?? '')
  response.writeHead(200, {
    ...headers,
    ...(compresses && { 'Content-Encoding': 'gzip' }),
    Date: new Date(shownTimeMs(exchange)).toUTCString(),
    'Transfer-Encoding': 'chunked',
  })
  const spoilt = spoilText(text, faults, timeMs)
  const sent = compresses ? [gzipSync(Buffer.from(spoilt.join(''), 'latin1')).toString('latin1')] : spoilt
  const cut = faults.find(fault => fault.kind === 'truncate')
  if (cut === undefined) {
    for (const piece of sent.slice(0, -1)) response.write(piece, 'latin1')
    response.end(sent.at(-1) ?? '', 'latin1')
    return
  }
  for (const piece of cutText(sent, cut.share ?? 0.5)) response.write(piece, 'latin1')
  // What was written goes out first; the last chunk, which would say that this was all, never comes.
  response.write('', () => response.destroy())
}
