/** `normalize`, `join_workload` and `roll_up`, one after the other, in front of targets that are scraped. */
import type { Host, Processor } from '../../pipeline/component.ts'
import { endBatch, type Batch, type Source } from '../../pipeline/model/batch.ts'
import { joinWorkload } from '../../processors/join-workload.ts'
import { normalize } from '../../processors/normalize.ts'
import { rollUp } from '../../processors/roll-up.ts'
import { batchFromText, createSource } from './batch-from-text.ts'
import { configOf } from './config-of.ts'
import { testHost, type TestHost } from './test-host.ts'
import { textFromBatch } from './text-from-batch.ts'

export type RolledPipeline = {
  readonly host: TestHost
  readonly rollUp: Processor
  /** A scrape of a target, at the time of the clock. `node` is what discovery says of it. */
  scrape(target: string, text: string, node?: string): void
  /** A scrape of the target went wrong. */
  fail(target: string): void
  /** The target is gone. */
  remove(target: string): void
  /** What is rolled up now, and nothing else: lines, sorted, by name. */
  flush(): string
  /** What left it by itself since this was asked the last time: roll-ups, and what passes. */
  taken(): readonly Batch[]
}

export function rolledPipeline(config: object = {}, overrides: Partial<Host> = {}): RolledPipeline {
  const host = testHost(overrides) as TestHost
  const out: Batch[] = []
  const last = rollUp.create(configOf(rollUp, config), host, batch => void out.push(batch))
  const join = joinWorkload.create(configOf(joinWorkload, {}), host, batch => last.consume(batch))
  void join.start?.()
  const first = normalize.create(configOf(normalize, {}), host, batch => join.consume(batch))
  const batches = new Map<string, Batch>()

  function sourceOf(target: string, node: string | undefined): Source {
    const source = batches.get(target)?.source ?? createSource(target)
    return node === undefined || source.node === node ? source : { ...source, node }
  }
  function taken(): readonly Batch[] {
    return out.splice(0)
  }
  return {
    host,
    rollUp: last,
    taken,
    scrape(target, text, node) {
      const after = batches.get(target)
      const source = sourceOf(target, node)
      const batch = batchFromText(text, {
        source,
        timeMs: host.clock.now(),
        ...(after?.outcome === 'ok' && after.source === source && { after }),
      })
      batches.set(target, batch)
      first.consume(batch)
    },
    fail(target) {
      const batch = endBatch(sourceOf(target, undefined), host.clock.now(), 'failed')
      batches.set(target, batch)
      first.consume(batch)
    },
    remove(target) {
      first.consume(endBatch(sourceOf(target, undefined), host.clock.now(), 'removed'))
      batches.delete(target)
    },
    flush() {
      taken()
      join.flush?.()
      last.flush!()
      return sortedText(taken())
    },
  }
}

export function sortedText(batches: readonly Batch[]): string {
  const lines = batches.flatMap(batch => textFromBatch(batch).split('\n'))
  return lines
    .filter(line => line !== '')
    .sort()
    .map(line => `${line}\n`)
    .join('')
}

/** The lines of one metric, without its name. */
export function linesOf(text: string, metric: string): string[] {
  const lines = text.split('\n').filter(line => line.startsWith(`${metric}{`) || line.startsWith(`${metric} `))
  return lines.map(line => line.slice(metric.length))
}

/** The values of a metric by the value of one of its labels. */
export function valuesBy(text: string, metric: string, label: string): Record<string, number> {
  const pattern = new RegExp(`[{,]${label}="([^"]*)"`)
  const pairs = linesOf(text, metric).map(line => [pattern.exec(line)?.[1] ?? '', Number(line.split('} ').at(-1))])
  return Object.fromEntries(pairs) as Record<string, number>
}
