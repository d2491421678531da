import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import { createVirtualClock } from '../../pipeline/clock/virtual-clock.ts'
import { RefusedError } from '../../pipeline/component.ts'
import { endBatch, type Batch } from '../../pipeline/model/batch.ts'
import { scaleOf } from '../../pipeline/model/scale.ts'
import { createMemoryStorage } from '../../pipeline/storage/memory-storage.ts'
import { cumulativeToDelta } from '../../processors/cumulative-to-delta.ts'
import { batchFromText, createSource } from '../support/batch-from-text.ts'
import { TEST_START_MS, testHost, type TestHost } from '../support/test-host.ts'
import { textFromBatch } from '../support/text-from-batch.ts'

type Config = Parameters<typeof cumulativeToDelta.create>[0]

async function converter(config: Partial<Config> = {}, overrides: Pick<Partial<TestHost>, 'storage' | 'clock'> = {}) {
  const host: TestHost = { ...testHost(), ...overrides }
  const out: Batch[] = []
  let refuses = false
  const complete = { match: [], max_staleness: '1h', initial_value: 'auto', ...config }
  const processor = cumulativeToDelta.create(complete as Config, host, batch => {
    if (refuses) throw new RefusedError('full')
    out.push(batch)
  })
  await processor.start!()
  let last: Batch | undefined
  return {
    host,
    processor,
    out,
    refuse: (value: boolean) => void (refuses = value),
    /** Consumes text 15 s after the one before and gives what comes out. */
    pass(text: string, change: Partial<Batch> = {}): string {
      last = { ...batchFromText(text, last ? { after: last } : { timeMs: host.clock.now() }), ...change }
      processor.consume(last)
      return textFromBatch(out.at(-1)!)
    },
  }
}

const counter = (...rows: string[]): string => `# TYPE c counter\n${rows.map(row => `c${row}\n`).join('')}`

