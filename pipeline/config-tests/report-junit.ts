/** The report in the XML that JUnit began and CI servers read. */
import { formatDifference } from './difference.ts'
import { count, hasFailed, isOk, type StepReport, type TestReport } from './report.ts'

export function junitReport(reports: readonly TestReport[]): string {
  const suites = Map.groupBy(reports, ({ suite }) => suite.file)
  const lines = ['<?xml version="1.0" encoding="UTF-8"?>', `<testsuites name="gpucol test"${totals(reports)}>`]
  for (const [file, tests] of suites) {
    lines.push(`  <testsuite name="${escape(file)}"${totals(tests)}>`)
    for (const test of tests) lines.push(...testcase(test))
    lines.push('  </testsuite>')
  }
  return [...lines, '</testsuites>', ''].join('\n')
}

function totals(reports: readonly TestReport[]): string {
  const { passed, failed } = count(reports)
  const seconds = reports.reduce((sum, report) => sum + report.seconds, 0)
  return ` tests="${passed + failed}" failures="${failed}" errors="0" skipped="0" time="${seconds.toFixed(3)}"`
}

function testcase(report: TestReport): string[] {
  const { suite, test, seconds, steps } = report
  const head = `    <testcase name="${escape(test.name)}" classname="${escape(suite.file)}" time="${seconds.toFixed(3)}"`
  if (isOk(report)) return [`${head}/>`]
  const failures = steps.filter(hasFailed).map(step => {
    const lines = linesOf(step)
    const message = `at ${step.at}: ${lines[0]}${lines.length > 1 ? ` (and ${lines.length - 1} more)` : ''}`
    return `      <failure message="${escape(message)}">${escape(lines.join('\n'))}</failure>`
  })
  return [`${head}>`, ...failures, '    </testcase>']
}

function linesOf({ differences, error }: StepReport): string[] {
  return [...(error === undefined ? [] : [`error: ${error}`]), ...differences.map(formatDifference)]
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

function escape(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[&<>"]/g, character => ENTITIES[character]!)
    .replaceAll(/(?![\n\t])[\p{Cc}\uFFFE\uFFFF]/gu, '\uFFFD')
}
