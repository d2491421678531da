import assert from 'node:assert/strict'
import { debug } from '../../exporters/debug.ts'
import { validatorFor } from '../../pipeline/config/validator.ts'
import { endBatch } from '../../pipeline/model/batch.ts'
import { batchFromText } from '../support/batch-from-text.ts'
import { testHost } from '../support/test-host.ts'

type Config = Parameters<typeof debug.create>[0]

function create(options: Partial<Config>) {
  const config = { ...options }
  assert.deepEqual(validatorFor(debug.config)(config), [])
  const host = testHost()
  return { host, exporter: debug.create(config as Config, host) }
}

const batch = {
  ...batchFromText(`# HELP load Load of a GPU.
    # TYPE load gauge
    load{gpu="0"} 0.5
    load{gpu="1"} 3
    load{gpu="2"} 9
    # TYPE energy_total counter
    energy_total{gpu="0"} 7
  `),
  absent: Uint32Array.of(2),
}
const BATCH = 'info: batch from http://node-a:9400/metrics: ok component=test series=4 samples=3'

describe('the debug exporter', () => {
  const CASES: readonly [Config['verbosity'], string[]][] = [
    ['basic', [BATCH]],
    ['normal', [BATCH, 'info: load gauge samples=2 min=0.5 max=3', 'info: energy_total counter samples=1 min=7 max=7']],
    [
      'detailed',
      [
        BATCH,
        'info: # TYPE energy_total counter',
        'info: energy_total{gpu="0"} 7',
        'info: # TYPE load gauge',
        'info: load{gpu="0"} 0.5',
        'info: load{gpu="1"} 3',
      ],
    ],
  ]
  for (const [verbosity, expected] of CASES) {
    it(`shows a batch at verbosity ${verbosity}`, () => {
      const { exporter, host } = create({ verbosity })
      exporter.consume(batch)
      assert.deepEqual(host.logged, expected)
    })
  }

  it('is brief unless told otherwise', () => {
    const { exporter, host } = create({})
    exporter.consume(batch)
    assert.deepEqual(host.logged, [BATCH])
  })

  it('says how a source ended', () => {
    const { exporter, host } = create({ verbosity: 'detailed' })
    exporter.consume(endBatch(batch.source, 0, 'failed'))
    assert.deepEqual(host.logged, [
      'info: batch from http://node-a:9400/metrics: failed component=test series=0 samples=0',
    ])
  })

  it('shows the first batches of each second, then some, and says how many it left out', async () => {
    const { exporter, host } = create({ sampling_initial: 2, sampling_thereafter: 10 })
    for (let i = 0; i < 25; i++) exporter.consume(batch)
    assert.deepEqual(host.logged, [BATCH, BATCH, `${BATCH} left_out=9`, `${BATCH} left_out=9`])
    await host.clock.advance(1000)
    exporter.consume(batch)
    exporter.consume(batch)
    exporter.consume(batch)
    assert.deepEqual(host.logged.slice(4), [`${BATCH} left_out=3`, BATCH])
  })

  it('shows no further ones of a second where sampling_thereafter is 0', () => {
    const { exporter, host } = create({ sampling_initial: 1, sampling_thereafter: 0 })
    for (let i = 0; i < 1000; i++) exporter.consume(batch)
    assert.deepEqual(host.logged, [BATCH])
  })
})
