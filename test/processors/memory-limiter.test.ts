import assert from 'node:assert/strict'
import { RefusedError, type Memory } from '../../pipeline/component.ts'
import { endBatch, type Batch } from '../../pipeline/model/batch.ts'
import { memoryLimiter } from '../../processors/memory-limiter.ts'
import { batchFromText, createSource } from '../support/batch-from-text.ts'
import { testHost } from '../support/test-host.ts'
import { textFromBatch } from '../support/text-from-batch.ts'

const MIB = 2 ** 20
type Config = Parameters<typeof memoryLimiter.create>[0]

/** A process that may have 1000 MiB of physical memory and 500 MiB of heap, limited to 80, 70 and 60 percent. */
function limiter(config: { [K in keyof Config]?: Config[K] | undefined } = {}) {
  const use = { residentBytes: 0, heapBytes: 0 }
  const memory: Memory = { read: () => use, limits: { residentBytes: 1000 * MIB, heapBytes: 500 * MIB } }
  const host = testHost({ memory })
  const out: string[] = []
  const hooks = { refuses: false, taken: () => {} }
  const complete = {
    limit: '80%',
    soft_limit: '70%',
    resume_below: '60%',
    above_soft_limit: 'thin',
    check_interval: '1s',
    ...config,
  }
  const processor = memoryLimiter.create(complete as Config, host, (batch: Batch) => {
    if (hooks.refuses) throw new RefusedError('full')
    hooks.taken()
    out.push(textFromBatch(batch))
  })
  const sources = new Map(['a', 'b', 'c'].map(name => [name, createSource(name)]))
  return {
    host,
    processor,
    hooks,
    sources,
    set(residentMib: number, heapMib = 0): Promise<void> {
      use.residentBytes = residentMib * MIB
      use.heapBytes = heapMib * MIB
      return host.clock.advance(1000)
    },
    use,
    /** One scrape of each target named, with this value. */
    scrape(names: string, value: number): void {
      for (const name of names) processor.consume(batchFromText(`${name} ${value}`, { source: sources.get(name)! }))
    },
    /** What came out since the last call. */
    taken: () => out.splice(0).join(''),
    pressure: () => host.observed('gpucol_processor_memory_pressure').get(''),
  }
}

