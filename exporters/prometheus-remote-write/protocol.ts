/** How requests are sent and what answers mean, in both versions, and the way back from 2.0 to 1.0. */
import snappy from 'snappyjs'
import type { Log } from '../../pipeline/component.ts'
import { downgradeRequest } from '../../pipeline/formats/remote-write-downgrade.ts'
import type { Payload, Sent } from '../delivery/payload.ts'
import type { HttpAnswer, HttpParts } from '../delivery/send.ts'
import { NOTES, type Version } from './shards.ts'

const HEADERS: Record<Version, Record<string, string>> = {
  1: {
    'content-type': 'application/x-protobuf',
    'content-encoding': 'snappy',
    'x-prometheus-remote-write-version': '0.1.0',
    'user-agent': 'gpucol',
  },
  2: {
    'content-type': 'application/x-protobuf;proto=io.prometheus.write.v2.Request',
    'content-encoding': 'snappy',
    'x-prometheus-remote-write-version': '2.0.0',
    'user-agent': 'gpucol',
  },
}

/** Headers that the protocol has and nobody may set. */
export const RESERVED_HEADERS: readonly string[] = Object.keys(HEADERS[1])

const WRITTEN = 'x-prometheus-remote-write-samples-written'
/** A receiver of 2.0 sends these, even if they say 0. */
const WRITTEN_HEADERS = [
  WRITTEN,
  'x-prometheus-remote-write-histograms-written',
  'x-prometheus-remote-write-exemplars-written',
]

export type Protocol = HttpParts & {
  /** Which message new requests are. */
  version(): Version
}

export function createProtocol(url: string, wanted: Version, log: Log): Protocol {
  let version = wanted

  function fallBack(why: string): Sent {
    if (version === 2) log.warn(`${url} does not understand remote write 2.0 (${why}): it gets 1.0 from now on`)
    version = 1
    return { outcome: 'retry', message: why, atOnce: true }
  }

  return {
    version: () => version,
    request(payload) {
      const written = versionOf(payload)
      if (written === 1 || version === 2) return { url, headers: HEADERS[written] }
      // It waited while the receiver turned out not to understand it.
      const message = downgradeRequest(snappy.uncompress(plain(payload.body)))
      return { url, headers: HEADERS[1], body: snappy.compress(plain(message)) }
    },
    judge(answer, payload, request) {
      const isVersion2 = request.headers['x-prometheus-remote-write-version'] === '2.0.0'
      if (isVersion2 && answer.status === 415) return fallBack('it answered 415')
      const isFine = answer.status >= 200 && answer.status < 300
      // A receiver of 1.0 that does not look at the content type takes it, and finds nothing that it knows in it.
      if (isVersion2 && isFine && !WRITTEN_HEADERS.some(name => answer.headers.has(name))) {
        return fallBack('it took a request and did not say how many samples it wrote')
      }
      return isVersion2 ? judge2(answer, payload.points) : judge1(answer)
    },
  }
}

function versionOf({ note }: Payload): Version {
  return note === NOTES[2] ? 2 : 1
}

function judge1(answer: HttpAnswer): Sent {
  const { status } = answer
  if (status >= 200 && status < 300) return { outcome: 'accepted' }
  return isTriedAgain(status) ? retry(answer) : { outcome: 'refused', message: messageOf(answer) }
}

function isTriedAgain(status: number): boolean {
  return status >= 500 || status === 429
}

/** A server that says that it is too busy has not begun; of others nobody knows how far they came. */
function retry(answer: HttpAnswer): Sent {
  const isBusy = answer.status === 429 || answer.status === 503
  return { outcome: 'retry', message: messageOf(answer), ...(!isBusy && { mayHaveArrived: true as const }) }
}

/** A receiver of 2.0 may take a part, and refuse the rest for good (400). */
function judge2(answer: HttpAnswer, points: number): Sent {
  const { status, headers } = answer
  if (isTriedAgain(status)) return retry(answer)
  const isFine = status >= 200 && status < 300
  const written = Number(headers.get(WRITTEN) ?? (isFine ? points : 0))
  if (!isFine && !(written > 0)) return { outcome: 'refused', message: messageOf(answer) }
  const rejectedPoints = Math.max(0, points - (Number.isNaN(written) ? points : written))
  if (rejectedPoints === 0) return { outcome: 'accepted' }
  const said = isFine ? `it says that it wrote ${written} of ${points} samples` : messageOf(answer)
  return { outcome: 'accepted', rejectedPoints, message: said }
}

const LONGEST_MESSAGE = 500

function messageOf({ status, body }: HttpAnswer): string {
  const text = Buffer.from(body).toString().trim().replace(/\s+/g, ' ').slice(0, LONGEST_MESSAGE)
  return text === '' ? `it answered ${status}` : `it answered ${status}: ${text}`
}

/** snappyjs gives back what it is given, and a Buffer may be a part of something larger. */
function plain(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length)
}
