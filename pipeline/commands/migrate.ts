/** `gpucol migrate`: rewrites dashboards, rules and PromQL from one generation of metric names to another. */
import { createCatalogs } from '../catalog/catalogs.ts'
import { loadTranslation } from '../catalog/translation.ts'
import { ConfigError, formatProblems, type ConfigProblem } from '../config/config-error.ts'
import type { InputFile } from '../migrate/input-file.ts'
import type { MigratedFile } from '../migrate/migrate-files.ts'
import { packageFile } from '../package-files.ts'
import { UsageError, type Command, type CommandArguments } from './command.ts'

export const migrate: Command = {
  name: 'migrate',
  summary: 'rewrites dashboards, rules and PromQL from older metric names to newer ones, or back.',
  help: `Usage: gpucol migrate --from NAMES --to NAMES [FILE...] [OPTIONS]

Rewrites Grafana dashboards, Prometheus rules and alerts, and manifests that hold them; without FILE, or for -, what comes in on
standard input, which may also be PromQL by itself. What cannot be rewritten with certainty is left as it is and reported with file,
line and column. Everything else stays byte for byte. Files that are given together are seen together: where a rule records a metric
whose labels change, what uses it follows. configs/migrating.md tells more.

NAMES are 2.12, 2.16 and 2.17 of Run:ai; 1.x, 3.x, 4.8 and 4.9 of dcgm-exporter; or a catalog: runai-2.16, dcgm-exporter-4.8,
kube-state-metrics-1, ..., or the path of one.

Exit codes: 0 fine, 1 --check found something to change or a file could not be written, 2 a wrong call or a file that cannot be read;
then nothing is written.

  --from NAMES     The names that the files have.
  --to NAMES       The names that they get.
  --in-place       Writes the files, each at once or not at all. Otherwise the result goes to standard output.
  --diff           Shows what changes instead.
  --check          Writes nothing and ends with 1 if something would change.
  --variant NAME   The shape of metrics that the older names have several of, such as before-2.9.
  --same-values    Leaves what depends on the values of a label whose successor has others, such as \`by (job_name)\`, instead of
                   rewriting it with a note.
  --quiet          Only files in which something is reported get their line.
`,
  options: {
    from: { type: 'string' },
    to: { type: 'string' },
    'in-place': { type: 'boolean' },
    diff: { type: 'boolean' },
    check: { type: 'boolean' },
    variant: { type: 'string' },
    'same-values': { type: 'boolean' },
    quiet: { type: 'boolean' },
  },
  async run(args, { out, err }) {
    const { files, isCheck, isDiff, isInPlace, isQuiet, acceptsOtherValues } = readOptions(args)
    // The grammar takes a while to load, and no other command needs it.
    const { readInput } = await import('../migrate/input-file.ts')
    const { migrateFiles } = await import('../migrate/migrate-files.ts')
    const { lineDiff } = await import('../migrate/line-diff.ts')
    const { replaceFile } = await import('../migrate/replace-file.ts')
    const vocabulary = await loadVocabulary(args)
    const { inputs, problems } = readAll(files, readInput)
    if (problems.length > 0) {
      err(`${formatProblems(problems)}\n`)
      return 2
    }
    const migrated = migrateFiles(inputs, { vocabulary, acceptsOtherValues })
    for (const file of migrated) {
      const { input, text, isChanged } = file
      if (isDiff) out(lineDiff(input.name, input.mark + input.source.text, text))
      else if (isInPlace && isChanged) {
        try {
          replaceFile(input.name, text)
        } catch (error) {
          err(`${input.name}: cannot be written: ${(error as Error).message}\n`)
          return 1
        }
      } else if (!isCheck && !isInPlace) out(text)
      if (!isQuiet || file.findings.length > 0) err(reportText(file))
    }
    if (migrated.length > 1) err(totalText(migrated))
    return isCheck && migrated.some(({ isChanged }) => isChanged) ? 1 : 0
  },
}

