/** Whatever is sent, it is read or it is malformed; nothing else happens. */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { RefusedError } from '../../../pipeline/component.ts'
import { MalformedError } from '../../../pipeline/formats/malformed.ts'
import { createProtobufReader } from '../../../pipeline/formats/otlp-protobuf.ts'
import { pushed } from '../../support/pushed.ts'
import { recordPoints } from '../../support/recorded-points.ts'
import { sharedJson } from '../../support/shared.ts'
import { finishNow } from '../../../pipeline/formats/render-work.ts'

const wire = sharedJson<{ cases: { protobuf_base64: string }[] }>('conformance', 'otlp', 'wire.json')
const bodies = (wire?.cases ?? [{ protobuf_base64: 'Ch0SGxIZCgFnKhQKEhkAypo7AAAAACEAAAAAAABFQA==' }])
  .map(({ protobuf_base64 }) => Buffer.from(protobuf_base64, 'base64'))
  .filter(({ length }) => length > 0)
const RUNS = Number(process.env.FUZZ_RUNS ?? 2000)

/** A good body with some bytes that are others, and something cut out or put in. */
const damaged = fc
  .record({
    body: fc.constantFrom(...bodies),
    changes: fc.array(fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 })), { maxLength: 4 }),
    cut: fc.option(fc.tuple(fc.nat(), fc.nat(20))),
    added: fc.option(fc.tuple(fc.nat(), fc.uint8Array({ maxLength: 12 }))),
  })
  .map(({ body, changes, cut, added }) => {
    let bytes = Buffer.from(body)
    for (const [at, value] of changes) bytes[at % bytes.length] = value
    if (cut !== null) {
      const start = cut[0] % bytes.length
      bytes = Buffer.concat([bytes.subarray(0, start), bytes.subarray(start + cut[1])])
    }
    if (added !== null && bytes.length > 0) {
      const start = added[0] % bytes.length
      bytes = Buffer.concat([bytes.subarray(0, start), added[1], bytes.subarray(start)])
    }
    return bytes
  })

function isMalformed(run: () => unknown): boolean {
  try {
    run()
    return false
  } catch (error) {
    if (!(error instanceof MalformedError)) throw error
    return true
  }
}

describe('OTLP that is damaged', function () {
  this.timeout(60_000)

  it('is read or malformed', () => {
    const reader = createProtobufReader()
    const any = fc.oneof(damaged, fc.uint8Array({ maxLength: 60 }))
    fc.assert(
      fc.property(any, body => void isMalformed(() => recordPoints(sink => finishNow(reader.read(body, sink))))),
      { numRuns: RUNS },
    )
  })

  it('leaves the receiver as it was, or with batches that are whole', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(damaged, fc.boolean()), { maxLength: 12 }), requests => {
        const { pushes, batches, behind, sources } = pushed({ series: 60, seriesPerSource: 40, sources: 5 })
        for (const [body, refuses] of requests) {
          behind.next = () => {
            if (refuses) throw new RefusedError('full')
          }
          const before = sources.seriesCount
          try {
            if (isMalformed(() => finishNow(pushes.take(body, 'protobuf')))) assert.ok(sources.seriesCount <= before)
          } catch (error) {
            assert.ok(error instanceof RefusedError)
          }
        }
        for (const { layout, values, absent = [], times, starts } of batches) {
          const columns = layout.metricOf.length
          assert.equal(values.length, columns)
          for (const numbers of [times, starts]) assert.ok(numbers === undefined || numbers.length === columns)
          assert.ok([...absent].every((column, i) => column < columns && (i === 0 || column > absent[i - 1]!)))
          assert.ok(layout.metricOf.every(metric => metric < layout.metrics.length))
          assert.ok(layout.labelsOf.every(labels => labels < layout.labels.length))
          const series = new Set(
            Array.from(layout.metricOf, (m, i) => `${layout.metrics[m]!.name} ${layout.labelsOf[i]}`),
          )
          assert.equal(series.size, columns)
        }
        const live = Array.from(sources.all(), ({ columns }) => columns.count).reduce((a, b) => a + b, 0)
        assert.equal(sources.seriesCount, live)
        assert.ok(live <= 60)
      }),
      { numRuns: RUNS / 4 },
    )
  })
})
