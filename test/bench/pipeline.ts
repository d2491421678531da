/**
 * The whole path as users run it, from the built package: 1,000 targets with 200 series each are scraped, relabelled, normalized, joined
 * and rolled up, and the result is served to a client and pushed to a sink. In the same seconds a program that only receives the same
 * bytes, and Prometheus, ask the same targets. What counts are the ratios; `test/bench/README.md` tells how to read them.
 *
 *     npm run bench:pipeline                        at 200,000 series
 *     npm run bench:pipeline -- --sweep             up to 2.5 million series: memory of each further series, and CPU on the way
 */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { freePorts } from '../support/gpucol-process.ts'
import { DCGM_SERIES } from './payloads.ts'
import { gpucolConfig, kubeconfig, prometheusConfig, pushes, VARIANTS, type Places } from './pipeline/configs.ts'
import {
  askJson,
  cpuSeconds,
  endAll,
  residentBytes,
  startDist,
  startHelper,
  startProgram,
} from './pipeline/processes.ts'

const PROMETHEUS = '/usr/bin/prometheus'
const MEGA = 1e6

/** Programs that do nothing but receive, see `pipeline/receive.ts`. */
const RECEIVERS = ['plain', 'shared'] as const

const TITLES: Readonly<Record<string, string>> = {
  roll_ups: 'roll-ups only',
  raw: 'roll-ups and raw series',
  plain: 'receiving only',
  shared: 'receiving only, all into one buffer',
  prometheus: 'Prometheus',
}

const { values: options } = parseArgs({
  options: {
    targets: { type: 'string', default: '1000' },
    interval: { type: 'string', default: '5' },
    'warm-up': { type: 'string', default: '240' },
    seconds: { type: 'string', default: '30' },
    windows: { type: 'string', default: '3' },
    sweep: { type: 'boolean', default: false },
  },
})
const interval = Number(options.interval)
const warmUp = Number(options['warm-up'])
const seconds = Number(options.seconds)
const windows = Number(options.windows)

/** A program that asks all targets; its name is the path that it asks them for. */
type Subject = { readonly name: string; readonly pid: number }

/** CPU-seconds per million samples in the best window, and the most memory. */
type Figures = { readonly cpu: number; readonly peak: number; readonly onTime: number }

