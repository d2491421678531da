/** Compares what a step expects with what the exporters have and what was logged. */
import { compareAbsent, compareLog, comparePresent, compareSeries } from './compare.ts'
import { describePlace } from './content.ts'
import type { Difference } from './difference.ts'
import type { ExportedState } from './exported-state.ts'
import { liveSeries } from './live-series.ts'
import type { Expectation, Step } from './suite.ts'

/** An expectation that was not met. */
export type Failure = { readonly expectation: Expectation; readonly differences: readonly Difference[] }

export function compareStep(step: Step, state: ExportedState, log: readonly string[]): Failure[] {
  return step.expect
    .map(expectation => ({ expectation, differences: withPlace(expectation, compare(expectation, state, log)) }))
    .filter(({ differences }) => differences.length > 0)
}

function compare(expectation: Expectation, state: ExportedState, log: readonly string[]): Difference[] {
  if (expectation.kind === 'log') return compareLog(expectation, log)
  const exporter = expectation.exporter?.id
  if (expectation.kind === 'series') {
    const { samples, isMeant, tolerance, content } = expectation
    return compareSeries(samples, liveSeries(state, isMeant, exporter), tolerance, content.describeLine)
  }
  const { selector } = expectation
  const live = liveSeries(state, selector.mayName, exporter)
  if (expectation.kind === 'absent') return compareAbsent(selector, live)
  return comparePresent(selector, live, expectation.value, expectation.tolerance)
}

/** Where no line of an expected text is to blame, the expectation is. */
function withPlace({ place }: Expectation, differences: readonly Difference[]): Difference[] {
  return differences.map(difference => ({ place: describePlace(place), ...difference }))
}
