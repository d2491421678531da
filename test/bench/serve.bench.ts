/**
 * The exporter `prometheus` as scrapers see it: 2 million series over HTTP, plain and packed, read by another process. What counts is
 * how long the event loop is held up, by the CPU time of its thread.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { prometheus } from '../../exporters/prometheus.ts'
import { createSystemClock } from '../../pipeline/clock/system-clock.ts'
import { validatorFor } from '../../pipeline/config/validator.ts'
import { createNetwork } from '../../pipeline/http/network.ts'
import { createLayout } from '../../pipeline/model/layout.ts'
import { testHost } from '../support/test-host.ts'
import { gpuNodes } from './gpu-nodes.ts'
import { print } from './measure.ts'

const NODES = 10_000
const READER = `require('node:http').get(process.argv[1], { headers: { 'accept-encoding': process.argv[2], accept: process.argv[3] } }, response => {
  let bytes = 0
  response.on('data', data => (bytes += data.length)).on('end', () => console.log(bytes))
})`
const OPENMETRICS = 'application/openmetrics-text;version=1.0.0;escaping=allow-utf-8'

const clock = createSystemClock()
const network = createNetwork(clock)
const config = { endpoint: '127.0.0.1:0' }
validatorFor(prometheus.config)(config)
const exporter = prometheus.create(config as Parameters<typeof prometheus.create>[0], testHost({ clock, network }))
await exporter.start!()
const batches = gpuNodes(NODES)
for (const batch of batches) exporter.consume(batch)

await scrape('first time', 'identity', '*/*')
await scrape('again', 'identity', '*/*')
await scrape('gzip', 'gzip', '*/*')
await scrape('zstd', 'zstd', '*/*')
await scrape('OpenMetrics, gzip', 'gzip', OPENMETRICS)
for (const batch of batches.slice(0, 100)) exporter.consume({ ...batch, layout: createLayout(batch.layout) })
await scrape('100 layouts are new, gzip', 'gzip', '*/*')
await exporter.stop!(clock.monotonic() + 1000)
await network.close()

async function scrape(what: string, encoding: string, accept: string): Promise<void> {
  const url = exporter.describe!()
  const reader = spawn(process.execPath, ['-e', READER, url, encoding, accept], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let output = ''
  reader.stdout.on('data', data => (output += String(data)))
  let longest = 0
  let before = process.threadCpuUsage()
  let turning = setImmediate(function turn() {
    const now = process.threadCpuUsage()
    longest = Math.max(longest, now.user + now.system - before.user - before.system)
    before = now
    turning = setImmediate(turn)
  })
  await once(reader, 'close')
  clearImmediate(turning)
  print(`serve 2M series, ${what}, longest turn of the event loop`, longest / 1000, 'ms (goal 50)')
  print(`serve 2M series, ${what}`, Number(output) / 1e6, 'MB')
}
