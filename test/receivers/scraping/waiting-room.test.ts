/** Batches that nobody takes wait, and so do scrapes: with a pipeline that refuses, and with `memory_limiter` itself. */
import assert from 'node:assert/strict'
import { RefusedError, type Memory } from '../../../pipeline/component.ts'
import type { Batch } from '../../../pipeline/model/batch.ts'
import { memoryLimiter } from '../../../processors/memory-limiter.ts'
import { dcgm } from '../../../receivers/dcgm.ts'
import { scrapeConfig } from '../../support/scrape-config.ts'
import { testHost } from '../../support/test-host.ts'
import { textFromBatch } from '../../support/text-from-batch.ts'

const [A, B] = ['http://node-a:9400/metrics', 'http://node-b:9400/metrics']

/** A receiver with two targets, before something that may refuse. */
function scraped(urls: readonly string[] = [A, B]) {
  const host = testHost({ id: 'dcgm' })
  const batches: Batch[] = []
  const pipeline = { refuses: false }
  const receiver = dcgm.create(scrapeConfig({ static_targets: [...urls] }), host, batch => {
    if (pipeline.refuses) throw new RefusedError('there is not enough memory just now')
    batches.push(batch)
  })
  let value = 0
  return {
    host,
    pipeline,
    receiver,
    async advance(ms: number): Promise<void> {
      value++
      for (const url of urls) host.network.answer(url, { body: `DCGM_FI_DEV_GPU_TEMP{gpu="0"} ${value}\n` })
      await host.clock.advance(ms)
    },
    /** What came out since the last call, without reports: the host, the value and the second of the scrape. */
    taken: () =>
      batches.splice(0).flatMap(batch => {
        const text = textFromBatch(batch)
        const [, node, number] = /instance="(node-.).*} (\d+)\n$/.exec(text) ?? []
        if (/^up|^scrape_/m.test(text)) return []
        return [`${node ?? batch.source.name} ${number ?? batch.outcome} ${(batch.timeMs - 1_700_000_000_000) / 1000}`]
      }),
  }
}

describe('a scrape that nobody takes', () => {
  it('waits, and so do the scrapes after it, until somebody does', async () => {
    const { host, pipeline, receiver, advance, taken } = scraped()
    void receiver.start!()
    await advance(1000)
    assert.deepEqual(taken().toSorted(), ['node-a 1 0', 'node-b 1 0'])
    pipeline.refuses = true
    await advance(30_000)
    assert.deepEqual(taken(), [])
    const asked = host.network.requests?.length
    await advance(60_000)
    assert.equal(host.network.requests?.length, asked, 'a target was scraped in vain')
    pipeline.refuses = false
    await advance(1500)
    const [late, ...others] = taken()
    // One that was under way when it began, then those that were due since.
    assert.match(late!, /^node-[ab] 2 /)
    assert.ok(
      others.some(line => line.startsWith('node-a 4')) && others.some(line => line.startsWith('node-b 4')),
      others.join(),
    )
    assert.ok(host.counted.get('gpucol_receiver_scrapes{outcome="delayed"}')! > 0)
    await receiver.stop!(0)
  })

  it('is said once, counted while it waits, and said to be over', async () => {
    const { host, pipeline, receiver, advance } = scraped([A])
    void receiver.start!()
    pipeline.refuses = true
    await advance(60_000)
    assert.deepEqual(
      host.logged.filter(line => line.includes('pipeline')),
      ['failing the pipeline: there is not enough memory just now: scrapes wait'],
    )
    assert.ok(host.observed('gpucol_receiver_delayed_metric_points').get('')! >= 1)
    pipeline.refuses = false
    await advance(1000)
    assert.equal(host.logged.at(-1), 'ok the pipeline')
    assert.equal(host.observed('gpucol_receiver_delayed_metric_points').get(''), 0)
    await receiver.stop!(0)
  })

  it('is no more when its target ends, and nothing is left behind when the receiver stops', async () => {
    const { host, pipeline, receiver, advance, taken } = scraped([A])
    void receiver.start!()
    pipeline.refuses = true
    await advance(1000)
    pipeline.refuses = false
    await receiver.stop!(0)
    // The target, and the reports on it.
    assert.deepEqual(taken(), [`${A} removed 1`, `${A} removed 1`])
    await host.clock.advance(60_000)
    assert.deepEqual(taken(), [])
  })
})

describe('scrapes and memory_limiter', () => {
  it('are late above its hard limit, and not lost', async () => {
    const use = { residentBytes: 0, heapBytes: 0 }
    const memory: Memory = { read: () => use, limits: { residentBytes: 1000, heapBytes: 1000 } }
    const host = testHost({ id: 'dcgm', memory })
    const values: string[] = []
    const limits = { limit: '80%', soft_limit: '70%', resume_below: '60%', check_interval: '1s' }
    const limiter = memoryLimiter.create({ ...limits, above_soft_limit: 'thin' }, host, batch => {
      values.push(...(textFromBatch(batch).match(/(?<=GPU_TEMP.* )\d+/g) ?? []))
    })
    const receiver = dcgm.create(scrapeConfig({ static_targets: [A] }), host, batch => limiter.consume(batch))
    void limiter.start!()
    void receiver.start!()
    host.network.answer(A, { body: 'DCGM_FI_DEV_GPU_TEMP 1\n' })
    await host.clock.advance(2000)
    use.residentBytes = 900
    host.network.answer(A, { body: 'DCGM_FI_DEV_GPU_TEMP 2\n' })
    await host.clock.advance(20_000)
    host.network.answer(A, { body: 'DCGM_FI_DEV_GPU_TEMP 3\n' })
    await host.clock.advance(60_000)
    assert.deepEqual(values, ['1'])
    use.residentBytes = 100
    await host.clock.advance(3000)
    assert.deepEqual(values, ['1', '2', '3'])
    await receiver.stop!(0)
    await limiter.stop!(0)
  })
})