const folder = mkdtempSync(join(tmpdir(), 'gpucol-bench-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
process.on('SIGINT', () => void endAll().then(() => process.exit(130)))
try {
  if (options.sweep) await sweep()
  else await compare(Number(options.targets))
} finally {
  await endAll()
}

async function compare(targets: number): Promise<void> {
  const fixed = await fixedMemory()
  const { places, clientsPort } = await startWorld(targets, VARIANTS)
  const subjects = [
    ...VARIANTS.map((variant, i) => startVariant(variant, places[i]!)),
    ...RECEIVERS.map(how => startReceiver(how, places[0]!)),
    ...(existsSync(PROMETHEUS) ? [startPrometheus(places[0]!)] : []),
  ]
  const figures = await watch(subjects, places[0]!)
  console.log(`${targets} targets, ${count(targets * DCGM_SERIES)} series every ${interval} s`)
  const of = (name: string): Figures | undefined => figures.get(name)
  for (const [name, { cpu, peak, onTime }] of figures) {
    line(TITLES[name]!, `${cpu.toFixed(3)} CPU-s per million samples, at most ${megabytes(peak)} MB`)
    if (onTime < 0.97) line('', `only ${(100 * onTime).toFixed(0)} % of the scrapes took place`)
  }
  for (const variant of VARIANTS) {
    const ours = of(variant)!
    for (const how of RECEIVERS) {
      line(`${TITLES[variant]}: against ${TITLES[how]}`, `${(ours.cpu / of(how)!.cpu).toFixed(2)} times`)
    }
    const theirs = of('prometheus')
    if (theirs !== undefined)
      line(`Prometheus against ${TITLES[variant]}`, `${(theirs.cpu / ours.cpu).toFixed(1)} times`)
    const parts = [
      `runtime ${megabytes(fixed.runtime)}`,
      `libraries ${megabytes(fixed.libraries - fixed.runtime)}`,
      `data ${megabytes(ours.peak - fixed.libraries)}`,
    ]
    line(`${TITLES[variant]}: memory`, `${parts.join(' + ')} = ${megabytes(ours.peak)} MB`)
  }
  if (of('prometheus') === undefined) console.log('Prometheus is not installed: not compared')
  await sayTaken(clientsPort)
}

/** More and more targets, roll-ups only: what a further series costs in memory, and a sample in CPU. */
async function sweep(): Promise<void> {
  let first: { series: number; peak: number } | undefined
  for (const targets of [1000, 2000, 4000, 8000, 12_500]) {
    const { places } = await startWorld(targets, ['roll_ups'])
    const subject = startVariant('roll_ups', places[0]!)
    const { cpu, peak, onTime } = (await watch([subject], places[0]!)).get('roll_ups')!
    const series = targets * DCGM_SERIES
    first ??= { series, peak }
    const further =
      series === first.series ? '' : `, ${bytesPerSeries(first, series, peak)} bytes for each further series`
    const late = onTime < 0.97 ? `, only ${(100 * onTime).toFixed(0)} % of the scrapes took place` : ''
    line(`${count(series)} series`, `${cpu.toFixed(3)} CPU-s/M, at most ${megabytes(peak)} MB${further}${late}`)
    await endAll()
  }
}

function bytesPerSeries(first: { series: number; peak: number }, series: number, peak: number): string {
  return ((peak - first.peak) / (series - first.series)).toFixed(0)
}

/** Targets, and who takes what comes out, with a config's worth of places for each variant. */
async function startWorld(
  targets: number,
  variants: readonly string[],
): Promise<{ places: Places[]; clientsPort: number }> {
  const [targetsPort, apiPort] = (await startHelper('targets.ts', [targets])).split(' ').map(Number)
  const ports = await freePorts(variants.length)
  const urls = ports.map(port => `http://127.0.0.1:${port}/metrics`)
  const clientsPort = Number(await startHelper('clients.ts', [interval, ...urls]))
  const common = {
    targets,
    targetsPort: targetsPort!,
    kubeconfig: write('kubeconfig', kubeconfig(apiPort!)),
    sinkPort: clientsPort,
    interval,
  }
  return { places: ports.map(exporterPort => ({ ...common, exporterPort })), clientsPort }
}

function startVariant(variant: (typeof VARIANTS)[number], places: Places): Subject {
  return { name: variant, pid: startDist(write(`${variant}.yaml`, gpucolConfig(variant, places))).child.pid! }
}

function startReceiver(how: (typeof RECEIVERS)[number], { targets, targetsPort }: Places): Subject {
  const file = join(import.meta.dirname, 'pipeline/receive.ts')
  return { name: how, pid: startProgram(process.execPath, [file, targetsPort, targets, interval, `/${how}`, how]).pid! }
}

function startPrometheus(places: Places): Subject {
  const config = write('prometheus.yml', prometheusConfig(places))
  const args = [`--config.file=${config}`, '--storage.tsdb.path=data', '--web.listen-address=127.0.0.1:0']
  return { name: 'prometheus', pid: startProgram(PROMETHEUS, args, folder).pid! }
}

/** Watches all of them in the same windows; of the windows the cheapest counts, because others only had more company. */
async function watch(subjects: readonly Subject[], { targets, targetsPort }: Places): Promise<Map<string, Figures>> {
  await sleep(warmUp * 1000)
  const figures = new Map<string, Figures>()
  for (let window = 0; window < windows; window++) {
    const servedBefore = await askJson<Record<string, number>>(`http://127.0.0.1:${targetsPort}/served`)
    const before = subjects.map(({ pid }) => cpuSeconds(pid))
    const startMs = performance.now()
    await sleep(seconds * 1000)
    const served = await askJson<Record<string, number>>(`http://127.0.0.1:${targetsPort}/served`)
    const expected = (targets * (performance.now() - startMs)) / 1000 / interval
    subjects.forEach(({ name, pid }, i) => {
      const scrapes = (served[`/${name}`] ?? 0) - (servedBefore[`/${name}`] ?? 0)
      const cpu = (cpuSeconds(pid) - before[i]!) / ((scrapes * DCGM_SERIES) / MEGA)
      const last = figures.get(name)
      figures.set(name, {
        cpu: Math.min(cpu, last?.cpu ?? Infinity),
        peak: residentBytes(pid).peak,
        onTime: Math.min(scrapes / expected, last?.onTime ?? 1),
      })
    })
  }
  return figures
}

/** What Node needs to do nothing, and what gpucol needs with the same components and nothing to scrape. */
async function fixedMemory(): Promise<{ runtime: number; libraries: number }> {
  const bare = startProgram(process.execPath, ['-e', 'setInterval(() => {}, 1e6)'])
  const { places } = await startWorld(0, ['roll_ups'])
  const program = startDist(write('idle.yaml', gpucolConfig('roll_ups', places[0]!)))
  await program.until(/is running/)
  await sleep(3000)
  const memory = { runtime: residentBytes(bare.pid!).peak, libraries: residentBytes(program.child.pid!).peak }
  await endAll()
  return memory
}

async function sayTaken(port: number): Promise<void> {
  type Taken = Record<string, { requests: number; bytes: number; last: number; status: number }>
  const taken = await askJson<Taken>(`http://127.0.0.1:${port}/taken`)
  for (const [name, { requests, last, status }] of Object.entries(taken)) {
    line(`taken from ${name}`, `${requests} times, the last ${megabytes(last)} MB with status ${status}`)
  }
  if (!pushes) console.log('there is no exporter for OTLP: not part of this')
}

function write(name: string, content: object): string {
  const file = join(folder, name)
  writeFileSync(file, JSON.stringify(content))
  return file
}

function line(title: string, text: string): void {
  console.log(`${title === '' ? '  ' : `${title}: `}${text}`)
}

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(0)
}

function count(number: number): string {
  return number.toLocaleString('en')
}
