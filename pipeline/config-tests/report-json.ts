/** The report for programs. */
import { formatProblem } from '../config/config-error.ts'
import { count, hasFailed, isOk, type Report } from './report.ts'

export function jsonReport(report: Report): string {
  const tests = report.tests.map(test => ({
    file: test.suite.file,
    name: test.test.name,
    ok: isOk(test),
    seconds: test.seconds,
    steps: test.steps.map(step => ({
      at: step.at,
      ok: !hasFailed(step),
      differences: step.differences,
      ...(step.error !== undefined && { error: step.error }),
      ...(hasFailed(step) && { log: step.log }),
    })),
    warnings: test.warnings.map(warning => formatProblem(warning).split('\n')[0]!),
  }))
  const updated = report.updated.map(({ file, changes }) => ({ file, changes }))
  return `${JSON.stringify({ ...count(report.tests), tests, updated }, undefined, 2)}\n`
}
