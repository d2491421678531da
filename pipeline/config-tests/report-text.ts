/** The report for people. */
import { formatDifference } from './difference.ts'
import { count, hasFailed, isOk, type Report, type StepReport, type TestReport } from './report.ts'

/** How many lines of a diff are shown unless all are wanted: what is wrong is seen from the first few. */
const MAX_LINES = 30

/** `isVerbose` shows every step that failed, all of its differences and its log. */
export function textReport(report: TestReport, isVerbose: boolean): string {
  const { suite, test, steps } = report
  const failed = steps.filter(hasFailed)
  const [first, ...further] = failed
  const lines: string[] = []
  if (isOk(report)) lines.push(`ok ${test.name}`)
  for (const step of isVerbose ? failed : failed.slice(0, 1)) {
    lines.push(`FAIL ${suite.file}: ${test.name} at ${step.at}`, ...diffLines(step, isVerbose))
  }
  if (first !== undefined && further.length > 0 && !isVerbose) {
    lines.push(`(it fails at ${further.map(({ at }) => at).join(', ')}, too; --verbose shows that)`)
  }
  return lines.map(line => `${line}\n`).join('')
}

function diffLines({ differences, error, log }: StepReport, isVerbose: boolean): string[] {
  return [
    ...(error === undefined ? [] : [`error: ${error}`]),
    ...shortened(differences.map(formatDifference), isVerbose),
    ...(isVerbose ? log.map(line => `log: ${line}`) : []),
  ]
}

function shortened(lines: readonly string[], isVerbose: boolean): readonly string[] {
  if (isVerbose || lines.length <= MAX_LINES) return lines
  return [...lines.slice(0, MAX_LINES), `(and ${lines.length - MAX_LINES} more; --verbose shows them)`]
}

/** What was rewritten, and the closing line. */
export function closingText({ tests, updated }: Report, isVerbose: boolean): string {
  const { passed, failed } = count(tests)
  const files = updated.flatMap(({ file, changes }) => [`updated ${file}`, ...shortened(changes, isVerbose)])
  return [...files, `${passed} passed, ${failed} failed`].map(line => `${line}\n`).join('')
}
