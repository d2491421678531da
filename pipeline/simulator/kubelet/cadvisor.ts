/** `/metrics/cadvisor`: every cgroup of the node in every family, and the machine. */
import type { NodeSample } from '../accounting.ts'
import { familyText, singleText, type FamilyText } from '../exposition.ts'
import { formatDecimal, formatShortest } from '../go-number.ts'
import type { SimulatedNode } from '../node.ts'
import { CADVISOR_FAMILIES, NO_LABELS, type CadvisorFamily } from './cadvisor-families.ts'
import { createCgroupReader, type Cgroup } from './cgroups.ts'

export type CadvisorRenderer = {
  /** In pieces, one per family. */
  render(node: SimulatedNode, sample: NodeSample, nowMs: number, skewMs: number): string[]
}

const OWN_LABELS = [NO_LABELS]

export function createCadvisorRenderer(): CadvisorRenderer {
  const read = createCgroupReader()
  return {
    render(node, sample, nowMs, skewMs) {
      const cgroups = read(sample)
      const stamp = ` ${sample.timeMs + skewMs}\n`
      const families = CADVISOR_FAMILIES.map(family => renderFamily(family, cgroups, stamp))
      families.push(lastSeen(cgroups, nowMs + skewMs), ...machineFamilies(node))
      return families.toSorted((a, b) => (a.name < b.name ? -1 : 1)).map(({ text }) => text)
    },
  }
}

function renderFamily(family: CadvisorFamily, cgroups: readonly Cgroup[], stamp: string): FamilyText {
  const { name, kinds, own = OWN_LABELS } = family
  const end = family.timeless ? '\n' : stamp
  const lines: string[] = []
  for (const cgroup of cgroups) {
    if (kinds !== undefined && !kinds.has(cgroup.kind)) continue
    const { container, id, name: rest } = cgroup.labels
    for (const ownLabels of own) {
      const { early = '', middle = '', late = '' } = ownLabels
      lines.push(`${name}{${container}${early}${id}${middle}${rest}${late}} ${family.value(cgroup, ownLabels)}${end}`)
    }
  }
  // Labels that stand before the id come before it in the order of rows, too.
  if (own.length > 1) lines.sort()
  return familyText(name, family.type, family.help, lines.join(''))
}

/** The one family whose time is that of the scrape. */
function lastSeen(cgroups: readonly Cgroup[], nowMs: number): FamilyText {
  const name = 'container_last_seen'
  const value = `${formatShortest(Math.floor(nowMs / 1000))} ${nowMs}`
  let text = ''
  for (const { labels } of cgroups) text += `${name}{${labels.container}${labels.id}${labels.name}} ${value}\n`
  return familyText(name, 'gauge', 'When it was last seen, in seconds since 1970', text)
}

function machineFamilies({ uid, pool }: SimulatedNode): FamilyText[] {
  const machine = uid.replaceAll('-', '')
  const labels = `boot_id="${uid}",machine_id="${machine}",system_uuid="${uid}"`
  const family = (name: string, help: string, value: string): FamilyText =>
    familyText(name, 'gauge', help, `${name}{${labels}} ${value}\n`)
  const versions = 'cadvisorRevision="",cadvisorVersion="",dockerVersion="",kernelVersion="6.8.0-64-generic"'
  return [
    familyText(
      'cadvisor_version_info',
      'gauge',
      'Versions of the kernel, the system and cAdvisor.',
      `cadvisor_version_info{${versions},osVersion="Ubuntu 24.04.2 LTS"} 1\n`,
    ),
    singleText('container_scrape_error', 'gauge', '1 if containers could not be read', '0'),
    family('machine_cpu_cores', 'Logical CPUs.', String(pool.cpus)),
    family('machine_cpu_physical_cores', 'CPU cores.', String(pool.cpus / 2)),
    family('machine_cpu_sockets', 'CPU sockets.', '2'),
    family('machine_memory_bytes', 'Memory, in bytes.', formatDecimal(pool.memoryKiB * 1024, 0)),
    singleText('machine_scrape_error', 'gauge', '1 if the machine could not be read.', '0'),
    family('machine_swap_bytes', 'Swap, in bytes.', '0'),
  ]
}
