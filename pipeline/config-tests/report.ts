/** What became of the tests, for all forms of report. */
import type { ConfigProblem } from '../config/config-error.ts'
import type { Difference } from './difference.ts'
import type { StepResult } from './run-test.ts'
import type { ConfigTest, Suite } from './suite.ts'
import type { UpdatedFile } from './update-expected.ts'

export type TestReport = {
  readonly suite: Suite
  readonly test: ConfigTest
  readonly steps: readonly StepReport[]
  readonly warnings: readonly ConfigProblem[]
  /** On a real clock. */
  readonly seconds: number
}

export type StepReport = {
  /** When, as the test file has it. */
  readonly at: string
  readonly differences: readonly Difference[]
  readonly error?: string
  readonly log: readonly string[]
}

export type Report = {
  readonly tests: readonly TestReport[]
  /** Expected files that were rewritten. */
  readonly updated: readonly UpdatedFile[]
}

export function stepReport({ step, failures, error, log }: StepResult): StepReport {
  return {
    at: step.at,
    differences: failures.flatMap(({ differences }) => differences),
    ...(error !== undefined && { error }),
    log,
  }
}

export function hasFailed({ differences, error }: StepReport): boolean {
  return differences.length > 0 || error !== undefined
}

export function isOk({ steps }: TestReport): boolean {
  return !steps.some(hasFailed)
}

export function count(reports: readonly TestReport[]): { passed: number; failed: number } {
  const passed = reports.filter(isOk).length
  return { passed, failed: reports.length - passed }
}
