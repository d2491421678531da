/** The memory of this process, as the system and Node see it. */
import { totalmem } from 'node:os'
import { getHeapStatistics } from 'node:v8'
import type { Memory } from '../component.ts'

/** Limits are read once: a container is not given another one while it runs. */
export function processMemory(): Memory {
  const total = totalmem()
  // Without a limit it is 0, or more than there is.
  const constrained = process.constrainedMemory()
  return {
    read() {
      const { rss, heapUsed } = process.memoryUsage()
      return { residentBytes: rss, heapBytes: heapUsed }
    },
    limits: {
      residentBytes: constrained > 0 ? Math.min(constrained, total) : total,
      heapBytes: getHeapStatistics().heap_size_limit,
    },
  }
}
