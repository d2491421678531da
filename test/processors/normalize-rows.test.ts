import assert from 'node:assert/strict'
import fc from 'fast-check'
import { forEachSample, type Batch } from '../../pipeline/model/batch.ts'
import { getLabel } from '../../pipeline/model/labels.ts'
import { labelsAt, metricAt } from '../../pipeline/model/layout.ts'
import { batchFromText } from '../support/batch-from-text.ts'
import { createNormalizer } from '../support/normalized.ts'

/** One line of an exporter: of a board, perhaps of an instance, for a holder or nobody. */
type Row = { readonly labels: string; readonly part: string; readonly pod: string; readonly value: number }
type Board = { readonly uuid: string; readonly rows: readonly Row[] }

const value = fc.oneof(
  { weight: 9, arbitrary: fc.integer({ min: 0, max: 100 }) },
  fc.constantFrom(201, 4294967295, NaN),
)
const pods = (min: number, max: number) =>
  fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd'), { minLength: min, maxLength: max })

/** Labels that go with a pod: some exporters show those of the pod itself. */
function podLabels(pod: string): string {
  return pod === '' ? '' : `,pod="${pod}",namespace="n",container="c",app="${pod === 'd' ? '' : `app-${pod}`}"`
}

const rowsOfWhole = fc
  .tuple(pods(0, 4), fc.boolean())
  .map(([names, withDevice]) => (withDevice || names.length === 0 ? ['', ...names] : names))
  .map(names => names.map(pod => ({ part: '', pod, labels: podLabels(pod) })))
const rowsOfInstances = fc
  .uniqueArray(fc.integer({ min: 1, max: 7 }), { minLength: 1, maxLength: 4 })
  .chain(parts =>
    fc.tuple(...parts.map(part => fc.constantFrom('', 'a', 'b').map(pod => ({ part: String(part), pod })))),
  )
  .map(parts =>
    parts.map(({ part, pod }) => ({ part, pod, labels: `,GPU_I_ID="${part}",GPU_I_PROFILE="1g"${podLabels(pod)}` })),
  )

const boards: fc.Arbitrary<readonly Board[]> = fc
  .array(fc.oneof(rowsOfWhole, rowsOfInstances), { minLength: 1, maxLength: 4 })
  .chain(list =>
    fc.tuple(...list.map(rows => fc.tuple(...rows.map(row => value.map(one => ({ ...row, value: one })))))),
  )
  .map(list => list.map((rows, i) => ({ uuid: `GPU-${i}`, rows })))

function text(name: string, list: readonly Board[]): string {
  return list
    .flatMap(({ uuid, rows }) => rows.map(row => `${name}{gpu="0",UUID="${uuid}"${row.labels}} ${row.value}`))
    .join('\n')
}

/** By name, board, instance and, for readings of pods, the pod. */
function read(batch: Batch): Map<string, number> {
  const found = new Map<string, number>()
  forEachSample(batch, (column, one) => {
    const labels = labelsAt(batch.layout, column)
    const { name } = metricAt(batch.layout, column)
    const pod = name.startsWith('k8s.pod') ? getLabel(labels, 'pod') : ''
    const key = `${name} ${getLabel(labels, 'UUID')} ${getLabel(labels, 'GPU_I_ID') ?? ''} ${pod}`
    assert.ok(!found.has(key), `${key} is there twice`)
    found.set(key, one)
  })
  return found
}

/** What must come out: the largest of the possible values of all rows that speak of one thing. */
function expected(list: readonly Board[]): Map<string, number> {
  const largest = new Map<string, number>()
  const note = (key: string, one: number): void => {
    if (one >= 0 && one <= 100) largest.set(key, Math.max(largest.get(key) ?? 0, one))
  }
  for (const { uuid, rows } of list) {
    const hasDeviceRow = rows.some(({ pod, part }) => pod === '' && part === '') && rows.length > 1
    for (const { part, pod, value: one } of rows) {
      note(`hw.gpu.temperature ${uuid}  `, one)
      if (hasDeviceRow && pod !== '') note(`k8s.pod.gpu.utilization ${uuid} ${part} ${pod}`, one)
      else note(`hw.gpu.utilization ${uuid} ${part} `, one)
    }
  }
  return new Map(largest.entries().map(([key, one]) => [key, key.includes('utilization') ? one / 100 : one]))
}

describe('normalize: rows of any kind of GPU', () => {
  it('become one value for each board, device and pod, whatever came before', () => {
    fc.assert(
      fc.property(fc.array(boards, { minLength: 1, maxLength: 3 }), sequence => {
        const { consume } = createNormalizer()
        let batch: Batch | undefined
        for (const list of sequence) {
          const input = `${text('DCGM_FI_DEV_GPU_UTIL', list)}\n${text('DCGM_FI_DEV_GPU_TEMP', list)}`
          batch = batchFromText(input, batch && { after: batch })
          assert.deepEqual(read(consume(batch)), expected(list))
        }
      }),
      { numRuns: 200 },
    )
  })
})
