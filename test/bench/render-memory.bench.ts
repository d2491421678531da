/**
 * What the exporter keeps of each series, besides the batches themselves: label bytes, order, owners. After a scrape in one format,
 * and after one in another, of 2 million series (10,000 nodes, 8 GPUs, 25 fields).
 */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { Renderer } from '../../pipeline/formats/render-snapshot.ts'
import { finishNow } from '../../pipeline/formats/render-work.ts'
import { print } from './measure.ts'
import { FIELDS, gpuNodes, GPUS } from './gpu-nodes.ts'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

const NODES = 10_000
const SERIES = NODES * GPUS * FIELDS
const batches = gpuNodes(NODES)
const before = await usedBytes()
const renderer = new Renderer()
finishNow(renderer.take(batches))
const text = await usedBytes()
print('render memory, text', (text - before) / SERIES, 'bytes a series')
finishNow(renderer.take(batches, { syntax: 'openmetrics' }))
print('render memory, OpenMetrics besides', ((await usedBytes()) - text) / SERIES, 'bytes a series')

/** Buffers are let go of a moment after the objects that had them. */
async function usedBytes(): Promise<number> {
  for (let i = 0; i < 3; i++) {
    collectGarbage()
    await new Promise(resolve => setTimeout(resolve, 100))
  }
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}