/** What people call generations of names. dcgm-exporter has the same names from 2.x up to 4.8. */
const SHORT_NAMES: Readonly<Record<string, string>> = {
  '2.12': 'runai-2.12',
  '2.13': 'runai-2.16',
  '2.14': 'runai-2.16',
  '2.15': 'runai-2.16',
  '2.16': 'runai-2.16',
  '2.17': 'runai-2.17',
  '1.x': 'dcgm-exporter-1',
  '3.x': 'dcgm-exporter-4.8',
  '4.8': 'dcgm-exporter-4.8',
  '4.9': 'dcgm-exporter-4.9',
  'dcgm-exporter-1.x': 'dcgm-exporter-1',
  'dcgm-exporter-3.x': 'dcgm-exporter-4.8',
}

async function loadVocabulary({ values }: CommandArguments) {
  const { vocabularyOf } = await import('../migrate/translated-vocabulary.ts')
  const [from, to] = [catalogFrom(values, 'from'), catalogFrom(values, 'to')]
  const variant = typeof values['variant'] === 'string' ? values['variant'] : undefined
  const catalogs = createCatalogs(packageFile('configs', 'catalogs'))
  try {
    const there = loadTranslation(catalogs, from, to, variant)
    return vocabularyOf(there, loadTranslation(catalogs, to, from, variant))
  } catch (error) {
    throw new UsageError((error as Error).message, { cause: error })
  }
}

function catalogFrom(values: CommandArguments['values'], option: string): string {
  const value = values[option]
  if (typeof value !== 'string') throw new UsageError(`--${option} NAMES is missing`)
  return SHORT_NAMES[value] ?? value
}

function readOptions({ values, positionals }: CommandArguments) {
  const files = positionals.length === 0 ? ['-'] : positionals
  const isInPlace = values['in-place'] === true
  const isDiff = values['diff'] === true
  const isCheck = values['check'] === true
  if (isInPlace && (isDiff || isCheck)) throw new UsageError('--in-place writes, --diff and --check do not; choose')
  if (isInPlace && files.includes('-')) throw new UsageError('--in-place needs a FILE; standard input is none')
  const twice = files.find((file, i) => files.indexOf(file) < i)
  if (twice !== undefined) throw new UsageError(`"${twice}" is given twice`)
  const acceptsOtherValues = values['same-values'] !== true
  return { files, isInPlace, isDiff, isCheck, isQuiet: values['quiet'] === true, acceptsOtherValues }
}

/** Every file that cannot be read is named, not only the first. */
function readAll(files: readonly string[], read: (file: string) => InputFile) {
  const inputs: InputFile[] = []
  const problems: ConfigProblem[] = []
  for (const file of files) {
    try {
      inputs.push(read(file))
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error
      problems.push(...error.problems)
    }
  }
  return { inputs, problems }
}

const KINDS = { left: 'left as it is', note: 'note' } as const

function reportText({ input, findings, counts }: MigratedFile): string {
  const { name } = input.source
  const lines = findings.map(
    ({ line, column, kind, message }) => `${name}:${line}:${column}: ${KINDS[kind]}: ${message}\n`,
  )
  return `${lines.join('')}${name}: ${countsText(counts)}\n`
}

function totalText(files: readonly MigratedFile[]): string {
  const sum = (key: keyof MigratedFile['counts']) => files.reduce((total, { counts }) => total + counts[key], 0)
  const counts = {
    expressions: sum('expressions'),
    understood: sum('understood'),
    rewritten: sum('rewritten'),
    reported: sum('reported'),
  }
  return `${files.length} files: ${countsText(counts)}\n`
}

function countsText({ expressions, understood, rewritten, reported }: MigratedFile['counts']): string {
  const noun = expressions === 1 ? 'expression' : 'expressions'
  return `${expressions} ${noun}, ${understood} understood, ${rewritten} rewritten, ${reported} reported`
}
