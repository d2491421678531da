/** The text of node-exporter: a part of what it has, of all sorts. It reads the kernel at the moment of the scrape. */
import {
  BYTES_PER_PACKET,
  READ_BYTES_PER_MICRO,
  RECEIVED_BYTES_PER_MICRO,
  sampleNode,
  SENT_BYTES_PER_MICRO,
  WRITTEN_BYTES_PER_MICRO,
} from '../accounting.ts'
import { familyText, joinFamilies, singleText, type FamilyText } from '../exposition.ts'
import { formatDecimal, formatShortest } from '../go-number.ts'
import { goProcessFamilies } from '../go-process.ts'
import type { SimulatedNode } from '../node.ts'
import { fractionOf, hashText } from '../random.ts'
import { cpuFamily } from './cpu-families.ts'
import { memoryFamilies } from './memory-families.ts'

const COLLECTORS = ['cpu', 'diskstats', 'filesystem', 'loadavg', 'meminfo', 'netdev', 'os', 'stat', 'time', 'uname']
const DISK_BYTES = 1_889_280_000_000

export function renderNodeExporter(node: SimulatedNode, timeMs: number, shownMs: number): string {
  const { pool, accounting } = node
  const { cpuMicros, memoryBytes } = sampleNode(node, timeMs).whole
  const upMs = timeMs - accounting.sinceMs
  return joinFamilies([
    cpuFamily(pool.cpus, cpuMicros, upMs),
    ...memoryFamilies(pool.memoryKiB * 1024, memoryBytes),
    ...kernelFamilies(cpuMicros, minutes => coresUsed(node, cpuMicros, timeMs, minutes)),
    ...deviceFamilies(cpuMicros),
    ...fileSystemFamilies(node),
    ...aboutFamilies(node),
    singleText('node_boot_time_seconds', 'gauge', 'When the node booted.', seconds(accounting.sinceMs)),
    singleText('node_time_seconds', 'gauge', 'What the clock of the node shows.', formatShortest(shownMs / 1000)),
    ...goProcessFamilies(accounting.sinceMs, timeMs, hashText(node.uid)),
  ])
}

/** On average over the last minutes, by what runs now: what ended in between is past. */
function coresUsed(node: SimulatedNode, cpuMicros: number, timeMs: number, minutes: number): number {
  const before = sampleNode(node, timeMs - minutes * 60_000).whole.cpuMicros
  return Math.max(0, cpuMicros - before) / (minutes * 60_000_000)
}

function kernelFamilies(cpuMicros: number, load: (minutes: number) => number): FamilyText[] {
  const gauge = (name: string, help: string, value: string): FamilyText => singleText(name, 'gauge', help, value)
  const counter = (name: string, help: string, value: number): FamilyText =>
    singleText(name, 'counter', help, integer(value))
  return [
    counter('node_context_switches_total', 'Context switches.', cpuMicros / 40),
    counter('node_forks_total', 'Forks.', cpuMicros / 200_000),
    counter('node_intr_total', 'Interrupts.', cpuMicros / 60),
    gauge('node_load1', 'Load of one minute.', hundredths(load(1))),
    gauge('node_load5', 'Load of five minutes.', hundredths(load(5))),
    gauge('node_load15', 'Load of fifteen minutes.', hundredths(load(15))),
    gauge('node_procs_blocked', 'Processes that wait for a disk.', '0'),
    gauge('node_procs_running', 'Processes that run.', integer(1 + load(1))),
  ]
}

