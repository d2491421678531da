/** What the process as a whole is: which one it is, how long it runs, what it takes of the machine. */
import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { Clock, Counters } from '../component.ts'
import { internedLabelSets } from '../model/labels.ts'

/** Observes until the returned function is called. */
export function observeProcess(
  counters: Counters,
  clock: Clock,
  { version, startMs }: { readonly version: string; readonly startMs: number },
): () => void {
  const delay = observeEventLoopDelay(clock)
  const one = (read: () => number) => () => [{ value: read() }]
  const endings = [
    counters.observe('gpucol_build_info', () => [{ value: 1, labels: { version, node: process.versions.node } }]),
    counters.observe('gpucol_process_cpu_seconds', one(cpuSeconds)),
    counters.observe(
      'gpucol_process_uptime_seconds',
      one(() => (clock.monotonic() - startMs) / 1000),
    ),
    counters.observe(
      'gpucol_process_memory_rss_bytes',
      one(() => process.memoryUsage.rss()),
    ),
    counters.observe(
      'gpucol_process_heap_used_bytes',
      one(() => process.memoryUsage().heapUsed),
    ),
    counters.observe('gpucol_process_interned_label_sets', one(internedLabelSets)),
    counters.observe(
      'gpucol_process_event_loop_delay_mean_seconds',
      one(() => delay.read().mean),
    ),
    counters.observe(
      'gpucol_process_event_loop_delay_p99_seconds',
      one(() => delay.read().p99),
    ),
    counters.observe(
      'gpucol_process_event_loop_delay_max_seconds',
      one(() => delay.read().max),
    ),
    () => delay.stop(),
  ]
  return () => endings.forEach(end => end())
}

function cpuSeconds(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1e6
}

/** How often the event loop is asked: rarely enough to cost nothing, often enough to see what blocks it for longer than that. */
const RESOLUTION_MS = 20

/** Two who collect at nearly the same time are to see the same numbers, so what was read stands for a while. */
const SHORTEST_PERIOD_MS = 10_000

type Delays = { readonly mean: number; readonly p99: number; readonly max: number }

/** Delays in seconds, over the period that ended when they were last read anew. */
function observeEventLoopDelay(clock: Clock): { read(): Delays; stop(): void } {
  const histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  histogram.enable()
  let readMs = -Infinity
  let delays: Delays = { mean: 0, p99: 0, max: 0 }

  // What Node measures is the time between two looks, which is the resolution if nothing delays it.
  const seconds = (nanoseconds: number): number => Math.max(0, nanoseconds / 1e9 - RESOLUTION_MS / 1000)

  return {
    read() {
      if (clock.monotonic() - readMs >= SHORTEST_PERIOD_MS && histogram.count > 0) {
        delays = {
          mean: seconds(histogram.mean),
          p99: seconds(histogram.percentile(99)),
          max: seconds(histogram.max),
        }
        histogram.reset()
        readMs = clock.monotonic()
      }
      return delays
    },
    stop: () => void histogram.disable(),
  }
}