describe('memory_limiter', () => {
  it('refuses what was pushed above the soft limit: it is a part, and can be sent again', async () => {
    const { processor, set, taken } = limiter()
    void processor.start!()
    await set(750)
    const scope = { name: '', version: '', attributes: new Map(), schemaUrl: '' }
    const origin = { resource: { attributes: new Map(), schemaUrl: '' }, scope }
    const batch = batchFromText('a 1', { source: { ...createSource('pushed'), origin } })
    assert.throws(() => processor.consume(batch), RefusedError)
    await set(100)
    processor.consume(batch)
    assert.equal(taken(), 'a 1\n')
    await processor.stop!(0)
  })

  it('hands on everything while there is memory', async () => {
    const { processor, set, scrape, taken, host } = limiter()
    void processor.start!()
    await set(699, 349)
    scrape('ab', 1)
    assert.equal(taken(), 'a 1\nb 1\n')
    assert.deepEqual(host.logged, [])
    await processor.stop!(0)
  })

  it('holds back the newest batch of each source above the soft limit, and hands it on below where it began', async () => {
    const { processor, set, scrape, taken, host, pressure } = limiter()
    void processor.start!()
    await set(700)
    scrape('ab', 1)
    scrape('a', 2)
    assert.equal(taken(), '')
    assert.equal(host.counted.get('gpucol_processor_thinned_metric_points'), 1)
    assert.equal(host.observed('gpucol_processor_delayed_metric_points').get(''), 2)
    await set(650)
    assert.equal(taken(), '', 'it is not over just below the limit')
    assert.equal(pressure(), 1)
    await set(599)
    assert.equal(taken(), 'b 1\na 2\n')
    assert.equal(pressure(), 0)
    assert.deepEqual(host.logged, [
      'failing the soft limit of memory: 700 MiB of physical memory are in use, the limit is 700 MiB: batches are held back',
      'ok the soft limit of memory',
    ])
    await processor.stop!(0)
  })

  it('refuses above the hard limit until memory is below the soft one, and says each change once', async () => {
    const { processor, set, scrape, taken, host, pressure } = limiter()
    void processor.start!()
    await set(0, 400)
    assert.throws(() => scrape('a', 1), RefusedError)
    await set(0, 360)
    assert.throws(() => scrape('a', 2), RefusedError)
    assert.equal(pressure(), 2)
    await set(0, 340)
    scrape('a', 3)
    assert.equal(taken(), '')
    await set(0, 0)
    assert.equal(taken(), 'a 3\n')
    assert.deepEqual(host.logged, [
      'failing the soft limit of memory: 400 MiB of the heap are in use, the limit is 350 MiB: batches are held back',
      'failing the hard limit of memory: 400 MiB of the heap are in use, the limit is 400 MiB: batches are refused',
      'ok the hard limit of memory',
      'ok the soft limit of memory',
    ])
    await processor.stop!(0)
  })

  it('takes a newer batch for one that it holds also above the hard limit, so that a scrape is late and not lost', async () => {
    const { processor, set, scrape, taken } = limiter()
    void processor.start!()
    await set(700)
    scrape('a', 1)
    await set(900)
    scrape('a', 2)
    assert.throws(() => scrape('b', 2), RefusedError)
    await set(0)
    assert.equal(taken(), 'a 2\n')
    await processor.stop!(0)
  })

  it('refuses above the soft limit where it is told to', async () => {
    const { processor, set, scrape } = limiter({ above_soft_limit: 'refuse' })
    void processor.start!()
    await set(700)
    assert.throws(() => scrape('a', 1), RefusedError)
    await processor.stop!(0)
  })

  it('lets sources end at any time, which frees memory, and gives up what it held of them', async () => {
    const { processor, set, scrape, taken, sources, host } = limiter()
    void processor.start!()
    await set(700)
    scrape('ab', 1)
    await set(900)
    processor.consume(endBatch(sources.get('a')!, 0, 'failed'))
    processor.consume(endBatch(sources.get('c')!, 0, 'removed'))
    assert.equal(taken(), '# failed\n# removed\n')
    assert.equal(host.counted.get('gpucol_processor_thinned_metric_points'), 1)
    await set(0)
    assert.equal(taken(), 'b 1\n')
    await processor.stop!(0)
  })

  it('stops handing on what it held when that is too much again', async () => {
    const { processor, set, scrape, taken, hooks, use } = limiter()
    void processor.start!()
    await set(700)
    scrape('abc', 1)
    hooks.taken = () => (use.residentBytes = 750 * MIB)
    await set(0)
    assert.equal(taken(), 'a 1\n')
    hooks.taken = () => {}
    await set(0)
    assert.equal(taken(), 'b 1\nc 1\n')
    await processor.stop!(0)
  })

  it('keeps what nobody takes, and gives it up for a newer batch', async () => {
    const { processor, set, scrape, taken, hooks, host } = limiter()
    void processor.start!()
    await set(700)
    scrape('ab', 1)
    hooks.refuses = true
    await set(0)
    hooks.refuses = false
    scrape('a', 2)
    assert.equal(taken(), 'a 2\n')
    await set(0)
    assert.equal(taken(), 'b 1\n')
    assert.equal(host.counted.get('gpucol_processor_thinned_metric_points'), 1)
    await processor.stop!(0)
  })

  it('hands on what it held when it is stopped', async () => {
    const { processor, set, scrape, taken } = limiter()
    void processor.start!()
    await set(700)
    scrape('ab', 1)
    await processor.stop!(0)
    assert.equal(taken(), 'a 1\nb 1\n')
  })

  it('takes a size for physical memory, and has limits below it and for the heap of its own', async () => {
    const { processor, set, pressure } = limiter({ limit: '100MiB', soft_limit: undefined, resume_below: undefined })
    void processor.start!()
    const steps: [resident: number, heap: number, expected: number][] = [
      [89, 0, 0],
      [90, 0, 1],
      [100, 0, 2],
      [89, 0, 1],
      [80, 0, 0],
      [0, 424, 1],
      [0, 425, 2],
      [0, 344, 0],
    ]
    for (const [resident, heap, expected] of steps) {
      await set(resident, heap)
      assert.equal(pressure(), expected, `${resident} ${heap}`)
    }
    await processor.stop!(0)
  })
})
