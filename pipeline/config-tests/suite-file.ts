/** Reads a test file, and the files it names, and says all that is wrong with them. */
import { resolve } from 'node:path'
import { checkValue } from '../config/check-value.ts'
import { readConfigFile, readFileFromDisk } from '../config/config-file.ts'
import type { ConfigProblem } from '../config/config-error.ts'
import { nodeAt, placeOfKey, placeOfValue } from '../config/entry-path.ts'
import type { Finding } from '../config/finding.ts'
import type { Path } from '../config/plain-value.ts'
import { problemsFrom } from '../config/problems.ts'
import type { Schema } from '../config/schema-walk.ts'
import { findSecrets } from '../config/secrets.ts'
import { createSource, startOf } from '../config/source.ts'
import { readYaml, type YamlEntry } from '../config/yaml-source.ts'
import { createContentReader } from './content.ts'
import { createStepReader, isMap, type StepReader } from './read-step.ts'
import type { ConfigTest, Step, Subject, Suite } from './suite.ts'
import { testSchema, type TestFile } from './test-schema.ts'

export type SuiteOptions = {
  /** Take an expected file that does not exist for an empty one, because it will be written. */
  readonly mayLackExpected?: boolean
}

/** Without a suite at least one of the problems is an error. */
export type ReadSuite = { readonly suite: Suite | undefined; readonly problems: readonly ConfigProblem[] }

type Test = TestFile['tests'][number]

/** Where tests begin unless they say when. */
const DEFAULT_START_MS = Date.UTC(2024, 0, 1)

export function readSuite(file: string, options: SuiteOptions = {}): ReadSuite {
  const path = resolve(file)
  const read = readConfigFile(path, readFileFromDisk)
  const source = createSource(file, 'text' in read ? read.text : '', { path, hasLines: 'text' in read })
  const findings: Finding[] = []
  const report = (finding: Finding): void => void findings.push(finding)
  const { root, findings: syntax } = readYaml(source)
  const secrets = findSecrets([root], testSchema as Schema, syntax)
  const describeProblems = (found: readonly Finding[]): ConfigProblem[] => problemsFrom(found, secrets)

  if ('problem' in read) report({ place: startOf(source), message: read.problem })
  findings.push(...syntax)
  const tests = findings.length > 0 ? [] : readTests({ keyPlace: startOf(source), value: root }, options, report)
  const isGood = findings.every(({ severity }) => severity === 'warning')
  return { suite: isGood ? { file, tests, describeProblems } : undefined, problems: describeProblems(findings) }
}

function readTests(entry: YamlEntry, options: SuiteOptions, report: (finding: Finding) => void): ConfigTest[] {
  const { value, findings } = checkValue(entry, 'the test file', testSchema as Schema)
  findings.forEach(report)
  // What the schema does not like is looked into no further; everything else is.
  const isSound = (path: Path): boolean => {
    const node = nodeAt(entry, path)
    const { start } = placeOfKey(entry, path)
    return node !== undefined && !findings.some(({ place }) => place.start >= start && place.start < node.place.end)
  }
  const file = value as TestFile
  const tests = Array.isArray(file.tests) ? file.tests : []
  const steps = createStepReader({
    root: entry,
    contents: createContentReader(entry.keyPlace.source),
    isSound,
    report,
    ...options,
  })
  return tests.flatMap((test, index) => {
    if (!isMap(test)) return []
    const path = ['tests', index]
    const read = readTest(entry, test, path, { file, steps, report })
    return read === undefined ? [] : [read]
  })
}

type TestReading = {
  readonly file: TestFile
  readonly steps: StepReader
  report(finding: Finding): void
}

function readTest(entry: YamlEntry, test: Test, path: Path, reading: TestReading): ConfigTest | undefined {
  const { file, steps: reader, report } = reading
  const subject = subjectOf(entry, file, test, path, report)
  const startMs = test.start === undefined ? DEFAULT_START_MS : parseStart(test.start)
  if (Number.isNaN(startMs)) {
    const message = `\`start\` must be a time such as 2023-11-14T22:13:30Z, found "${String(test.start)}"`
    report({ place: placeOfValue(entry, [...path, 'start']), message })
  }
  const list = Array.isArray(test.steps) ? test.steps : []
  const steps: Step[] = []
  list.forEach((step, index) => {
    if (!isMap(step)) return
    const stepPath = [...path, 'steps', index]
    const read = reader.read(step, stepPath, subject?.kind)
    const previous = steps.at(-1)
    if (previous !== undefined && read.atMs < previous.atMs) {
      const message = `steps go forward: ${read.at} is before the ${previous.at} of the step above`
      report({ place: placeOfValue(entry, [...stepPath, 'at']), message })
    }
    steps.push(read)
  })
  if (typeof test.name !== 'string' || subject === undefined) return undefined
  const place = placeOfValue(entry, [...path, 'name'])
  if (list.length > 0 && list.every(step => isMap(step) && (step.expect ?? []).length === 0)) {
    report({ place, message: `"${test.name}" expects nothing at any step`, severity: 'warning' })
  }
  return { name: test.name, place, startMs, subject, steps }
}

/** What a test says itself replaces what the file says. */
function subjectOf(
  root: YamlEntry,
  file: TestFile,
  test: Test,
  path: Path,
  report: (finding: Finding) => void,
): Subject | undefined {
  const own = subjectKeys(root, test, path, report)
  const general = path[1] === 0 ? subjectKeys(root, file, [], report) : keysOf(root, file, [])
  const isOwn = own.config !== undefined || own.processors !== undefined
  const { config, processors } = isOwn ? own : general
  if (processors !== undefined) {
    if (own.set !== undefined)
      report({ place: own.set.keyPlace, message: '`set` changes a config; here are processors' })
    return { kind: 'processors', processors }
  }
  if (config !== undefined) return { kind: 'config', files: config, set: own.set ?? general.set }
  const message = 'it is not said what is tested: `config` is missing, in the test or at the top of the file'
  report({ place: placeOfKey(root, path), message })
  return undefined
}

type SubjectKeys = { readonly [Key in 'config' | 'set' | 'processors']: YamlEntry | undefined }

function subjectKeys(
  root: YamlEntry,
  level: TestFile | Test,
  path: Path,
  report: (finding: Finding) => void,
): SubjectKeys {
  const keys = keysOf(root, level, path)
  if (keys.config !== undefined && keys.processors !== undefined) {
    report({
      place: keys.processors.keyPlace,
      message: '`processors` stands instead of `config`; there cannot be both',
    })
  }
  return keys
}

function keysOf(root: YamlEntry, level: TestFile | Test, path: Path): SubjectKeys {
  const at = (key: 'config' | 'set' | 'processors'): YamlEntry | undefined => {
    const value = nodeAt(root, [...path, key])
    return value === undefined || level[key] === undefined
      ? undefined
      : { keyPlace: placeOfKey(root, [...path, key]), value }
  }
  return { config: at('config'), set: at('set'), processors: at('processors') }
}

const TIME = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d(:\d\d(\.\d+)?)?([Zz]|[+-]\d\d:?\d\d)$/

/** Always with a time zone: a test must not depend on where it runs. */
function parseStart(text: unknown): number {
  return typeof text === 'string' && TIME.test(text) ? Date.parse(text) : NaN
}
