/**
 * The real servers that these tests run, built from their sources with the go command as it is configured: none of them can be
 * counted on as a package. They stay in the user's cache directory, outside the checkout, one file for all that one is built from.
 */
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { stringify } from 'yaml'

export type ServerName = 'etcd' | 'kube-apiserver' | 'kube-state-metrics' | 'prometheus' | 'otelcol'

/** Paths of the programs. */
export type Programs<Name extends ServerName> = Readonly<Record<Name, string>>

type ServerSource = {
  readonly name: ServerName
  /** The main package, which is in the module. Of the Collector: the program that writes its main package. */
  readonly package: string
  readonly module: string
  readonly version: string
  /** The version under which the modules are published that the module itself replaces by directories of its own. */
  readonly parts?: string
  /** Variables that the linker sets: some servers do not know their version otherwise. */
  readonly variables?: Readonly<Record<string, string>>
  /** Components of a Collector, which is put together from them. */
  readonly components?: object
  readonly duration: string
}

const COLLECTOR = 'v0.159.0'
const core = (part: string): { gomod: string } => ({ gomod: `go.opentelemetry.io/collector/${part} ${COLLECTOR}` })

/** Not every version can be had from every proxy, so these are fixed. */
const SOURCES: readonly ServerSource[] = [
  {
    name: 'etcd',
    package: 'go.etcd.io/etcd/server/v3',
    module: 'go.etcd.io/etcd/server/v3',
    version: 'v3.7.3',
    duration: 'a few minutes',
  },
  {
    name: 'kube-state-metrics',
    package: 'k8s.io/kube-state-metrics/v2',
    module: 'k8s.io/kube-state-metrics/v2',
    version: 'v2.20.0',
    variables: { 'github.com/prometheus/common/version.Version': 'v2.20.0' },
    duration: 'a few minutes',
  },
  {
    name: 'kube-apiserver',
    package: 'k8s.io/kubernetes/cmd/kube-apiserver',
    module: 'k8s.io/kubernetes',
    version: 'v1.36.3',
    parts: 'v0.36.3',
    variables: {
      'k8s.io/component-base/version.gitVersion': 'v1.36.3',
      'k8s.io/component-base/version.gitMajor': '1',
      'k8s.io/component-base/version.gitMinor': '36',
    },
    duration: 'ten minutes or more',
  },
  {
    name: 'prometheus',
    package: 'github.com/prometheus/prometheus/cmd/prometheus',
    module: 'github.com/prometheus/prometheus',
    version: 'v0.315.0',
    variables: { 'github.com/prometheus/common/version.Version': '3.15.0' },
    duration: 'ten minutes or more',
  },
  {
    name: 'otelcol',
    package: 'go.opentelemetry.io/collector/cmd/builder',
    module: 'go.opentelemetry.io/collector/cmd/builder',
    version: COLLECTOR,
    components: {
      receivers: [core('receiver/otlpreceiver')],
      exporters: [
        core('exporter/otlphttpexporter'),
        {
          gomod: `github.com/open-telemetry/opentelemetry-collector-contrib/exporter/prometheusexporter ${COLLECTOR}`,
        },
      ],
      // Without the one for the environment it does not start.
      providers: ['env', 'file'].map(scheme => ({
        gomod: `go.opentelemetry.io/collector/confmap/provider/${scheme}provider v1.65.0`,
      })),
    },
    duration: 'ten minutes',
  },
]

const DAY_MS = 86_400_000
const run = promisify(execFile)

/** Builds what is not there yet. Undefined where that takes Go and there is none; one line that is said tells so. */
export async function buildServers<Name extends ServerName>(
  names: readonly Name[],
  say: (line: string) => void,
): Promise<Programs<Name> | undefined> {
  const cache = process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache')
  const folder = join(cache, 'gpucol', 'servers')
  const wanted = SOURCES.filter(({ name }) => (names as readonly ServerName[]).includes(name))
  const built = wanted.map(source => ({ source, path: join(folder, fileName(source)) }))
  const missing = built.filter(({ path }) => !existsSync(path))
  if (missing.length > 0 && !(await hasGo())) {
    const programs = missing.map(({ source }) => source.name).join(', ')
    say(`skipped: ${programs} would be built with Go, which is not on this machine`)
    return undefined
  }
  mkdirSync(folder, { recursive: true })
  removeLeftovers(folder)
  for (const { source, path } of missing) {
    say(`building ${source.name} ${source.version} once, into ${folder}; from nothing it takes ${source.duration}`)
    await build(source, folder, path)
  }
  return Object.fromEntries(built.map(({ source, path }) => [source.name, path])) as Programs<Name>
}

