/** Increases of counters and histograms since the sample before, for all sources of whoever sends or hands on such. */
import type { Host, Next } from '../component.ts'
import type { Batch, Source } from '../model/batch.ts'
import type { SeriesMap } from '../model/label-processor.ts'
import { createPlanner } from '../model/planner.ts'
import { metricFrom, type Metric, type MetricType } from '../model/series.ts'
import { deltasOf, knownFor, park, type Known, type Reason } from './deltas.ts'
import { createParked } from './parked.ts'

export type InitialValue = 'auto' | 'drop' | 'keep'

export type DeltaConversionOptions = {
  /** Where last values are kept when it stops. */
  readonly storeName: string
  /** What is converted: metrics that this makes deltas. */
  readonly mark: SeriesMap
  readonly maxStalenessMs: number
  readonly initialValue: InitialValue
  resets(count: number): void
  undetermined(reason: Reason, points: number): void
}

export type DeltaConversion = {
  /** Until then no increase is known, and first values are no increases. */
  start(): Promise<void>
  /** Hands on the increases. Where `next` throws, they come with the next batch. */
  convert(batch: Batch, next: Next): void
  stop(): Promise<void>
}

const CONVERTED: ReadonlySet<MetricType> = new Set<MetricType>(['counter', 'histogram'])

/** How often it is looked for series that are away for too long. */
const EXPIRE_MS = 60_000

export function asDelta(metric: Metric): Metric {
  return CONVERTED.has(metric.type) && metric.isDelta !== true ? metricFrom({ ...metric, isDelta: true }) : metric
}

export function createDeltaConversion(
  { clock, log, storage }: Pick<Host, 'clock' | 'log' | 'storage'>,
  { storeName, mark, maxStalenessMs, initialValue, resets, undetermined }: DeltaConversionOptions,
): DeltaConversion {
  const planner = createPlanner(mark)
  const store = storage.state(storeName)
  const knownBySource = new Map<Source, Known>()
  const parked = createParked()
  const createdMs = clock.now()
  const options = {
    parked,
    maxStalenessMs,
    isWhole: (startMs: number) =>
      initialValue === 'keep' || (initialValue === 'auto' && startMs >= createdMs && startMs <= clock.now()),
  }
  let isStarted = false
  let cancelTimer = (): void => {}

  function expire(): void {
    cancelTimer = clock.after(EXPIRE_MS, expire)
    parked.expire(clock.now() - maxStalenessMs)
  }

  function forget(source: Source): void {
    planner.forget(source)
    const known = knownBySource.get(source)
    if (known !== undefined) park(known, parked)
    knownBySource.delete(source)
  }

  return {
    async start() {
      try {
        await parked.load(store)
      } catch (error) {
        log.warn(`starting without the last values of counters: ${(error as Error).message}`)
      }
      isStarted = true
      expire()
    },
    convert(batch, next) {
      const { source, layout } = batch
      if (batch.outcome === 'removed') forget(source)
      if (batch.outcome !== 'ok') return next(batch)
      const before = knownFor(layout, planner.planFor(source, layout).output, knownBySource.get(source), parked)
      // Until it is loaded what is known, nothing is learnt: the first increase after that covers the time before.
      const learn = (known: Known) => void (isStarted && knownBySource.set(source, known))
      learn(before)
      if (before.counters.columns.length === 0) return next(batch)
      const { batch: deltas, known, resets: found, undetermined: reasons } = deltasOf(batch, before, options)
      // Who does not take the batch gets its increases with the next one.
      next(deltas)
      learn(known)
      if (found > 0) resets(found)
      for (const [reason, amount] of reasons) undetermined(reason, amount)
    },
    async stop() {
      cancelTimer()
      if (!isStarted) return
      isStarted = false
      for (const known of knownBySource.values()) park(known, parked)
      parked.expire(clock.now() - maxStalenessMs)
      try {
        await parked.save(store)
      } catch (error) {
        log.warn(`the last values of counters are lost: ${(error as Error).message}`)
      }
    },
  }
}
