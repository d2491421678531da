/** Loads what a test is about. */
import { dirname, isAbsolute, join, resolve } from 'node:path'
import type { Registries } from '../component.ts'
import { closest } from '../config/closest.ts'
import { ConfigError, type ConfigProblem } from '../config/config-error.ts'
import type { Finding } from '../config/finding.ts'
import { loadConfig, type LoadedConfig } from '../config/loaded-config.ts'
import { plainValue } from '../config/plain-value.ts'
import type { Source } from '../config/source.ts'
import type { YamlEntry, YamlMap, YamlNode } from '../config/yaml-source.ts'
import { processorsConfig } from './processors-config.ts'
import type { ConfigTest, Suite } from './suite.ts'
import { expandReferences, type Environment } from './test-expander.ts'

export type TestConfig = {
  readonly config: LoadedConfig
  /** Gives Prometheus text to the first processor, where processors are tested. */
  give?(text: Uint8Array, timeMs: number): void
}
export type LoadTestOptions = { readonly registries: Registries; readonly env: Environment }

/** Throws a `ConfigError` whose problems point into the test file where that is what is wrong. */
export async function loadTestConfig(suite: Suite, test: ConfigTest, options: LoadTestOptions): Promise<TestConfig> {
  const findings: Finding[] = []
  const report = (finding: Finding): void => void findings.push(finding)
  const throwFindings = (): void => {
    const errors = findings.filter(({ severity }) => severity !== 'warning')
    if (errors.length > 0) throw new ConfigError(suite.describeProblems(errors))
  }
  const { subject } = test
  const { registries, env } = options
  if (subject.kind === 'processors') {
    const loaded = processorsConfig(subject.processors, registries, env, report)
    checkExporters(test, loaded.config, report)
    throwFindings()
    return loaded
  }
  const files = filesOf(subject.files, env, report)
  throwFindings()
  const set = subject.set === undefined ? [] : [...(subject.set.value as YamlMap).entries]
  try {
    const config = await loadConfig({ files, set: set.map(setOption), registries, env })
    checkExporters(test, config, report)
    throwFindings()
    return { config }
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    throw new ConfigError(error.problems.map(problem => inTestFile(problem, set, suite)))
  }
}

/** Paths are relative to the test file, and called as they look from where it is called. */
function filesOf(entry: YamlEntry, env: Environment, report: (finding: Finding) => void): string[] {
  const node = expandReferences(entry.value, env, report)
  const { source } = entry.keyPlace
  const items = node.kind === 'list' ? node.items : [node]
  return items.flatMap(item => {
    if (item.kind === 'hole') return []
    const path = plainValue(item, [{ type: 'string' }])
    if (typeof path === 'string' && path !== '') return [fromTestFile(source, path)]
    report({ place: item.place, message: '`config` must be the path of a file' })
    return []
  })
}

function fromTestFile(source: Source, path: string): string {
  return isAbsolute(path) ? path : join(dirname(source.name), path)
}

type SetEntry = readonly [key: string, entry: YamlEntry]

/** JSON is YAML, so a value stays what it is: a text in quotes is a text. */
function setOption([key, { value, keyPlace }]: SetEntry): string {
  return `${key}=${JSON.stringify(withAbsolutePaths(plainValue(value, []), keyPlace.source))}`
}

/** On the command line paths are relative to the current directory, here to the test file. */
function withAbsolutePaths(value: unknown, { name, path = name }: Source): unknown {
  const text = JSON.stringify(value).replaceAll(
    /(?<!\$)\$\{file:([^}$"]+)\}/g,
    (_, file: string) => `\${file:${resolve(dirname(path), file)}}`,
  )
  return JSON.parse(text) as unknown
}

/** What is wrong with a value of `set` is shown where the test file has it. */
function inTestFile(problem: ConfigProblem, set: readonly SetEntry[], suite: Suite): ConfigProblem {
  const entry = set.find(([key]) => problem.file === `--set ${key}`)?.[1]
  if (entry === undefined) return problem
  const { message, suggestion, severity } = problem
  const place = hasPlace(entry.value) ? entry.value.place : entry.keyPlace
  return suite.describeProblems([{ place, message, severity, ...(suggestion !== undefined && { suggestion }) }])[0]!
}

function hasPlace({ place }: YamlNode): boolean {
  return place.end > place.start
}

/** An exporter that is compared must get something. */
function checkExporters(test: ConfigTest, config: LoadedConfig, report: (finding: Finding) => void): void {
  const ids = [...new Set([...config.pipelines.values()].flatMap(({ exporters }) => exporters))]
  for (const { exporter } of test.steps.flatMap(({ expect }) => expect)) {
    if (exporter === undefined || ids.includes(exporter.id)) continue
    const suggestion = closest(exporter.id, ids)
    const message = `no pipeline has an exporter \`${exporter.id}\`; there are ${ids.join(', ')}`
    report({ place: exporter.place, message, ...(suggestion !== undefined && { suggestion }) })
  }
}
