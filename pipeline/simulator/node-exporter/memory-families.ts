/** `/proc/meminfo` as node-exporter shows it: what is not available is the working set of the node. */
import { singleText, type FamilyText } from '../exposition.ts'
import { formatDecimal } from '../go-number.ts'

const PAGE_BYTES = 4096

export function memoryFamilies(totalBytes: number, workingSetBytes: number): FamilyText[] {
  const pages = (bytes: number): number => Math.floor(bytes / PAGE_BYTES) * PAGE_BYTES
  const cached = pages((totalBytes - workingSetBytes) * 0.4)
  const buffers = pages(totalBytes / 4000)
  const anonymous = pages(workingSetBytes * 0.8)
  const amounts: Readonly<Record<string, number>> = {
    Active: pages(workingSetBytes * 0.9),
    AnonPages: anonymous,
    Buffers: buffers,
    Cached: cached,
    Dirty: pages(cached / 2000),
    Inactive: pages(cached * 0.8),
    KernelStack: 65_536 * 1024,
    Mapped: pages(workingSetBytes * 0.02),
    MemAvailable: totalBytes - workingSetBytes,
    MemFree: totalBytes - workingSetBytes - cached - buffers,
    MemTotal: totalBytes,
    PageTables: pages(anonymous / 500),
    SReclaimable: pages(cached * 0.03),
    Shmem: pages(workingSetBytes * 0.01),
    Slab: pages(cached * 0.05),
    SwapFree: 0,
    SwapTotal: 0,
    Writeback: 0,
  }
  return Object.entries(amounts).map(([name, bytes]) =>
    singleText(`node_memory_${name}_bytes`, 'gauge', `Memory: ${name}, in bytes.`, formatDecimal(bytes, 0)),
  )
}
