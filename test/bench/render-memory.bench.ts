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
const before = usedBytes()
const renderer = new Renderer()
finishNow(renderer.take(batches))
const text = usedBytes()
print('render memory, text', (text - before) / SERIES, 'bytes a series')
finishNow(renderer.take(batches, { syntax: 'openmetrics' }))
print('render memory, OpenMetrics besides', (usedBytes() - text) / SERIES, 'bytes a series')

function usedBytes(): number {
  collectGarbage()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}
