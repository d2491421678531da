/** Which legacy metrics are emitted, and until when. */
import type { Clock, Log } from '../../pipeline/component.ts'
import type { Look } from '../../pipeline/model/label-processor.ts'
import { createTracked } from '../../pipeline/model/tracked.ts'

/** By name of a legacy metric, or `*` for all others: on, off, or the moment at which it ends. */
export type EmissionRules = Readonly<Record<string, string>>

export const ALL_OTHERS = '*'

export type Emission = {
  isOn(metric: string, look: Look): boolean
  /** Says what will end, and when, and what has ended. */
  announce(): void
  /** Ends what has come to its end. */
  check(): void
}

/** `metrics` are all that there are. */
export function createEmission(metrics: Iterable<string>, rules: EmissionRules, clock: Clock, log: Log): Emission {
  const ended = createTracked<true>()
  const byEnd = new Map<string, string[]>()
  const states = new Map<string, string>()
  for (const metric of metrics) {
    const rule = rules[metric] ?? rules[ALL_OTHERS] ?? 'on'
    states.set(metric, rule)
    if (rule !== 'on' && rule !== 'off') byEnd.set(rule, [...(byEnd.get(rule) ?? []), metric])
  }
  let open = [...byEnd].sort(([one], [other]) => endMs(one) - endMs(other))

  function end(date: string, metrics: readonly string[]): void {
    log.warn('legacy metrics are no longer emitted', { since: date, metrics: metrics.join(' ') })
    for (const metric of metrics) ended.set(metric, true)
  }

  function check(): void {
    while (open[0] !== undefined && clock.now() >= endMs(open[0][0])) {
      end(...open[0])
      open = open.slice(1)
    }
  }

  return {
    check,
    isOn(metric, look) {
      const state = states.get(metric) ?? 'on'
      if (state === 'on' || state === 'off') return state === 'on'
      return look(ended.entry(metric)) !== true
    },
    announce() {
      check()
      for (const [date, metrics] of open) {
        log.warn('legacy metrics are emitted until a date', { until: date, metrics: metrics.join(' ') })
      }
    },
  }
}

/** A day ends what it names when it begins, in UTC. */
function endMs(date: string): number {
  return Date.parse(date)
}

const DATE = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2})?Z)?$/

/** A day, or a moment of it, that exists: others would be taken for the next month. */
export function isDate(text: string): boolean {
  if (!DATE.test(text) || Number.isNaN(Date.parse(text))) return false
  return new Date(text).toISOString().startsWith(text.slice(0, 10))
}
