/**
 * Finds and reads catalogs: those in `configs/catalogs` by name, a user's own by path. Each is read once, and again when its file
 * has changed.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { basename } from 'node:path'
import type { Catalogs } from '../component.ts'
import { closest } from '../config/closest.ts'
import { ConfigError } from '../config/config-error.ts'
import { packageFile } from '../package-files.ts'
import { readCatalog, type Catalog } from './catalog-file.ts'
import type { Fact } from './fact-schema.ts'
import type { Generation } from './generation.ts'
import { generationOf } from './generations.ts'
import type { InputCatalog } from './input-catalog.ts'
import type { OutputCatalog, OutputMetric } from './output-schema.ts'
import { metricMistakes, type Mistake } from './resolve-output.ts'
import type { WorkloadsCatalog } from './workloads-schema.ts'

type Read = { readonly version: string; readonly catalog: Catalog }

/** Where the facts stand that need no definition in a catalog. */
const VOCABULARY = 'facts'

/** What `normalize` reads unless it is told otherwise. */
export const INPUT_CATALOGS = [
  'dcgm',
  'amd',
  'kube-state-metrics',
  'kubelet',
  'node-exporter',
  'runai-node-exporter',
] as const

/** For the whole process: what checks a config and what runs it need the same files. By directory and path. */
const known = new Map<string, Read>()

export function createCatalogs(directory: string): Catalogs {
  /** What is being read: a catalog that leads to itself would be read for ever. */
  const reading = new Set<string>()

  function shared(): ReadonlyMap<string, Fact> {
    const catalog = load(VOCABULARY)
    return catalog.kind === 'facts' ? catalog.facts : new Map()
  }

  function load(nameOrPath: string): Catalog {
    const path = isPath(nameOrPath) ? nameOrPath : `${directory}/${nameOrPath}.yaml`
    const key = `${directory}\n${path}`
    const read = known.get(key)
    const { text, version } = readText(path, nameOrPath, directory, read)
    if (read !== undefined && read.version === version) return read.catalog
    if (reading.has(key)) throw new Error(`catalog "${nameOrPath}" comes after itself`)
    reading.add(key)
    try {
      const all = (): ReadonlyMap<string, Fact> => knownFacts({ load })
      const generation = (name: string): Generation => generationOf({ load }, name)
      const { catalog, problems } = readCatalog(path, text, { shared, all, generation })
      if (catalog === undefined) throw new ConfigError(problems)
      known.set(key, { version, catalog })
      return catalog
    } finally {
      reading.delete(key)
    }
  }

  return { load }
}

/** A catalog that says what becomes of the series of a source. Throws if it is not there, not right, or of another kind. */
export function loadInputCatalog(catalogs: Catalogs, nameOrPath: string): InputCatalog {
  const catalog = catalogs.load(nameOrPath) as Catalog
  if (catalog.kind !== 'input')
    throw new Error(`catalog "${nameOrPath}" is no input catalog but one of ${catalog.kind}`)
  return catalog
}

/** A catalog that says what pods belong to. Throws likewise. */
export function loadWorkloadsCatalog(catalogs: Catalogs, nameOrPath: string): WorkloadsCatalog {
  const catalog = catalogs.load(nameOrPath) as Catalog
  if (catalog.kind !== 'workloads')
    throw new Error(`catalog "${nameOrPath}" is no catalog of workloads but one of ${catalog.kind}`)
  return catalog
}

/** A catalog that says which metrics roll-ups make. Throws likewise. */
export function loadOutputCatalog(catalogs: Catalogs, nameOrPath: string): OutputCatalog {
  const catalog = catalogs.load(nameOrPath) as Catalog
  if (catalog.kind !== 'output')
    throw new Error(`catalog "${nameOrPath}" is no output catalog but one of ${catalog.kind}`)
  return catalog
}

/** All facts that some source gives, by name. */
export function knownFacts(catalogs: Catalogs): ReadonlyMap<string, Fact> {
  const facts = new Map<string, Fact>()
  for (const name of INPUT_CATALOGS) {
    for (const { fact } of loadInputCatalog(catalogs, name).rules.values()) facts.set(fact.name, fact)
  }
  const shared = catalogs.load(VOCABULARY) as Catalog
  if (shared.kind === 'facts') for (const [name, fact] of shared.facts) facts.set(name, fact)
  return facts
}

