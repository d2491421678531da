/**
 * CPU for scraping 1,000 targets on loopback, reading included, next to a general HTTP client that reads nothing and, where it is
 * installed, next to Prometheus scraping the same targets. The targets are a process of their own and not counted.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Agent, request } from 'undici'
import { createSystemClock } from '../../pipeline/clock/system-clock.ts'
import { createNetwork } from '../../pipeline/http/network.ts'
import { labelsFrom } from '../../pipeline/model/labels.ts'
import { scrapeOptions } from '../../receivers/scraping/scrape-config.ts'
import { createTarget } from '../../receivers/scraping/target.ts'
import { scrapeConfig } from '../support/scrape-config.ts'
import { testHost } from '../support/test-host.ts'
import { DCGM_SERIES } from './payloads.ts'
import { print } from './measure.ts'

const TARGETS = 1000
/** So many are started together, as the scheduler does. */
const TOGETHER = 20
const ROUNDS = 10
const PROMETHEUS_SECONDS = 30

const { child, port } = await startTargets()
const addresses = Array.from(
  { length: TARGETS },
  (_, target) => `127.0.${Math.floor(target / 250)}.${(target % 250) + 1}:${port}`,
)
try {
  const ours = await measureOurs()
  const undici = await measureUndici()
  print('scraping a target, reading included', ours, 'us CPU')
  print('undici, reading nothing', undici, 'us CPU')
  print('undici against ours', undici / ours, 'times')
  // A microsecond per sample is a second per million.
  print('scraping, reading included', ours / DCGM_SERIES, 'CPU-s per million samples')
  const theirs = await measurePrometheus()
  if (theirs !== undefined) {
    print('Prometheus scraping the same targets', theirs, 'us CPU')
    print('Prometheus against ours', theirs / ours, 'times')
  }
} finally {
  child.kill()
}
process.exit()

async function startTargets(): Promise<{ child: ChildProcess; port: number }> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'many-targets.ts'), String(TARGETS)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [line] = (await once(child.stdout!, 'data')) as [Buffer]
  return { child, port: Number(line.toString()) }
}

/** Microseconds of CPU per call, over all targets and rounds, the first rounds left out. */
async function perTarget(scrapeOne: (target: number) => Promise<void>): Promise<number> {
  let before = process.cpuUsage()
  for (let round = -3; round < ROUNDS; round++) {
    if (round === 0) before = process.cpuUsage()
    for (let first = 0; first < TARGETS; first += TOGETHER) {
      await Promise.all(Array.from({ length: TOGETHER }, (_, i) => scrapeOne(first + i)))
    }
  }
  const { user, system } = process.cpuUsage(before)
  return (user + system) / ROUNDS / TARGETS
}

async function measureOurs(): Promise<number> {
  const clock = createSystemClock()
  const network = createNetwork(clock)
  const host = testHost({ clock, network })
  const options = { ...scrapeOptions(scrapeConfig(), host), fallback: 'text', emptyIsFailure: false } as const
  const waiting = new Map<number, () => void>()
  const targets = addresses.map((address, number) => {
    let batches = 0
    const labels = labelsFrom([['instance', address]])
    const url = `http://${address}/metrics`
    return createTarget({ url, labels, timeoutMs: 10_000 }, options, host, batch => {
      if (batch.outcome === 'failed') throw new Error(host.logged.join('\n'))
      // Every scrape gives two: the series, and the report.
      if (++batches % 2 === 0) waiting.get(number)?.()
    })
  })
  const cpu = await perTarget(
    target =>
      new Promise(resolve => {
        waiting.set(target, resolve)
        targets[target]!.scrape()
      }),
  )
  for (const target of targets) target.remove()
  await network.close()
  return cpu
}

async function measureUndici(): Promise<number> {
  const dispatcher = new Agent({ keepAliveTimeout: 60_000 })
  const cpu = await perTarget(async target => {
    const { body } = await request(`http://${addresses[target]}/metrics`, { dispatcher })
    for await (const chunk of body) void chunk
  })
  await dispatcher.close()
  return cpu
}

async function measurePrometheus(): Promise<number | undefined> {
  const program = '/usr/bin/prometheus'
  if (!existsSync(program)) {
    console.log('Prometheus is not installed: not compared')
    return undefined
  }
  const folder = mkdtempSync(join(tmpdir(), 'gpucol-bench-'))
  const jobs = [{ job_name: 'dcgm', static_configs: [{ targets: addresses }] }]
  writeFileSync(
    join(folder, 'prometheus.yml'),
    JSON.stringify({ global: { scrape_interval: '5s', scrape_timeout: '4s' }, scrape_configs: jobs }),
  )
  const prometheus = spawn(
    program,
    ['--config.file=prometheus.yml', '--storage.tsdb.path=data', '--web.listen-address=127.0.0.1:0'],
    { cwd: folder, stdio: 'ignore' },
  )
  try {
    // Its first scrapes make its index.
    await sleep(15_000)
    const before = cpuSeconds(prometheus.pid!)
    await sleep(PROMETHEUS_SECONDS * 1000)
    const scrapes = (TARGETS * PROMETHEUS_SECONDS) / 5
    return ((cpuSeconds(prometheus.pid!) - before) * 1e6) / scrapes
  } finally {
    prometheus.kill('SIGKILL')
    await once(prometheus, 'exit')
    rmSync(folder, { recursive: true, force: true })
  }
}

/** User and system time of a process, which the kernel counts in hundredths of a second. */
function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')
  return (Number(fields[11]) + Number(fields[12])) / 100
}
