/** The families of cAdvisor: a part of what it has, with all shapes that there are. */
import { formatDecimal, formatShortest } from '../go-number.ts'
import {
  BYTES_PER_PACKET,
  READ_BYTES_PER_MICRO,
  RECEIVED_BYTES_PER_MICRO,
  SENT_BYTES_PER_MICRO,
  WRITTEN_BYTES_PER_MICRO,
  type Use,
} from '../accounting.ts'
import type { Cgroup, CgroupKind } from './cgroups.ts'

export type CadvisorFamily = {
  readonly name: string
  readonly type: 'counter' | 'gauge'
  readonly help: string
  /** Which cgroups have it; without a list, all. */
  readonly kinds?: ReadonlySet<CgroupKind>
  /** Labels of its own: one series for each. */
  readonly own?: readonly OwnLabels[]
  /** What is known from how the container was made has no time. */
  readonly timeless?: true
  value(cgroup: Cgroup, own: OwnLabels): string
}

/** Between the container and the id, between the image and the name, and behind the pod: there names of labels are in order. */
export type OwnLabels = { readonly early?: string; readonly middle?: string; readonly late?: string }

export const NO_LABELS: OwnLabels = {}

const PAGE_BYTES = 4096
const NETWORKED: ReadonlySet<CgroupKind> = new Set(['node', 'pause'])
const WITH_PROCESSES: ReadonlySet<CgroupKind> = new Set(['pause', 'container'])
const INTERFACE: readonly OwnLabels[] = [{ middle: ',interface="eth0"' }]
const DISK: readonly OwnLabels[] = [{ early: ',device="/dev/nvme0n1"' }]

function bytesOf(share: number) {
  return ({ use }: Cgroup): string => whole(Math.floor((use.memoryBytes * share) / PAGE_BYTES) * PAGE_BYTES)
}

function micros(part: (use: Use) => number) {
  return ({ use }: Cgroup): string => formatDecimal(part(use), 6)
}

/** As many as there are bytes for each microsecond of CPU time. */
function perMicro(amount: number) {
  return ({ use }: Cgroup): string => whole(Math.floor(use.cpuMicros * amount))
}

function constant(value: number) {
  return (): string => String(value)
}

function whole(value: number): string {
  return formatDecimal(value, 0)
}

function userMicros({ cpuMicros }: Use): number {
  return Math.floor(cpuMicros * 0.84)
}

function network(direction: string, bytesPerMicro: number): CadvisorFamily[] {
  const family = (what: string, value: CadvisorFamily['value']): CadvisorFamily => ({
    name: `container_network_${direction}_${what}_total`,
    type: 'counter',
    help: `Network, ${direction}: ${what.replaceAll('_', ' ')}`,
    kinds: NETWORKED,
    own: INTERFACE,
    value,
  })
  return [
    family('bytes', ({ networkMicros }) => whole(networkMicros * bytesPerMicro)),
    family('errors', constant(0)),
    family('packets_dropped', constant(0)),
    family('packets', ({ networkMicros }) => whole(Math.floor((networkMicros * bytesPerMicro) / BYTES_PER_PACKET))),
  ]
}

function failures(): readonly OwnLabels[] {
  return ['pgfault', 'pgmajfault'].flatMap(type =>
    ['container', 'hierarchy'].map(scope => ({ early: `,failure_type="${type}"`, late: `,scope="${scope}"` })),
  )
}

export const CADVISOR_FAMILIES: readonly CadvisorFamily[] = [
  {
    name: 'container_cpu_load_average_10s',
    type: 'gauge',
    help: 'Load of the last 10 seconds',
    value: constant(0),
  },
  {
    name: 'container_cpu_system_seconds_total',
    type: 'counter',
    help: 'CPU time in the kernel, in seconds',
    value: micros(use => use.cpuMicros - userMicros(use)),
  },
  {
    name: 'container_cpu_usage_seconds_total',
    type: 'counter',
    help: 'CPU time, in seconds',
    own: [{ early: ',cpu="total"' }],
    value: micros(use => use.cpuMicros),
  },
  {
    name: 'container_cpu_user_seconds_total',
    type: 'counter',
    help: 'CPU time in programs, in seconds',
    value: micros(userMicros),
  },
  { name: 'container_file_descriptors', type: 'gauge', help: 'Open files', kinds: WITH_PROCESSES, value: constant(24) },
  {
    name: 'container_fs_reads_bytes_total',
    type: 'counter',
    help: 'Bytes read from disk',
    own: DISK,
    value: perMicro(READ_BYTES_PER_MICRO),
  },
  {
    name: 'container_fs_writes_bytes_total',
    type: 'counter',
    help: 'Bytes written to disk',
    own: DISK,
    value: perMicro(WRITTEN_BYTES_PER_MICRO),
  },
  {
    name: 'container_memory_cache',
    type: 'gauge',
    help: 'Page cache, in bytes',
    value: bytesOf(0.3),
  },
  { name: 'container_memory_failcnt', type: 'counter', help: 'How often a limit was hit', value: constant(0) },
  {
    name: 'container_memory_failures_total',
    type: 'counter',
    help: 'Page faults',
    own: failures(),
    value: ({ use }, { early }) => (early!.includes('pgmaj') ? '0' : whole(Math.floor(use.cpuMicros / 5000))),
  },
  { name: 'container_memory_mapped_file', type: 'gauge', help: 'Mapped files, in bytes', value: bytesOf(0.02) },
  { name: 'container_memory_rss', type: 'gauge', help: 'Anonymous memory, in bytes', value: bytesOf(0.8) },
  { name: 'container_memory_swap', type: 'gauge', help: 'Swap, in bytes', value: constant(0) },
  {
    name: 'container_memory_usage_bytes',
    type: 'gauge',
    help: 'All memory, in bytes, whenever it was last used',
    value: bytesOf(1.1),
  },
  {
    name: 'container_memory_working_set_bytes',
    type: 'gauge',
    help: 'Working set, in bytes',
    value: ({ use }) => whole(use.memoryBytes),
  },
  ...network('receive', RECEIVED_BYTES_PER_MICRO),
  ...network('transmit', SENT_BYTES_PER_MICRO),
  { name: 'container_oom_events_total', type: 'counter', help: 'Kills for want of memory', value: constant(0) },
  {
    name: 'container_processes',
    type: 'gauge',
    help: 'Processes',
    value: ({ kind }) => (WITH_PROCESSES.has(kind) ? '1' : '0'),
  },
  { name: 'container_spec_cpu_period', type: 'gauge', help: 'CPU period', timeless: true, value: constant(100_000) },
  {
    name: 'container_spec_cpu_shares',
    type: 'gauge',
    help: 'CPU shares',
    timeless: true,
    value: ({ cpuShares }) => String(cpuShares),
  },
  {
    name: 'container_spec_memory_limit_bytes',
    type: 'gauge',
    help: 'Limit of memory, in bytes; 0 for none',
    timeless: true,
    value: constant(0),
  },
  {
    name: 'container_start_time_seconds',
    type: 'gauge',
    help: 'When it started, in seconds since 1970',
    timeless: true,
    value: ({ startedMs }) => formatShortest(Math.floor(startedMs / 1000)),
  },
  {
    name: 'container_threads',
    type: 'gauge',
    help: 'Threads',
    value: ({ kind }) => (kind === 'container' ? '48' : '1'),
  },
]
