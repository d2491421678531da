/** What an agent scrapes and pushes is what its gateway serves, by `configs/examples/agent.yaml`. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { zstdDecompressSync } from 'node:zlib'
import { parse } from 'yaml'
import { otlpHttp } from '../../exporters/otlp-http.ts'
import type { Batch } from '../../pipeline/model/batch.ts'
import type { TranslationStrategy } from '../../pipeline/formats/prometheus-naming.ts'
import { renderText } from '../../pipeline/formats/render-text.ts'
import { finishNow } from '../../pipeline/formats/render-work.ts'
import { batchFromText, createSource } from '../support/batch-from-text.ts'
import { configOf } from '../support/config-of.ts'
import { pushed } from '../support/pushed.ts'
import { testHost, TEST_START_MS, type TestHost } from '../support/test-host.ts'

const examples = join(import.meta.dirname, '../../configs/examples')

type Config = { exporters: { otlp_http: Record<string, unknown> } }

function agentConfig(): Record<string, unknown> {
  const { exporters } = parse(readFileSync(join(examples, 'agent.yaml'), 'utf8')) as Config
  return { ...exporters.otlp_http, endpoint: 'http://gateway:4318' }
}

describe('an agent and its gateway', () => {
  it('serve the same series: names, labels, values and types', async () => {
    const scraped = scrapedBatch()
    const arrived = await pushThrough(agentConfig(), scraped)
    const expected = sorted(renderText([scraped]))
    const served = (strategy: TranslationStrategy): string =>
      renderText(arrived, { strategy }).replaceAll(/,otel_scope_name="gpucol"/g, '')
    assert.deepEqual(sorted(served('UnderscoreEscapingWithoutSuffixes')), expected)
    assert.deepEqual(sorted(served('UnderscoreEscapingWithSuffixes').replaceAll('COUNTER_total', 'COUNTER')), expected)
  })

  it('would have one series of all GPUs if their labels were in the resource', async () => {
    const arrived = await pushThrough({ endpoint: 'http://gateway:4318' }, scrapedBatch())
    const lines = renderText(arrived).split('\n')
    assert.equal(lines.filter(line => line.startsWith('DCGM_FI_DEV_GPU_UTIL{')).length, 1)
  })
})

function scrapedBatch(): Batch {
  const gpus = ['0', '1'].map(
    gpu => `{UUID="GPU-${gpu}",gpu="${gpu}",pod="train-${gpu}",namespace="ml",instance="a:9400",job="dcgm"}`,
  )
  const lines = [
    '# HELP DCGM_FI_DEV_GPU_UTIL GPU utilization (in %).',
    '# TYPE DCGM_FI_DEV_GPU_UTIL gauge',
    ...gpus.map((labels, i) => `DCGM_FI_DEV_GPU_UTIL${labels} ${i + 0.5}`),
    '# TYPE DCGM_FI_DEV_PCIE_REPLAY_COUNTER counter',
    ...gpus.map((labels, i) => `DCGM_FI_DEV_PCIE_REPLAY_COUNTER${labels} ${i}`),
    '# TYPE requests_seconds histogram',
    'requests_seconds_bucket{instance="a:9400",job="dcgm",le="0.5"} 1',
    'requests_seconds_bucket{instance="a:9400",job="dcgm",le="+Inf"} 3',
    'requests_seconds_sum{instance="a:9400",job="dcgm"} 4',
    'requests_seconds_count{instance="a:9400",job="dcgm"} 3',
  ]
  return batchFromText(lines.join('\n'), {
    source: createSource('http://a:9400/metrics', { job: 'dcgm', instance: 'a:9400' }),
    timeMs: TEST_START_MS,
  })
}

/** What the gateway's receiver makes of what an exporter with this config sends. */
async function pushThrough(config: object, batch: Batch): Promise<Batch[]> {
  const host = testHost() as TestHost
  const { pushes, batches } = pushed()
  host.network.serve('http://gateway:4318/v1/metrics', ({ headers, body }, response) => {
    const { 'content-encoding': compression = 'none' } = headers ?? {}
    finishNow(pushes.take(compression === 'zstd' ? zstdDecompressSync(body!) : body!, 'protobuf'))
    response.head(200)
    response.end()
  })
  const exporter = otlpHttp.create(configOf(otlpHttp, { compression: 'none', ...config }), host)
  await exporter.start?.()
  exporter.consume(batch)
  await host.clock.advance(1000)
  const stopped = exporter.stop?.(host.clock.monotonic())
  await host.clock.advance(1)
  await stopped
  return batches
}

function sorted(text: string): string[] {
  return text.split('\n').sort()
}
