/** CPU time by CPU and mode: all that the cgroups of the node used is somewhere in it, and the rest is idle. */
import { familyText, type FamilyText } from '../exposition.ts'
import { formatDecimal } from '../go-number.ts'
import { fractionOf } from '../random.ts'

/** What CPU time is spent on, in the order of modes; idle and waiting time is what is left. */
const BUSY_SHARES = { irq: 0, nice: 0.008, softirq: 0.022, steal: 0, system: 0.13 }
const MODES = ['idle', 'iowait', 'irq', 'nice', 'softirq', 'steal', 'system', 'user'] as const
/** Of all time. */
const WAITING = 0.002
/** Some CPUs do a little more than others. */
const SPREAD = 0.1

type Cpu = { readonly weight: number; readonly prefixes: readonly string[] }

const NAME = 'node_cpu_seconds_total'
const cpusByCount = new Map<number, readonly Cpu[]>()

/** In the order of label values, that is, of text: CPU 10 comes before CPU 2. */
function cpusOf(count: number): readonly Cpu[] {
  let cpus = cpusByCount.get(count)
  if (cpus === undefined) {
    const extras = Array.from({ length: count }, (_, at) => fractionOf(count, at))
    const mean = extras.reduce((sum, extra) => sum + extra, 0) / count
    cpus = Array.from({ length: count }, (_, at) => String(at))
      .sort()
      .map(at => ({
        weight: 1 + SPREAD * (extras[Number(at)]! - mean),
        prefixes: MODES.map(mode => `${NAME}{cpu="${at}",mode="${mode}"} `),
      }))
    cpusByCount.set(count, cpus)
  }
  return cpus
}

export function cpuFamily(count: number, busyMicros: number, upMs: number): FamilyText {
  let text = ''
  for (const { weight, prefixes } of cpusOf(count)) {
    // The kernel counts in hundredths of a second.
    const busy = ((busyMicros / count) * weight) / 10_000
    const all = upMs / 10
    const times = { ...BUSY_SHARES, user: 0, iowait: WAITING * all, idle: 0 }
    times.idle = Math.max(0, all - busy - times.iowait)
    times.user = busy
    for (const mode of ['irq', 'nice', 'softirq', 'steal', 'system'] as const) {
      times[mode] = busy * BUSY_SHARES[mode]
      times.user -= times[mode]
    }
    for (let at = 0; at < MODES.length; at++) {
      text += `${prefixes[at]}${formatDecimal(Math.floor(times[MODES[at]!]), 2)}\n`
    }
  }
  return familyText(NAME, 'counter', 'CPU time by CPU and mode, in seconds.', text)
}
