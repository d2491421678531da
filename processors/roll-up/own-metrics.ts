/** What roll-ups tell about themselves. */
import type { Clock, Counters } from '../../pipeline/component.ts'
import type { Cycle } from './cycle.ts'
import type { Intake } from './intake.ts'
import type { Values } from './values.ts'

/** The returned function ends it. */
export function observeRollUp(
  counters: Counters,
  cycle: Cycle,
  intake: Intake,
  values: Values,
  clock: Clock,
): () => void {
  const ends = [
    counters.observe('gpucol_rollup_contributors', () =>
      Array.from(cycle.contributors, ([metric, value]) => ({ value, labels: { metric } })),
    ),
    counters.observe('gpucol_rollup_oldest_contributor_seconds', () => [{ value: oldestSeconds(values, clock) }]),
    counters.observe('gpucol_rollup_held_targets', () => [{ value: intake.held }]),
    counters.observe('gpucol_rollup_missing_targets', () => [{ value: intake.missing }]),
  ]
  return () => {
    for (const end of ends) end()
  }
}

function oldestSeconds({ readings }: Values, clock: Clock): number {
  let oldestMs = Infinity
  for (const reading of readings) {
    const { values, things } = reading
    for (let i = 0; i < things.length; i++) {
      if (values[i] === values[i] && reading.timeOf(i) < oldestMs) oldestMs = reading.timeOf(i)
    }
  }
  return oldestMs === Infinity ? 0 : Math.max(0, clock.now() - oldestMs) / 1000
}
