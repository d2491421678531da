/** From the names of test files to reports: reads and checks all of them first, then runs one test after the other. */
import type { Clock } from '../component.ts'
import { ConfigError, type ConfigProblem } from '../config/config-error.ts'
import { stepReport, type Report, type StepReport, type TestReport } from './report.ts'
import { runTest, type StepResult, type TestResult } from './run-test.ts'
import { readSuite } from './suite-file.ts'
import type { ConfigTest, Suite } from './suite.ts'
import { loadTestConfig, type LoadTestOptions, type TestConfig } from './test-config.ts'
import { createUpdater, type Updated } from './update-expected.ts'
import { createOutputWriter } from './write-output.ts'

export type LoadedTest = {
  readonly suite: Suite
  readonly test: ConfigTest
  /** Missing where tests are only listed. */
  readonly subject?: TestConfig
}

export type LoadSuitesOptions = LoadTestOptions & {
  /** Which tests are wanted, by name. */
  readonly isMeant?: (name: string) => boolean
  /** Expected files that do not exist will be written. */
  readonly isUpdate?: boolean
  /** Only the test files matter, not the configs. */
  readonly isList?: boolean
}

/** All tests that are wanted, and all that is wrong with their files. With an error among the problems there is nothing to run. */
export async function loadSuites(
  files: readonly string[],
  options: LoadSuitesOptions,
): Promise<{ tests: readonly LoadedTest[]; problems: readonly ConfigProblem[] }> {
  const { isMeant = () => true, isUpdate = false, isList = false } = options
  const read = files.map(file => readSuite(file, { mayLackExpected: isUpdate }))
  const problems = read.flatMap(suite => suite.problems)
  const tests: LoadedTest[] = []
  for (const { suite } of read) {
    for (const test of suite?.tests ?? []) {
      if (!isMeant(test.name)) continue
      try {
        tests.push({ suite: suite!, test, ...(!isList && { subject: await loadTestConfig(suite!, test, options) }) })
      } catch (error) {
        if (!(error instanceof ConfigError)) throw error
        problems.push(...error.problems)
      }
    }
  }
  return { tests, problems: distinct(problems) }
}

/** Tests share configs, and with them their mistakes. */
function distinct(problems: readonly ConfigProblem[]): ConfigProblem[] {
  return [...new Map(problems.map(problem => [JSON.stringify(problem), problem])).values()]
}

export type RunSuitesOptions = {
  readonly version: string
  /** A real one, to tell how long tests take. */
  readonly clock: Clock
  readonly signal?: AbortSignal
  readonly isUpdate?: boolean
  /** Where to write what the exporters have at each step. */
  readonly directory?: string | undefined
  /** Called for each test as soon as its report is final. */
  readonly show?: (report: TestReport) => void
}

export async function runSuites(tests: readonly LoadedTest[], options: RunSuitesOptions): Promise<Report> {
  const { version, clock, signal, isUpdate = false, directory, show = () => {} } = options
  const write = directory === undefined ? undefined : createOutputWriter(directory)
  const updater = isUpdate ? createUpdater() : undefined
  const ran: { loaded: LoadedTest; result: TestResult; seconds: number }[] = []
  const reports: TestReport[] = []

  for (const loaded of tests) {
    if (signal?.aborted) break
    const { suite, test, subject } = loaded
    const startMs = clock.monotonic()
    const result = await runTest(test, subject!, {
      version,
      ...(signal && { signal }),
      onStep(step, state) {
        write?.(suite, test, step, state)
        updater?.note(step, state)
      },
    })
    const seconds = (clock.monotonic() - startMs) / 1000
    ran.push({ loaded, result, seconds })
    if (updater === undefined) report(loaded, result, seconds, stepReport)
  }
  // Not before all have run: two tests may expect the same file.
  const updated = updater?.write()
  if (updated !== undefined) {
    for (const { loaded, result, seconds } of ran) report(loaded, result, seconds, step => updatedReport(step, updated))
  }
  return { tests: reports, updated: updated?.written ?? [] }

  function report(
    { suite, test }: LoadedTest,
    { steps, warnings }: TestResult,
    seconds: number,
    reportOf: (step: StepResult) => StepReport,
  ): void {
    const made = { suite, test, steps: steps.map(reportOf), warnings: suite.describeProblems(warnings), seconds }
    reports.push(made)
    show(made)
  }
}

/** What the rewritten files hold is no failure any more. */
function updatedReport(result: StepResult, { written, contradictory }: Updated): StepReport {
  const failures = result.failures.map(failure => {
    const { expectation, differences } = failure
    const path = expectation.kind === 'series' ? expectation.content.path : undefined
    if (path !== undefined && contradictory.has(path)) {
      const note = 'not updated: two steps want this file to hold different things'
      return { ...failure, differences: differences.map(difference => ({ ...difference, note })) }
    }
    if (!written.some(one => one.path === path)) return failure
    return { ...failure, differences: differences.filter(one => one.isContradiction) }
  })
  return stepReport({ ...result, failures })
}
