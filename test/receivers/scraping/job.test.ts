import assert from 'node:assert/strict'
import { compileRelabel } from '../../../pipeline/relabel/relabel.ts'
import type { RelabelRule } from '../../../pipeline/relabel/rule.ts'
import type { Batch } from '../../../pipeline/model/batch.ts'
import { getLabel } from '../../../pipeline/model/labels.ts'
import type { DiscoveredTarget, Discovery } from '../../../receivers/scraping/discovery/discovery.ts'
import { createJob, type JobOptions } from '../../../receivers/scraping/job.ts'
import { createScheduler } from '../../../receivers/scraping/scheduler.ts'
import { scrapeOptions } from '../../../receivers/scraping/scrape-config.ts'
import { createTarget } from '../../../receivers/scraping/target.ts'
import { specFrom, type TargetDefaults } from '../../../receivers/scraping/target-spec.ts'
import { scrapeConfig } from '../../support/scrape-config.ts'
import { testHost } from '../../support/test-host.ts'
import { textFromBatch } from '../../support/text-from-batch.ts'

type Push = (...addresses: string[]) => void

/** A job whose discovery does what the test says, and what comes out of it, as `address: text`. */
function jobWith({ rules = [], ...options }: Partial<JobOptions> & { rules?: readonly RelabelRule[] } = {}) {
  const host = testHost()
  const sources: { push: Push; stopped: boolean }[] = []
  const batches: Batch[] = []
  let relabelled = 0
  const relabel = compileRelabel(rules)
  const defaults: TargetDefaults = {
    job: 'test',
    scheme: 'http',
    metricsPath: '/metrics',
    interval: '10s',
    timeout: '5s',
    params: {},
    labels: {},
    relabel(labels) {
      relabelled++
      return relabel(labels)
    },
    spellsPort: false,
    isOfNode: true,
  }
  function source(): Discovery {
    const known = new Map<string, DiscoveredTarget>()
    const own = { push: (() => {}) as Push, stopped: false }
    sources.push(own)
    return {
      start(update) {
        own.push = (...addresses) =>
          update(
            addresses.map(address => {
              if (!known.has(address)) known.set(address, { labels: new Map([['__address__', address]]) })
              return known.get(address)!
            }),
          )
      },
      stop: () => void (own.stopped = true),
    }
  }
  const common = { ...scrapeOptions(scrapeConfig(), host), fallback: 'text', emptyIsFailure: false } as const
  const job = createJob(
    {
      name: 'test',
      discoveries: [source(), source()],
      specs: found => [specFrom(found, defaults)],
      createTarget: (spec, blocked) => createTarget(spec, common, host, batch => batches.push(batch), blocked),
      targetLimit: 0,
      keepDropped: 2,
      ...options,
    },
    createScheduler(host.clock),
    host,
  )
  for (const name of ['a', 'b', 'c']) host.network.answer(`http://${name}/metrics`, { body: 'x 1\n' })
  job.start()
  const texts = (): string[] =>
    batches
      .splice(0)
      .filter(({ layout }) => layout.metrics[0]?.name !== 'up')
      .map(
        batch =>
          `${getLabel(batch.source.labels, 'instance')}: ${textFromBatch(batch)
            .replace(/\{.*\}/, '')
            .trim()}`,
      )
  return { host, job, sources, texts, relabelCount: () => relabelled }
}

