/** From batches to requests. */
import type { Counters, Log } from '../../pipeline/component.ts'
import { pointCount, type Batch } from '../../pipeline/model/batch.ts'
import { metricAt, type Layout } from '../../pipeline/model/layout.ts'
import type { Emit, Encoder } from '../delivery/payload.ts'
import { MetadataSender } from './metadata.ts'
import { createSeriesMapping, type SeriesOptions } from './series.ts'
import { Shards, type ShardOptions } from './shards.ts'
import { SentSources } from './sources.ts'
import { TargetInfos } from './target-info.ts'

export type EncoderOptions = SeriesOptions & ShardOptions & { readonly targetInfo: boolean }

export type RemoteWriteEncoder = Encoder & {
  /** Says again what all metrics are, where the version has that in requests of its own. */
  repeatMetadata(): void
  readonly seriesCount: number
}

export function createEncoder(
  options: EncoderOptions,
  { log, counters }: { readonly log: Log; readonly counters: Counters },
  emit: Emit,
): RemoteWriteEncoder {
  const mapping = createSeriesMapping(options)
  const sources = new SentSources()
  const shards = new Shards(options, emit)
  const metadata = new MetadataSender(emit)
  const infos = new TargetInfos(options.naming.strategy)
  const sentLayouts = new WeakSet<Layout>()
  let newLayouts: Layout[] = []
  let hasWarnedOfDelta = false

  function leaveOut(points: number, reason: 'delta' | 'repeated'): void {
    if (points > 0) counters.add('gpucol_exporter_left_out_metric_points', points, { reason })
  }

  function countDeltas({ layout, absent, source }: Batch): void {
    const delta = mapping.deltaOf(layout)
    if (delta === undefined) return
    let count = 0
    for (let column = 0, next = 0; column < layout.metricOf.length; column++) {
      if (absent !== undefined && absent[next] === column) next++
      else if (metricAt(layout, column).isDelta === true) count++
    }
    leaveOut(count, 'delta')
    if (hasWarnedOfDelta) return
    hasWarnedOfDelta = true
    log.warn('increases cannot be sent by remote write: they are left out', { metric: delta.name, source: source.name })
  }

  function sendsMetadata(): boolean {
    return options.sendMetadata && options.version() === 1
  }

  function put(batch: Batch): void {
    const mapped = mapping.map(batch)
    if (!sentLayouts.has(mapped.layout)) {
      sentLayouts.add(mapped.layout)
      newLayouts.push(mapped.layout)
    }
    let repeated = 0
    const late = sources.add(mapped, samples => (repeated += shards.add(samples)))
    leaveOut(late + repeated, 'repeated')
  }

  function end(batch: Batch): void {
    const markers = sources.end(batch)
    if (markers !== undefined) leaveOut(shards.add(markers), 'repeated')
    if (batch.outcome === 'removed') mapping.forget(batch.source)
  }

  return {
    get pendingPoints() {
      return shards.pending
    },
    get seriesCount() {
      return sources.seriesCount
    },
    add(batch) {
      if (options.targetInfo && batch.source.origin !== undefined) {
        for (const info of infos.see(batch))
          if (info.outcome === 'ok') put(info)
          else end(info)
      }
      if (batch.outcome !== 'ok') return end(batch)
      if (pointCount(batch) > 0) countDeltas(batch)
      put(batch)
    },
    flush() {
      if (newLayouts.length > 0 && sendsMetadata()) metadata.sayNew(newLayouts)
      newLayouts = []
      shards.flush()
    },
    repeatMetadata() {
      if (sendsMetadata()) metadata.sayAll(sources.layouts())
    },
  }
}
