/** Reads one catalog file and says all that is wrong with it, each at its place. */
import { checkValue } from '../config/check-value.ts'
import { ConfigError, type ConfigProblem } from '../config/config-error.ts'
import { MAX_FILE_BYTES } from '../config/config-file.ts'
import { placeOfKey, placeOfValue } from '../config/entry-path.ts'
import type { Finding } from '../config/finding.ts'
import { problemsFrom } from '../config/problems.ts'
import type { Schema } from '../config/schema-walk.ts'
import { findSecrets } from '../config/secrets.ts'
import { createSource, startOf } from '../config/source.ts'
import { readYaml, type YamlEntry } from '../config/yaml-source.ts'
import { factFrom, factsSchema, type Fact, type FactsFile } from './fact-schema.ts'
import type { Generation } from './generation.ts'
import type { InputCatalog } from './input-catalog.ts'
import { inputSchema, type InputFile } from './input-schema.ts'
import { legacySchema, type LegacyCatalog } from './legacy-schema.ts'
import { outputSchema, type OutputCatalog } from './output-schema.ts'
import { legacyMistakes } from './resolve-legacy.ts'
import { outputMistakes } from './resolve-output.ts'
import { checkRange, checkUnit, resolveInput } from './resolve-input.ts'
import { workloadsMistakes, workloadsSchema, type WorkloadsCatalog } from './workloads-schema.ts'

/** The facts that need no definition in a catalog. */
export type FactsCatalog = { readonly kind: 'facts'; readonly facts: ReadonlyMap<string, Fact> }
export type Catalog = InputCatalog | FactsCatalog | WorkloadsCatalog | OutputCatalog | LegacyCatalog

const SCHEMAS: Readonly<Record<string, Schema>> = {
  input: inputSchema,
  facts: factsSchema,
  workloads: workloadsSchema,
  output: outputSchema,
  legacy: legacySchema,
}

/** What other catalogs know; asked for when it is needed. */
export type Vocabulary = {
  /** The facts that need no definition in a catalog. */
  shared(): ReadonlyMap<string, Fact>
  /** Those, and all that some input catalog defines. */
  all(): ReadonlyMap<string, Fact>
  /** Another generation of metric names. Throws if there is none. */
  generation(nameOrPath: string): Generation
}

/** Without a catalog there is at least one problem. */
export function readCatalog(
  path: string,
  text: string,
  vocabulary: Vocabulary,
): { readonly catalog: Catalog | undefined; readonly problems: readonly ConfigProblem[] } {
  const source = createSource(path, text)
  const findings: Finding[] = []
  const { root, findings: syntax } = readYaml(source)
  const entry: YamlEntry = { keyPlace: startOf(source), value: root }
  let catalog: Catalog | undefined
  let schema: Schema = {}
  if (text.length > MAX_FILE_BYTES) findings.push({ place: startOf(source), message: 'this is too long for a catalog' })
  else if (syntax.length > 0) findings.push(...syntax)
  else if (root.kind !== 'map') findings.push({ place: startOf(source), message: 'a catalog is a map' })
  else {
    const kind = root.entries.get('kind')?.value
    const name = kind?.kind === 'scalar' ? String(kind.value) : ''
    schema = SCHEMAS[name] ?? {}
    if (!Object.hasOwn(SCHEMAS, name)) {
      const message = `\`kind\` must be one of ${Object.keys(SCHEMAS).join(', ')}`
      findings.push({ place: placeOfValue(entry, ['kind']), message })
    } else catalog = checked(entry, name, schema, vocabulary, findings)
  }
  const problems = problemsFrom(findings, findSecrets([root], schema, findings))
  return { catalog: problems.length > 0 ? undefined : catalog, problems }
}

function checked(
  entry: YamlEntry,
  kind: string,
  schema: Schema,
  vocabulary: Vocabulary,
  findings: Finding[],
): Catalog | undefined {
  const { value, isGood, findings: found, brokenIn } = checkValue(entry, 'the catalog', schema)
  findings.push(...found)
  const broken = kind === 'output' ? brokenIn('metrics') : undefined
  if (!isGood && broken === undefined) return undefined
  if (kind === 'facts') return factsCatalog(value as FactsFile, entry, findings)
  if (kind === 'workloads') {
    const mistakes = workloadsMistakes(value as WorkloadsCatalog)
    findings.push(...mistakes.map(({ path, message }) => ({ place: placeOfValue(entry, path), message })))
    return value as WorkloadsCatalog
  }
  if (kind === 'output') {
    const mistakes = outputMistakes(value as OutputCatalog, vocabulary.all(), broken)
    findings.push(...mistakes.map(({ path, ...rest }) => ({ place: placeOfValue(entry, path), ...rest })))
    return value as OutputCatalog
  }
  if (kind === 'legacy') return legacyCatalog(value as LegacyCatalog, entry, vocabulary, findings)
  const { catalog, findings: more } = resolveInput(value as InputFile, entry, vocabulary.shared())
  findings.push(...more)
  return catalog
}

function legacyCatalog(
  file: LegacyCatalog,
  entry: YamlEntry,
  vocabulary: Vocabulary,
  findings: Finding[],
): LegacyCatalog {
  try {
    const next = file.successor === undefined ? undefined : vocabulary.generation(file.successor)
    for (const { path, isOfKey, ...rest } of legacyMistakes(file, next)) {
      findings.push({ place: isOfKey === true ? placeOfKey(entry, path) : placeOfValue(entry, path), ...rest })
    }
  } catch (error) {
    const [first] = error instanceof ConfigError ? error.problems : []
    const message = first === undefined ? (error as Error).message : `${placeText(first)}: ${first.message}`
    findings.push({ place: placeOfValue(entry, ['successor']), message })
  }
  return file
}

function placeText({ file, line, column }: ConfigProblem): string {
  return line === undefined ? file : `${file}:${line}:${column}`
}

function factsCatalog(file: FactsFile, entry: YamlEntry, findings: Finding[]): FactsCatalog {
  const report = (path: readonly (string | number)[], message: string, suggestion?: string): void =>
    void findings.push({ place: placeOfValue(entry, path), message, suggestion })
  const at = { key: report, value: report }
  const facts = new Map<string, Fact>()
  file.facts.forEach((row, i) => {
    checkUnit(row.unit, ['facts', i, 'unit'], at)
    checkRange(row.range, ['facts', i, 'range'], at)
    if (facts.has(row.fact)) report(['facts', i, 'fact'], `${row.fact} is here twice`)
    facts.set(row.fact, factFrom(row.fact, row))
  })
  return { kind: 'facts', facts }
}
