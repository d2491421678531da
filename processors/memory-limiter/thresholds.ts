/** Limits as users write them, `80%` or `1500MiB`, and whether memory is above them. */
import type { Memory, MemoryUse } from '../../pipeline/component.ts'
import { parseSize } from '../../pipeline/config/fields.ts'

export type Limit = { readonly percent: number } | { readonly bytes: number }

/** Throws an Error that quotes the text. */
export function parseLimit(text: string): Limit {
  const [, number] = /^(\d+(?:\.\d+)?) ?%$/.exec(text) ?? []
  if (Number.parseFloat(text) === 0) throw new Error(`"${text}" is nothing: a limit must be above 0`)
  if (number === undefined) return { bytes: parseSize(text) }
  if (Number(number) > 100) throw new Error(`"${text}" is more than there is`)
  return { percent: Number(number) }
}

export function part(limit: Limit, factor: number): Limit {
  return 'percent' in limit ? { percent: limit.percent * factor } : { bytes: Math.round(limit.bytes * factor) }
}

/** Whether one limit is below another; undefined if they cannot be compared. */
export function isBelow(a: Limit, b: Limit): boolean | undefined {
  if ('percent' in a && 'percent' in b) return a.percent < b.percent
  return 'bytes' in a && 'bytes' in b ? a.bytes < b.bytes : undefined
}

export type Threshold = {
  isReached(use: MemoryUse): boolean
  /** What is above it, in words. */
  excess(use: MemoryUse): string
}

/** A number of bytes is about physical memory; the heap then has the share of its own limit that is usual. */
export function thresholdOf(limit: Limit, heapShare: number, { limits }: Memory): Threshold {
  const fraction = 'percent' in limit ? limit.percent / 100 : heapShare
  const resident = 'percent' in limit ? fraction * limits.residentBytes : limit.bytes
  const heap = fraction * limits.heapBytes
  return {
    isReached: use => use.residentBytes >= resident || use.heapBytes >= heap,
    excess: use =>
      use.residentBytes >= resident
        ? `${mebibytes(use.residentBytes)} of physical memory are in use, the limit is ${mebibytes(resident)}`
        : `${mebibytes(use.heapBytes)} of the heap are in use, the limit is ${mebibytes(heap)}`,
  }
}

function mebibytes(bytes: number): string {
  return `${Math.round(bytes / 2 ** 20)} MiB`
}
