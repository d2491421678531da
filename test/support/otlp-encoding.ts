/** Batches to OTLP and, by an independent reader, to lines that a test can show. */
import type { Batch } from '../../pipeline/model/batch.ts'
import { createOtlpEncoder, type OtlpEncoder, type OtlpEncoderOptions } from '../../pipeline/formats/otlp-encoder.ts'
import { ANY_NAME } from '../../pipeline/formats/otlp-names.ts'
import { RESOURCE_TABLE } from '../../pipeline/formats/otlp-resource-table.ts'
import { decodeRequest, linesOf, type OtlpRequest } from './otlp-judge.ts'

export type Encoding = OtlpEncoder & {
  /** Requests that were given, with their size. */
  readonly requests: { readonly request: OtlpRequest; readonly points: number; readonly bytes: number }[]
  readonly leftOut: Map<string, number>
  /** What these batches become, as lines; nothing of before is in it. */
  lines(...batches: readonly Batch[]): string[]
}

export function otlpEncoding(overrides: Partial<OtlpEncoderOptions> = {}): Encoding {
  const encoding = overrides.encoding ?? 'proto'
  const requests: { request: OtlpRequest; points: number; bytes: number }[] = []
  const leftOut = new Map<string, number>()
  const encoder = createOtlpEncoder({
    encoding,
    resourceTable: new Map(RESOURCE_TABLE),
    resourceDefaults: new Map(),
    names: ANY_NAME,
    dropSummaries: false,
    maxBuckets: Infinity,
    dropNotANumber: false,
    maxAttributes: Infinity,
    maxPoints: 10_000,
    maxBytes: 4 * 2 ** 20,
    leftOut: (reason, points) => void leftOut.set(reason, (leftOut.get(reason) ?? 0) + points),
    emit({ body, points }) {
      requests.push({ request: decodeRequest(encoding, body), points, bytes: body.length })
    },
    ...overrides,
  })
  return {
    add: batch => encoder.add(batch),
    addPart: batch => encoder.addPart(batch),
    knows: source => encoder.knows(source),
    flush: () => encoder.flush(),
    get pendingPoints() {
      return encoder.pendingPoints
    },
    requests,
    leftOut,
    lines(...batches) {
      requests.length = 0
      for (const batch of batches) encoder.add(batch)
      encoder.flush()
      return requests.flatMap(({ request }) => linesOf(request)).sort()
    },
  }
}