describe('cumulative_to_delta', () => {
  it('gives the increase since the sample before, with its time as start, and leaves gauges alone', async () => {
    const { pass, out } = await converter()
    const text = (c: number, g: number) => `${counter(`{x="1"} ${c}`)}# TYPE g gauge\ng ${g}\n`
    assert.equal(pass(text(10, 1)), 'g 1\n')
    assert.equal(pass(text(25, 2)), 'c{x="1"} 15\ng 2\n')
    assert.equal(pass(text(25, 3)), 'c{x="1"} 0\ng 3\n')
    assert.deepEqual([...out.at(-1)!.starts!], [TEST_START_MS + 15_000, NaN])
    const { metrics } = out.at(-1)!.layout
    assert.deepEqual(
      metrics.map(({ name, type, isDelta }) => ({ name, type, isDelta })),
      [
        { name: 'c', type: 'counter', isDelta: true },
        { name: 'g', type: 'gauge', isDelta: undefined },
      ],
    )
    assert.equal(out[0]!.layout, out[2]!.layout)
  })

  it('takes a counter that fell for one that began anew, and counts it', async () => {
    const { pass, host } = await converter()
    pass(counter(' 100'))
    assert.equal(pass(counter(' 30')), 'c 30\n')
    assert.equal(pass(counter(' 31')), 'c 1\n')
    assert.equal(host.counted.get('gpucol_processor_resets'), 1)
  })

  it('sees a new beginning by its start, also where the counter is higher than before', async () => {
    const { pass, out, host } = await converter()
    pass(counter(' 100'), { starts: Float64Array.of(TEST_START_MS - 1000) })
    assert.equal(pass(counter(' 130'), { starts: Float64Array.of(TEST_START_MS + 5000) }), 'c 130\n')
    assert.deepEqual([...out.at(-1)!.starts!], [TEST_START_MS + 5000])
    assert.equal(host.counted.get('gpucol_processor_resets'), 1)
  })

  it('drops a first value whose beginning is not known, keeps one that began since, or as it is told', async () => {
    const began = { starts: Float64Array.of(TEST_START_MS) }
    const before = { starts: Float64Array.of(TEST_START_MS - 1) }
    assert.equal((await converter()).pass(counter(' 5'), began), 'c 5\n')
    assert.equal((await converter()).pass(counter(' 5'), before), '')
    assert.equal((await converter({ initial_value: 'keep' })).pass(counter(' 5')), 'c 5\n')
    assert.equal((await converter({ initial_value: 'drop' })).pass(counter(' 5'), began), '')
    const { pass, host } = await converter()
    pass(counter(' 5'))
    assert.equal(host.counted.get('gpucol_processor_undetermined_metric_points{reason="first"}'), 1)
  })

  it('converts the parts of a histogram together: its count tells that it began anew', async () => {
    const { pass, host } = await converter()
    const text = (one: number, all: number, sum: number) =>
      `# TYPE h histogram\nh_bucket{le="1"} ${one}\nh_bucket{le="+Inf"} ${all}\nh_sum ${sum}\nh_count ${all}\n`
    pass(text(1, 2, 10))
    assert.equal(pass(text(1, 3, 4)), 'h_bucket{le="+Inf"} 1\nh_bucket{le="1"} 0\nh_count 1\nh_sum -6\n')
    assert.equal(pass(text(1, 2, 50)), 'h_bucket{le="+Inf"} 2\nh_bucket{le="1"} 1\nh_count 2\nh_sum 50\n')
    assert.equal(host.counted.get('gpucol_processor_resets'), 4)
  })

  it('gives the increase over the gap where a sample was absent, no number, or the target away', async () => {
    const { pass, processor, out } = await converter()
    pass(counter(' 1'))
    assert.equal(pass(counter(' 2'), { absent: Uint32Array.of(0) }), '')
    assert.equal(pass(counter(' NaN')), '')
    processor.consume(endBatch(out[0]!.source, 1, 'failed'))
    assert.equal(pass(counter(' 9')), 'c 8\n')
  })

  it('keeps what it knows of the series that stay when others come and go, and of those that come back', async () => {
    const { pass } = await converter()
    pass(counter('{x="1"} 1', '{x="2"} 2'))
    assert.equal(pass(counter('{x="0"} 7', '{x="2"} 5')), 'c{x="2"} 3\n')
    assert.equal(pass(counter('{x="1"} 4', '{x="0"} 8')), 'c{x="0"} 1\nc{x="1"} 3\n')
  })

  it('goes on where a target left off that is removed and found again', async () => {
    const { pass, processor, out, host } = await converter()
    pass(counter(' 10'))
    processor.consume(endBatch(out[0]!.source, host.clock.now(), 'removed'))
    processor.consume(batchFromText(counter(' 12'), { source: createSource('again'), timeMs: TEST_START_MS + 60_000 }))
    assert.equal(textFromBatch(out.at(-1)!), 'c 2\n')
  })

  it('takes a series that was away for too long for a new one, and forgets it', async () => {
    const { pass, processor, host, out } = await converter({ max_staleness: '1m' })
    pass(counter('{x="1"} 1', '{x="2"} 1'))
    assert.equal(pass(counter('{x="1"} 9'), { timeMs: TEST_START_MS + 61_000 }), '')
    await host.clock.advance(200_000)
    const late = batchFromText(counter('{x="2"} 5'), { source: createSource('late'), timeMs: host.clock.now() })
    processor.consume(late)
    assert.equal(textFromBatch(out.at(-1)!), '')
    await processor.stop!(0)
  })

  it('leaves out a sample with a time of its own that is not newer', async () => {
    const { pass, host } = await converter()
    const at = (ms: number) => ({ times: Float64Array.of(ms) })
    pass(counter(' 1'), at(1000))
    assert.equal(pass(counter(' 5'), at(1000)), '')
    assert.equal(pass(counter(' 5'), at(900)), '')
    assert.equal(pass(counter(' 5'), at(2000)), 'c 4 2000\n')
    assert.equal(host.counted.get('gpucol_processor_undetermined_metric_points{reason="repeated"}'), 2)
  })

  it('loses no increase when nobody takes a batch', async () => {
    const { pass, refuse } = await converter()
    pass(counter(' 1'))
    refuse(true)
    assert.throws(() => pass(counter(' 4')), RefusedError)
    refuse(false)
    assert.equal(pass(counter(' 6')), 'c 5\n')
  })

  it('converts only what is selected, and nothing twice', async () => {
    const { pass, out } = await converter({ match: ['c{x="1"}'] })
    pass(counter('{x="1"} 1', '{x="2"} 1'))
    assert.equal(pass(counter('{x="1"} 3', '{x="2"} 3')), 'c{x="1"} 2\nc{x="2"} 3\n')
    const second = await converter()
    second.processor.consume(out.at(-1)!)
    assert.equal(textFromBatch(second.out[0]!), 'c{x="1"} 2\n', 'one is a delta already, the other a first value')
  })

  it('subtracts before it scales', async () => {
    const { processor, out } = await converter()
    const batch = batchFromText(counter(' 28'))
    const layout = { ...batch.layout, labels: batch.layout.labels, scales: [scaleOf(1, 100)] }
    processor.consume({ ...batch, layout })
    processor.consume({ ...batch, layout, values: Float64Array.of(57) })
    assert.equal(textFromBatch(out.at(-1)!), 'c 0.29\n')
  })

  it('remembers over a restart, once', async () => {
    const storage = createMemoryStorage()
    const clock = createVirtualClock(TEST_START_MS)
    const start = async () => {
      const run = await converter({}, { storage, clock })
      return run
    }
    const first = await start()
    first.pass(counter(' 10'))
    await first.processor.stop!(0)
    const second = await start()
    assert.equal(second.pass(counter(' 15')), 'c 5\n')
    // Killed: what the store had would count the 5 again.
    const third = await start()
    assert.equal(third.pass(counter(' 17')), '')
  })

  it('covers the time before it has read what it knows', async () => {
    const storage = createMemoryStorage()
    const first = await converter({}, { storage })
    first.pass(counter(' 10'))
    await first.processor.stop!(0)
    const out: Batch[] = []
    const config = { match: [], max_staleness: '1h', initial_value: 'auto' as const }
    const second = cumulativeToDelta.create(config, testHost({ storage }), batch => out.push(batch))
    const early = batchFromText(counter(' 12'), { timeMs: TEST_START_MS + 15_000 })
    second.consume(early)
    await second.start!()
    second.consume(batchFromText(counter(' 17'), { after: early }))
    assert.deepEqual(
      out.map(batch => textFromBatch(batch)),
      ['', 'c 7\n'],
    )
  })

  it('starts without what cannot be read', async () => {
    const storage = createMemoryStorage()
    await storage.state('test ').write(new Map([['0', Buffer.from('{')]]))
    const { processor, host } = await converter({}, { storage })
    assert.match(host.logged[0]!, /^warn: starting without the last values of counters/)
    await processor.stop!(0)
  })

  it('gives increases that add up to what was counted, whatever is absent or refused', async () => {
    const steps = fc.array(
      fc.record({ by: fc.integer({ min: 0, max: 9 }), what: fc.constantFrom('taken', 'absent', 'refused') }),
    )
    await fc.assert(
      fc.asyncProperty(steps, async list => {
        const { pass, out, refuse } = await converter()
        pass(counter(' 0'))
        let value = 0
        for (const { by, what } of [...list, { by: 1, what: 'taken' }]) {
          value += by
          refuse(what === 'refused')
          const absent = what === 'absent' ? { absent: Uint32Array.of(0) } : {}
          if (what === 'refused') assert.throws(() => pass(counter(` ${value}`)), RefusedError)
          else pass(counter(` ${value}`), absent)
        }
        const increases = out.filter(batch => batch.absent === undefined).map(batch => batch.values[0]!)
        assert.equal(
          increases.reduce((sum, increase) => sum + increase, 0),
          value,
        )
      }),
    )
  })
})