/** Another one when anything changes that the program is built from, not only its version. */
function fileName(source: ServerSource): string {
  const built = JSON.stringify({ ...source, duration: undefined })
  const digest = createHash('sha256').update(built).digest('hex').slice(0, 8)
  return `${source.name}-${source.version}-${digest}`
}

async function hasGo(): Promise<boolean> {
  return run('go', ['version']).then(
    () => true,
    () => false,
  )
}

/** In a folder of its own, from which only what is complete is moved to its place. */
async function build(source: ServerSource, folder: string, path: string): Promise<void> {
  const scratch = mkdtempSync(join(folder, 'building-'))
  const go = (...args: string[]): Promise<string> => runGo(args, scratch)
  try {
    // "go install" refuses modules that replace others, so an otherwise empty module requires this one.
    await go('mod', 'init', 'servers')
    if (source.parts !== undefined) await publishedParts(source.module, source.version, source.parts, go)
    await go('get', `${source.package}@${source.version}`)
    const variables = Object.entries(source.variables ?? {}).map(([name, value]) => `-X ${name}=${value}`)
    const flags = ['-s', '-w', ...variables].join(' ')
    await go('build', '-ldflags', flags, '-o', 'program', source.package)
    if (source.components !== undefined) await putTogether(source.components, scratch, flags)
    renameSync(join(scratch, 'program'), path)
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

/** The program writes the source of a Collector with these components, from which the one that is wanted takes its place. */
async function putTogether(components: object, scratch: string, flags: string): Promise<void> {
  const sources = join(scratch, 'collector')
  const dist = { name: 'otelcol', description: 'for tests', output_path: sources }
  writeFileSync(join(scratch, 'components.yaml'), stringify({ dist, ...components }))
  await run(join(scratch, 'program'), ['--config', 'components.yaml', '--skip-compilation'], { cwd: scratch })
  await runGo(['build', '-ldflags', flags, '-o', join(scratch, 'program'), '.'], sources)
}

/** Lets the modules that a module has in directories of its own be those that are published under the same names. */
async function publishedParts(
  module: string,
  version: string,
  parts: string,
  go: (...args: string[]) => Promise<string>,
): Promise<void> {
  const { GoMod: file } = JSON.parse(await go('mod', 'download', '-json', `${module}@${version}`)) as { GoMod: string }
  const { Replace: replaced } = JSON.parse(await go('mod', 'edit', '-json', file)) as {
    Replace: { Old: { Path: string } }[]
  }
  await go('mod', 'edit', ...replaced.map(({ Old: { Path: name } }) => `-replace=${name}=${name}@${parts}`))
}

async function runGo(args: readonly string[], cwd: string): Promise<string> {
  // Static programs need no C compiler.
  const env = { ...process.env, CGO_ENABLED: '0' }
  try {
    return (await run('go', args, { cwd, env, maxBuffer: 64 << 20 })).stdout
  } catch (error) {
    const { stderr = '' } = error as { stderr?: string }
    const end = stderr.trimEnd().split('\n').slice(-20).join('\n')
    throw new Error(`go ${args.slice(0, 2).join(' ')} failed:\n${end}`, { cause: error })
  }
}

/** Of builds that were killed. One that is younger may be going on. */
function removeLeftovers(folder: string): void {
  for (const name of readdirSync(folder).filter(one => one.startsWith('building-'))) {
    const path = join(folder, name)
    const { mtimeMs = Infinity } = statSync(path, { throwIfNoEntry: false }) ?? {}
    if (Date.now() - mtimeMs > DAY_MS) rmSync(path, { recursive: true, force: true })
  }
}
