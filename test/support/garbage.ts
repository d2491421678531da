/** Memory as it is once everything that can be collected was collected. */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
/** One collection, at once. */
export const collect = runInNewContext('gc') as () => void

/** One collection in a turn of its own: within one, what a weak reference has given is held. */
export async function collectOnce(): Promise<void> {
  await new Promise(resolve => setImmediate(resolve))
  collect()
}

/** Finalizers run in turns of their own after a collection, and what they let go is collected by the next. */
export async function collectGarbage(): Promise<void> {
  for (let round = 0; round < 6; round++) {
    collect()
    await new Promise(resolve => setImmediate(resolve))
  }
}

export async function heapBytes(): Promise<number> {
  await collectGarbage()
  const { heapUsed, arrayBuffers, external } = process.memoryUsage()
  return heapUsed + arrayBuffers + external
}
