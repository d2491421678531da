/** `normalize` as tests use it: text in, facts as text out. */
import type { Batch, Source } from '../../pipeline/model/batch.ts'
import type { TestHost } from './test-host.ts'
import { normalize } from '../../processors/normalize.ts'
import { batchFromText, type BatchFromTextOptions } from './batch-from-text.ts'
import { testHost } from './test-host.ts'
import { textFromBatch } from './text-from-batch.ts'

export const INPUT_CATALOGS = ['dcgm', 'amd', 'kube-state-metrics', 'kubelet', 'node-exporter', 'runai-node-exporter']

export type Normalizer = {
  readonly host: TestHost
  /** The facts of a text; of the same source as the text before, unless another is named. */
  give(text: string, options?: BatchFromTextOptions): string
  consume(batch: Batch): Batch
  /** Has it let go of what it made of the texts. */
  release(): void
}

export function createNormalizer(options: { keep_raw?: boolean; catalogs?: string[] } = {}): Normalizer {
  const host = testHost()
  let out: Batch | undefined
  let last: Batch | undefined
  const config = { catalogs: INPUT_CATALOGS, keep_raw: false, ...options }
  const processor = normalize.create(config, host, batch => void (out = batch))
  function consume(batch: Batch): Batch {
    processor.consume(batch)
    return out!
  }
  return {
    host,
    consume,
    release: () => void processor.release!(last!.source),
    give(text, { source, ...rest } = {}) {
      const isSame = last !== undefined && (source === undefined || source === last.source)
      last = batchFromText(text, { ...rest, ...(isSame ? { after: last! } : source && { source }) })
      return textFromBatch(consume(last))
    },
  }
}

/** Expected text: indentation and order do not matter. */
export function lines(text: string): string {
  const all = text.split('\n').map(line => line.trim())
  return all
    .filter(line => line !== '')
    .sort()
    .map(line => `${line}\n`)
    .join('')
}

export function sourceWith(labels: Source['labels']): Source {
  return { component: 'test', name: 'http://node-a:9400/metrics', labels }
}