/** What is wrong with catalogs that a config names, each mistake with its own file, line and column. */
export function inputCatalogProblems(names: readonly string[]): { index: number; message: string }[] {
  return names.flatMap((name, index) => mistakesOf(name, loadInputCatalog).map(message => ({ index, message })))
}

export function workloadsCatalogProblems(name: string): string[] {
  return mistakesOf(name, loadWorkloadsCatalog)
}

/**
 * What is wrong with metrics that a config adds to catalogs, which are right themselves. If these are not all, a label that none of
 * them defines may be defined by another.
 */
export function outputMetricProblems(
  names: readonly string[],
  metrics: readonly OutputMetric[],
  { areAll = true }: { readonly areAll?: boolean } = {},
): { path: readonly (string | number)[]; message: string }[] {
  if (metrics.length === 0) return []
  const catalogs = createCatalogs(packageFile('configs', 'catalogs'))
  const labels = Object.assign({}, ...names.map(name => loadOutputCatalog(catalogs, name).labels))
  const facts = knownFacts(catalogs)
  const repeated = metrics.flatMap(({ metric }, i) =>
    metrics.findIndex(one => one.metric === metric) < i
      ? [{ path: [i, 'metric'], message: `${metric} is here twice` }]
      : [],
  )
  const isSure = ({ path: [key, at] }: Mistake, metric: OutputMetric): boolean =>
    areAll || key !== 'labels' || Object.hasOwn(labels, metric.labels[Number(at)]!)
  const mistakes = metrics.flatMap((metric, i) =>
    metricMistakes(metric, labels, facts)
      .filter(mistake => isSure(mistake, metric))
      .map(({ path, message, suggestion }) => ({
        path: [i, ...path],
        message: suggestion === undefined ? message : `${message}; did you mean \`${suggestion}\`?`,
      })),
  )
  return [...repeated, ...mistakes]
}

export function outputCatalogProblems(name: string): string[] {
  return mistakesOf(name, loadOutputCatalog)
}

function mistakesOf(name: string, load: (catalogs: Catalogs, name: string) => unknown): string[] {
  try {
    load(createCatalogs(packageFile('configs', 'catalogs')), name)
    return []
  } catch (error) {
    return messagesOf(error as Error)
  }
}

/** Each mistake of a catalog with its own file, line and column. */
export function messagesOf(error: Error): string[] {
  if (!(error instanceof ConfigError)) return [error.message]
  return error.problems.map(({ file, line, column, message, suggestion }) => {
    const meant = suggestion === undefined ? '' : `; did you mean \`${suggestion}\`?`
    return `${file}:${line}:${column}: ${message}${meant}`
  })
}

function isPath(nameOrPath: string): boolean {
  return nameOrPath.includes('/') || /\.ya?ml$/.test(nameOrPath)
}

function readText(
  path: string,
  nameOrPath: string,
  directory: string,
  known: Read | undefined,
): { readonly text: string; readonly version: string } {
  try {
    const { mtimeMs, size } = statSync(path)
    const version = `${mtimeMs} ${size}`
    return { text: known?.version === version ? '' : readFileSync(path, 'utf8'), version }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') {
      throw new Error(`catalog "${nameOrPath}" cannot be read: ${(error as Error).message}`, { cause: error })
    }
    throw new Error(`there is no catalog "${nameOrPath}"${others(nameOrPath, directory)}`, { cause: error })
  }
}

function others(nameOrPath: string, directory: string): string {
  const names = isPath(nameOrPath) ? [] : catalogNames(directory)
  const meant = closest(nameOrPath, names)
  if (meant !== undefined) return `; did you mean "${meant}"?`
  return names.length === 0 ? '' : `; there are ${names.join(', ')}`
}

function catalogNames(directory: string): string[] {
  try {
    return readdirSync(directory)
      .filter(file => file.endsWith('.yaml'))
      .map(file => basename(file, '.yaml'))
  } catch {
    // A package without catalogs: there are none to name.
    return []
  }
}