function deviceFamilies(cpuMicros: number): FamilyText[] {
  const disk = (name: string, help: string, value: number): FamilyText =>
    familyText(name, 'counter', help, `${name}{device="nvme0n1"} ${integer(value)}\n`)
  const network = (name: string, help: string, value: number): FamilyText =>
    familyText(name, 'counter', help, `${name}{device="eth0"} ${integer(value)}\n${name}{device="lo"} 0\n`)
  const received = cpuMicros * RECEIVED_BYTES_PER_MICRO
  const sent = cpuMicros * SENT_BYTES_PER_MICRO
  return [
    disk('node_disk_read_bytes_total', 'Bytes read.', cpuMicros * READ_BYTES_PER_MICRO),
    disk('node_disk_written_bytes_total', 'Bytes written.', cpuMicros * WRITTEN_BYTES_PER_MICRO),
    network('node_network_receive_bytes_total', 'Bytes received.', received),
    network('node_network_receive_drop_total', 'Packets dropped when received.', 0),
    network('node_network_receive_errs_total', 'Errors when received.', 0),
    network('node_network_receive_packets_total', 'Packets received.', received / BYTES_PER_PACKET),
    network('node_network_transmit_bytes_total', 'Bytes sent.', sent),
    network('node_network_transmit_drop_total', 'Packets dropped when sent.', 0),
    network('node_network_transmit_errs_total', 'Errors when sent.', 0),
    network('node_network_transmit_packets_total', 'Packets sent.', sent / BYTES_PER_PACKET),
  ]
}

function fileSystemFamilies({ uid }: SimulatedNode): FamilyText[] {
  const family = (name: string, help: string, value: number): FamilyText =>
    familyText(name, 'gauge', help, `${name}{device="/dev/nvme0n1p1",fstype="ext4",mountpoint="/"} ${integer(value)}\n`)
  const free = DISK_BYTES * (0.4 + 0.4 * fractionOf(hashText(uid), 0))
  return [
    family('node_filesystem_avail_bytes', 'Bytes that programs may still use.', free * 0.95),
    family('node_filesystem_files', 'Files that there may be.', 115_000_000),
    family('node_filesystem_free_bytes', 'Bytes that are free.', free),
    family('node_filesystem_readonly', 'Whether it can only be read.', 0),
    family('node_filesystem_size_bytes', 'Bytes that there are.', DISK_BYTES),
  ]
}

function aboutFamilies({ name: nodeName, index }: SimulatedNode): FamilyText[] {
  const info = (name: string, help: string, labels: string): FamilyText =>
    familyText(name, 'gauge', help, `${name}{${labels}} 1\n`)
  const collectors = (name: string, help: string, value: (at: number) => string): FamilyText =>
    familyText(
      name,
      'gauge',
      help,
      COLLECTORS.map((collector, at) => `${name}{collector="${collector}"} ${value(at)}\n`).join(''),
    )
  return [
    info(
      'node_exporter_build_info',
      'Version of node-exporter.',
      'branch="HEAD",goarch="amd64",goos="linux",goversion="go1.24.6",revision="",tags="unknown",version="1.9.1"',
    ),
    info(
      'node_os_info',
      'The operating system.',
      'build_id="",id="ubuntu",id_like="debian",image_id="",image_version="",name="Ubuntu",pretty_name="Ubuntu 24.04.2 LTS",variant="",variant_id="",version="24.04.2 LTS (Noble Numbat)",version_codename="noble",version_id="24.04"',
    ),
    info(
      'node_uname_info',
      'The kernel.',
      `domainname="(none)",machine="x86_64",nodename="${nodeName}",release="6.8.0-64-generic",sysname="Linux",version="#67-Ubuntu SMP PREEMPT_DYNAMIC"`,
    ),
    collectors('node_scrape_collector_duration_seconds', 'How long a collector took.', at =>
      formatShortest(0.0001 + fractionOf(index, at) / 500),
    ),
    collectors('node_scrape_collector_success', 'Whether a collector found what it was after.', () => '1'),
  ]
}

function seconds(timeMs: number): string {
  return formatShortest(Math.floor(timeMs / 1000))
}

function hundredths(value: number): string {
  return formatDecimal(Math.round(value * 100), 2)
}

function integer(value: number): string {
  return formatDecimal(Math.floor(value), 0)
}