describe('a job', () => {
  it('scrapes what discovery finds, at any time and from all sources, each target once', async () => {
    const { host, sources, texts, job } = jobWith()
    assert.equal(job.targetCount, 0)
    sources[0]!.push('a', 'a')
    sources[1]!.push('a')
    await host.clock.advance(0)
    assert.deepEqual(texts(), ['a: x 1'])
    await host.clock.advance(3000)
    sources[1]!.push('a', 'b')
    await host.clock.advance(7000)
    assert.deepEqual(texts(), ['a: x 1', 'b: x 1'])
    assert.equal(job.targetCount, 2)
  })

  it('ends the series of targets that disappear; those that stay keep state and schedule', async () => {
    const { host, sources, texts, job } = jobWith()
    sources[0]!.push('a', 'b')
    await host.clock.advance(14_000)
    texts()
    const [before] = job.targets().active
    sources[0]!.push('c', 'a')
    assert.deepEqual(texts(), ['b: # removed', 'b: # removed'])
    const [after, added] = job.targets().active
    assert.deepEqual(after, before)
    assert.deepEqual([added!.url, added!.state], ['http://c/metrics', 'unknown'])
    await host.clock.advance(5000)
    assert.deepEqual(texts(), [])
    await host.clock.advance(1000)
    assert.deepEqual(texts(), ['a: x 1', 'c: x 1'])
  })

  it('lets a target stay that another source still finds', async () => {
    const { host, sources, texts } = jobWith()
    sources[0]!.push('a')
    sources[1]!.push('a')
    await host.clock.advance(0)
    texts()
    sources[0]!.push()
    assert.deepEqual(texts(), [])
    sources[1]!.push()
    assert.deepEqual(texts(), ['a: # removed', 'a: # removed'])
  })

  it('tells targets apart that have one URL and other labels', async () => {
    const parts = { source_labels: ['__address__'], regex: '(.*)-(.*)', action: 'replace' } as const
    const { host, sources, job } = jobWith({
      rules: [
        { ...parts, target_label: 'part', replacement: '$2' },
        { ...parts, target_label: '__address__', replacement: '$1' },
      ],
    })
    const active = (): string[] =>
      job.targets().active.map(({ url, labels, state }) => `${url} ${getLabel(labels, 'part')} ${state}`)
    sources[0]!.push('a-1', 'a-2', 'a-3')
    await host.clock.advance(0)
    const [first, second, third, fourth] = [1, 2, 3, 4].map(part => `http://a/metrics ${part} up`)
    assert.deepEqual(active(), [first, second, third])
    sources[0]!.push('a-1', 'a-3')
    assert.deepEqual(active(), [first, third])
    sources[0]!.push('a-4', 'a-3')
    await host.clock.advance(10_000)
    assert.deepEqual(active(), [third, fourth])
    assert.equal(job.targetCount, 2)
    sources[0]!.push()
    assert.deepEqual(active(), [])
    assert.equal(job.targetCount, 0)
  })

  it('relabels a target once, however often it is found', () => {
    const { sources, relabelCount } = jobWith()
    for (let i = 0; i < 5; i++) sources[0]!.push('a', 'b')
    assert.equal(relabelCount(), 2)
    sources[0]!.push('a', 'b', 'c')
    assert.equal(relabelCount(), 3)
  })

  it('remembers what it dropped, and why, up to a number', () => {
    const { sources, job } = jobWith({ rules: [{ source_labels: ['__address__'], regex: 'a', action: 'keep' }] })
    sources[0]!.push('a', 'b', 'c', 'd', 'a:b')
    const { dropped, droppedCount, active } = job.targets()
    assert.equal(active.length, 1)
    assert.equal(droppedCount, 4)
    assert.deepEqual(
      dropped.map(({ labels, reason }) => [getLabel(labels, '__address__'), reason]),
      [
        ['b', 'relabel_configs drop it'],
        ['c', 'relabel_configs drop it'],
      ],
    )
    sources[0]!.push('a')
    assert.equal(job.targets().droppedCount, 0)
  })

  it('scrapes nothing while there are too many targets, and goes on when there are not', async () => {
    const { host, sources, texts, job } = jobWith({ targetLimit: 1 })
    sources[0]!.push('a', 'b')
    await host.clock.advance(0)
    assert.deepEqual(texts(), ['a: # failed', 'b: # failed'])
    assert.deepEqual(host.network.requests, [])
    assert.equal(job.targets().active[0]!.lastScrape!.error, 'there are 2 targets, target_limit is 1')
    assert.ok(host.logged.includes('failing test: there are 2 targets, target_limit is 1'))
    sources[0]!.push('a')
    await host.clock.advance(10_000)
    assert.deepEqual(texts().slice(-1), ['a: x 1'])
    assert.ok(host.logged.includes('ok test'))
  })

  it('tells how its targets are', async () => {
    const { host, sources, job } = jobWith()
    host.network.answer('http://b/metrics', { status: 503 })
    sources[0]!.push('a', 'b')
    await host.clock.advance(0)
    const states = job.targets().active.map(({ url, state, lastScrape, intervalMs }) => {
      const { samples, error, durationSeconds, timeMs } = lastScrape!
      return { url, state, samples, error, durationSeconds, timeMs: timeMs - host.clock.now(), intervalMs }
    })
    const common = { durationSeconds: 0, timeMs: 0, intervalMs: 10_000 }
    assert.deepEqual(states, [
      { url: 'http://a/metrics', state: 'up', samples: 1, error: undefined, ...common },
      {
        url: 'http://b/metrics',
        state: 'down',
        samples: 0,
        error: 'the target answered with status 503, 200 is expected',
        ...common,
      },
    ])
  })

  it('stops its sources and ends everything', async () => {
    const { host, sources, texts, job } = jobWith()
    sources[0]!.push('a')
    await host.clock.advance(0)
    texts()
    job.stop()
    assert.deepEqual(texts(), ['a: # removed', 'a: # removed'])
    assert.deepEqual(
      sources.map(({ stopped }) => stopped),
      [true, true],
    )
    await host.clock.advance(60_000)
    assert.deepEqual(texts(), [])
    job.stop()
  })
})
