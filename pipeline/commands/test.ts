/** `gpucol test`: config tests on a virtual clock. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { createSystemClock } from '../clock/system-clock.ts'
import { formatProblems } from '../config/config-error.ts'
import { findIn } from '../config-tests/regex.ts'
import { junitReport } from '../config-tests/report-junit.ts'
import { jsonReport } from '../config-tests/report-json.ts'
import { closingText, textReport } from '../config-tests/report-text.ts'
import { isOk, type TestReport } from '../config-tests/report.ts'
import { loadSuites, runSuites, type LoadedTest } from '../config-tests/run-suites.ts'
import { UsageError, type Command, type CommandArguments } from './command.ts'

export const test: Command = {
  name: 'test',
  summary: 'runs tests of configs on a virtual clock.',
  help: `Usage: gpucol test FILE... [OPTIONS]

Each FILE holds tests of a config: what its targets answer at which time, and what the exporters must have then. The real
receivers, processors and exporters run; only time and network are replaced. configs/testing.md explains the format.

Exit codes: 0 all tests pass, 1 one does not, 2 a file or a config is wrong.

  --filter REGEX  Runs only the tests whose name matches, anywhere in it.
  --list          Shows the tests and runs none.
  --update        Rewrites expected files to what the exporters have, and shows what changed.
  --write DIR     Writes what each exporter has at each step.
  --output FORM   text (default) or json.
  --junit FILE    Also writes a JUnit report.
  --verbose       Shows all steps that fail, all differences, and the log.
`,
  options: {
    filter: { type: 'string' },
    list: { type: 'boolean' },
    update: { type: 'boolean' },
    write: { type: 'string' },
    output: { type: 'string' },
    junit: { type: 'string' },
    verbose: { type: 'boolean' },
  },
  async run(args, context) {
    const { out, err, registries, env, version, signal } = context
    const { files, isMeant, isJson, isUpdate, isVerbose, isList } = readOptions(args)
    const { tests, problems } = await loadSuites(files, {
      isMeant,
      isUpdate,
      isList,
      registries: await registries(),
      env,
    })
    if (problems.length > 0) err(`${formatProblems(problems)}\n`)
    if (problems.some(({ severity }) => severity === 'error')) return 2
    if (tests.length === 0) throw new UsageError(`no test has a name that matches "${String(args.values['filter'])}"`)
    if (isList) {
      out(isJson ? jsonList(tests) : textList(tests))
      return 0
    }

    function show(one: TestReport): void {
      if (!isJson) out(textReport(one, isVerbose))
      if (one.warnings.length > 0) err(`${formatProblems(one.warnings)}\n`)
    }
    const directory = args.values['write'] as string | undefined
    const clock = createSystemClock()
    const report = await runSuites(tests, { version, signal, clock, isUpdate, directory, show })
    out(isJson ? jsonReport(report) : closingText(report, isVerbose))
    const junit = args.values['junit'] as string | undefined
    if (junit !== undefined) {
      mkdirSync(dirname(junit), { recursive: true })
      writeFileSync(junit, junitReport(report.tests))
    }
    return report.tests.length === tests.length && report.tests.every(isOk) ? 0 : 1
  },
}

function readOptions({ values, positionals: files }: CommandArguments) {
  if (files.length === 0) throw new UsageError('a FILE with tests is missing')
  const { filter, output = 'text' } = values
  if (output !== 'text' && output !== 'json') throw new UsageError(`--output is text or json, not "${String(output)}"`)
  return {
    files,
    isMeant: filter === undefined ? () => true : compileFilter(filter as string),
    isJson: output === 'json',
    isUpdate: values['update'] === true,
    isVerbose: values['verbose'] === true,
    isList: values['list'] === true,
  }
}

function compileFilter(text: string): (name: string) => boolean {
  try {
    return findIn(text)
  } catch (error) {
    throw new UsageError(`--filter is not a regular expression: ${(error as Error).message}`)
  }
}

function textList(tests: readonly LoadedTest[]): string {
  return tests
    .map(({ suite, test: { name, steps } }) => `${suite.file}: ${name} (${stepCount(steps.length)})\n`)
    .join('')
}

function stepCount(count: number): string {
  return count === 1 ? '1 step' : `${count} steps`
}

function jsonList(tests: readonly LoadedTest[]): string {
  const list = tests.map(({ suite, test: { name, steps } }) => ({ file: suite.file, name, steps: steps.length }))
  return `${JSON.stringify(list, undefined, 2)}\n`
}
