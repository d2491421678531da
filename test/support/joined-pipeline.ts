/** `normalize` and `join_workload`, one after the other, in front of targets that are scraped. */
import { endBatch, type Batch } from '../../pipeline/model/batch.ts'
import { joinWorkload } from '../../processors/join-workload.ts'
import { normalize } from '../../processors/normalize.ts'
import { batchFromText, createSource } from './batch-from-text.ts'
import { configOf } from './config-of.ts'
import { testHost, type TestHost } from './test-host.ts'
import { textFromBatch } from './text-from-batch.ts'

export type JoinedPipeline = {
  readonly host: TestHost
  /** A scrape of a target; what comes out of it. */
  scrape(target: string, text: string): string
  /** The target is gone. */
  remove(target: string): void
}

export function joinedPipeline(config: object = {}): JoinedPipeline {
  const host = testHost()
  const out: Batch[] = []
  const join = joinWorkload.create(configOf(joinWorkload, config), host, batch => void out.push(batch))
  const first = normalize.create(configOf(normalize, {}), host, batch => join.consume(batch))
  const last = new Map<string, Batch>()

  function scrape(target: string, text: string): string {
    const after = last.get(target)
    const batch = batchFromText(text, after === undefined ? { source: createSource(target) } : { after })
    last.set(target, batch)
    first.consume(batch)
    return textFromBatch(out.at(-1)!)
  }
  function remove(target: string): void {
    first.consume(endBatch(last.get(target)!.source, 0, 'removed'))
  }
  return { host, scrape, remove }
}
